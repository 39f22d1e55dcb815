/** `unknown` means that a deciding fact is unknown. */
export type Verdict = boolean | 'unknown';

export const not = (verdict: Verdict): Verdict => (verdict === 'unknown' ? verdict : !verdict);

/** Whether one of them is true. */
export function either(one: Verdict, other: Verdict): Verdict {
  if (one === true || other === true) return true;
  return one === 'unknown' ? one : other;
}
