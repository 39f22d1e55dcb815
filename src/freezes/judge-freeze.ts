import { neededFacts, type FactNeeds } from '../conditions/needs.ts';
import type { ConditionFacts } from '../conditions/attributes.ts';
import type { ConditionNode } from '../conditions/ast.ts';
import { type Matcher, prepare, isTimed, earliest, nextChange } from '../conditions/match.ts';
import { parseConditions } from '../conditions/parse-conditions.ts';
import { type Freeze, holdsMerges } from './freeze.ts';
import { explain, type Reason } from '../conditions/explain.ts';
import { LRUCache } from 'lru-cache';

/** A freeze with parsed conditions; null if they cannot be read, which only an older version can cause. */
export type ParsedFreeze = { freeze: Freeze } & Parsed;
type Parsed = { conditions: FreezeConditions | null };

export type FreezeConditions = {
  matching: Matcher;
  /** Null if it excludes nothing. */
  exclude: Matcher | null;
  needs: FactNeeds;
  /** Whether time alone can change what the freeze holds during its window. */
  isTimed: boolean;
};

/** Conditions that match no pull request: an empty `or`. */
const matchesNothing: ConditionNode[] = [{ kind: 'or', nodes: [] }];

/** Takes plans too. What only holds deployments matches no pull request and ignores its conditions. */
export function parseFreeze<Of extends Pick<Freeze, 'matchingConditions' | 'excludeConditions' | 'holds'>>(
  freeze: Of,
): { freeze: Of } & Parsed {
  if (!holdsMerges(freeze)) return { freeze, conditions: prepareConditions(matchesNothing, []) };
  const matching = parseConditions(freeze.matchingConditions, []);
  const exclude = parseConditions(freeze.excludeConditions, []);
  if (!matching.ok || !exclude.ok) return { freeze, conditions: null };
  return { freeze, conditions: prepareConditions(matching.conditions, exclude.conditions) };
}

/** Parsed conditions, cached by freeze and version. */
const kept = new LRUCache<string, Parsed>({ max: 1000 });

/** Like `parseFreeze`, but parses each version of a freeze once, because every pull request event needs all of them. */
export function parseStoredFreeze(freeze: Freeze & { version: number }): ParsedFreeze {
  const key = `${freeze.id}@${freeze.version}`;
  const known = kept.get(key);
  if (known) return { freeze, conditions: known.conditions };
  const { conditions } = parseFreeze(freeze);
  kept.set(key, { conditions });
  return { freeze, conditions };
}

function prepareConditions(matching: ConditionNode[], exclude: ConditionNode[]): FreezeConditions {
  const matchers = {
    matching: prepare(matching),
    exclude: exclude.length > 0 ? prepare(exclude, true) : null,
  };
  return {
    ...matchers,
    needs: neededFacts([...matching, ...exclude]),
    isTimed: isTimed(matchers.matching) || (matchers.exclude !== null && isTimed(matchers.exclude)),
  };
}

/** The facts that we must load to judge these freezes. */
export function needsOf(freezes: Parsed[]): FactNeeds {
  const needs = freezes.flatMap(({ conditions }) => (conditions ? [conditions.needs] : []));
  return {
    facts: new Set(needs.flatMap(({ facts }) => [...facts])),
    teams: new Set(needs.flatMap(({ teams }) => [...teams])),
  };
}

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
