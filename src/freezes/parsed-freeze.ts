import { neededFacts, type FactNeeds } from '../conditions/needed-facts.ts';
import { parseConditions } from '../conditions/parse-conditions.ts';
import type { ConditionNode } from '../conditions/ast.ts';
import type { Freeze } from './freeze.ts';

/** A freeze with its conditions ready to be matched; null where they cannot be read (by an older version's fault). */
export type ParsedFreeze = {
  freeze: Freeze;
  conditions: { matching: ConditionNode[]; exclude: ConditionNode[] } | null;
};

export function parseFreeze(freeze: Freeze): ParsedFreeze {
  const matching = parseConditions(freeze.matchingConditions, []);
  const exclude = parseConditions(freeze.excludeConditions, []);
  const conditions =
    matching.ok && exclude.ok ? { matching: matching.conditions, exclude: exclude.conditions } : null;
  return { freeze, conditions };
}

/** Which facts must be loaded to judge these freezes. */
export const needsOf = (freezes: ParsedFreeze[]): FactNeeds =>
  neededFacts(
    freezes.flatMap(({ conditions }) => (conditions ? [...conditions.matching, ...conditions.exclude] : [])),
  );
