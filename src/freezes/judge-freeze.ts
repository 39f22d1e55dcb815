import type { ConditionFacts } from '../conditions/attributes.ts';
import { explain, type Reason } from '../conditions/explain.ts';
import { earliest, nextChange } from '../conditions/next-change.ts';
import type { ParsedFreeze } from './parsed-freeze.ts';

/**
 * The verdict of an ongoing freeze on a pull request. `unknown` means that its conditions cannot be evaluated, so it
 * holds: an unknown match holds, and an unknown exclusion does not exclude.
 */
export type FreezeVerdict = 'frozen' | 'excluded' | 'not_matched' | 'unknown';

/** @param now milliseconds since the epoch, as everywhere here. */
export function judgeFreeze({ conditions }: ParsedFreeze, facts: ConditionFacts, now: number): FreezeVerdict {
  if (!conditions) return 'unknown';
  const matches = conditions.matching.judge(facts, now);
  if (matches === false) return 'not_matched';
  const excludes = conditions.exclude?.judge(facts, now) ?? false;
  if (excludes === true) return 'excluded';
  return matches === 'unknown' || excludes === 'unknown' ? 'unknown' : 'frozen';
}

/** The conditions of both lists with the values that they saw. */
export type FreezeReasons = { matching: Reason[]; exclude: Reason[] };

export function explainFreeze(
  { conditions }: ParsedFreeze,
  facts: ConditionFacts,
  now: number,
): FreezeReasons {
  if (!conditions) return { matching: [], exclude: [] };
  const { matching, exclude } = conditions;
  return {
    matching: explain(matching, facts, now).reasons,
    exclude: exclude ? explain(exclude, facts, now).reasons : [],
  };
}

/** Why a freeze could not be evaluated and so holds, for a status and the log. */
export function whyUnknown(parsed: ParsedFreeze, facts: ConditionFacts, now: number): string {
  if (!parsed.conditions) return 'its conditions cannot be read any more';
  const { matching, exclude } = explainFreeze(parsed, facts, now);
  const deciding = [...matching, ...exclude].find(({ match, decides }) => match === 'unknown' && decides);
  return deciding?.why ?? 'a condition could not be judged';
}

/** The first instant at which time alone may change the verdict; null if never during the freeze. */
export function nextChangeOf(
  { conditions }: ParsedFreeze,
  facts: ConditionFacts,
  now: number,
): number | null {
  if (!conditions?.isTimed) return null;
  const { matching, exclude } = conditions;
  const ofMatching = nextChange(matching, facts, now);
  if (ofMatching === null && matching.judge(facts, now) === false) return null;
  const ofExclude = exclude && nextChange(exclude, facts, now);
  if (exclude && ofExclude === null && exclude.judge(facts, now) === true) return null;
  return earliest([ofMatching, ofExclude]);
}
