import { LRUCache } from 'lru-cache';
import type { ConditionNode } from '../conditions/ast.ts';
import { type Matcher, prepare } from '../conditions/match.ts';
import { type FactNeeds, neededFacts } from '../conditions/needed-facts.ts';
import { isTimed } from '../conditions/next-change.ts';
import { parseConditions } from '../conditions/parse-conditions.ts';
import { type Freeze, holdsMerges } from './freeze.ts';

/** A freeze with its conditions ready to be matched; null where they cannot be read (by an older version's fault). */
export type ParsedFreeze = { freeze: Freeze; conditions: FreezeConditions | null };

export type FreezeConditions = {
  matching: Matcher;
  /** null: nothing is excluded. */
  exclude: Matcher | null;
  needs: FactNeeds;
  /** Whether time alone can change what the freeze holds, within its window. */
  isTimed: boolean;
};

/** Conditions that match no pull request: none of no alternatives holds. */
const matchesNothing: ConditionNode[] = [{ kind: 'or', nodes: [] }];

/** A freeze that holds only deployments is one that matches no pull request, whatever its conditions say. */
export function parseFreeze(freeze: Freeze): ParsedFreeze {
  if (!holdsMerges(freeze)) return { freeze, conditions: prepareConditions(matchesNothing, []) };
  const matching = parseConditions(freeze.matchingConditions, []);
  const exclude = parseConditions(freeze.excludeConditions, []);
  if (!matching.ok || !exclude.ok) return { freeze, conditions: null };
  return { freeze, conditions: prepareConditions(matching.conditions, exclude.conditions) };
}

/** Conditions that are kept ready, by their freeze and its version. */
const kept = new LRUCache<string, Pick<ParsedFreeze, 'conditions'>>({ max: 1000 });

/** As `parseFreeze`, once for each version of a freeze: every event of a pull request judges all ongoing ones. */
export function parseStoredFreeze(freeze: Freeze & { version: number }): ParsedFreeze {
  const key = `${freeze.id}@${freeze.version}`;
  const known = kept.get(key);
  if (known) return { freeze, conditions: known.conditions };
  const { conditions } = parseFreeze(freeze);
  kept.set(key, { conditions });
  return { freeze, conditions };
}

function prepareConditions(matching: ConditionNode[], exclude: ConditionNode[]): FreezeConditions {
  const matchers = { matching: prepare(matching), exclude: exclude.length > 0 ? prepare(exclude) : null };
  return {
    ...matchers,
    needs: neededFacts([...matching, ...exclude]),
    isTimed: isTimed(matchers.matching) || (matchers.exclude !== null && isTimed(matchers.exclude)),
  };
}

/** Which facts must be loaded to judge these freezes. */
export function needsOf(freezes: ParsedFreeze[]): FactNeeds {
  const needs = freezes.flatMap(({ conditions }) => (conditions ? [conditions.needs] : []));
  return {
    facts: new Set(needs.flatMap(({ facts }) => [...facts])),
    teams: new Set(needs.flatMap(({ teams }) => [...teams])),
  };
}
