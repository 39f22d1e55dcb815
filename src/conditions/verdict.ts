/** `unknown` means that a deciding fact is unknown. */
export type Verdict = boolean | 'unknown';

export const not = (verdict: Verdict): Verdict => (verdict === 'unknown' ? verdict : !verdict);
