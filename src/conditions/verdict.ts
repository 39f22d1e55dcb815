/** `unknown`: a fact that decides is not known. */
export type Verdict = boolean | 'unknown';

export const not = (verdict: Verdict): Verdict => (verdict === 'unknown' ? verdict : !verdict);
