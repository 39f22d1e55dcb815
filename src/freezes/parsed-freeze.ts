import { LRUCache } from 'lru-cache';
import type { ConditionNode } from '../conditions/ast.ts';
import { type Matcher, prepare } from '../conditions/match.ts';
import { type FactNeeds, neededFacts } from '../conditions/needed-facts.ts';
import { isTimed } from '../conditions/next-change.ts';
import { parseConditions } from '../conditions/parse-conditions.ts';
import { type Freeze, holdsMerges } from './freeze.ts';

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
