import type { ConditionFacts } from './attributes.ts';

/** `unknown` means that a deciding fact is unknown. */
export type Verdict = boolean | 'unknown';

export const not = (verdict: Verdict): Verdict => (verdict === 'unknown' ? verdict : !verdict);

/** Whether one of them is true. */
export function either(one: Verdict, other: Verdict): Verdict {
  if (one === true || other === true) return true;
  return one === 'unknown' ? one : other;
}

/** Evaluates a pull request at an instant (milliseconds since the epoch). Called often, so it allocates nothing. */
export type Judge = (facts: ConditionFacts, now: number) => Verdict;

export function all(judges: Judge[]): Judge {
  return (facts, now) => {
    let verdict: Verdict = true;
    for (const judge of judges) {
      const each = judge(facts, now);
      if (each === false) return false;
      if (each === 'unknown') verdict = each;
    }
    return verdict;
  };
}

export function any(judges: Judge[]): Judge {
  return (facts, now) => {
    let verdict: Verdict = false;
    for (const judge of judges) {
      const each = judge(facts, now);
      if (each === true) return true;
      if (each === 'unknown') verdict = each;
    }
    return verdict;
  };
}
