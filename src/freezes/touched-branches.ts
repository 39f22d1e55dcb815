import type { ConditionNode } from '../conditions/ast.ts';
import { parseConditions } from '../conditions/parse-conditions.ts';
import type { Freeze } from './freeze.ts';

type Conditions = Pick<Freeze, 'matchingConditions'>;
type Exclusions = Pick<Freeze, 'excludeConditions'>;

/** The branches in the `base=` conditions of a freeze. */
export function namedBranches({ matchingConditions }: Conditions): string[] {
  const parsed = parseConditions(matchingConditions, []);
  return parsed.ok ? [...new Set(parsed.conditions.flatMap(namesIn))] : [];
}

/** All branches that a freeze can affect; null if it can affect any branch. */
export function onlyBranches({ matchingConditions }: Conditions): string[] | null {
  const parsed = parseConditions(matchingConditions, []);
  if (!parsed.ok) return null;
  const only = basesOf({ kind: 'and', nodes: parsed.conditions });
  return only && [...only];
}

/** The branches that a freeze always excludes. */
export function excludedBranches({ excludeConditions }: Exclusions): string[] {
  const parsed = parseConditions(excludeConditions, []);
  if (!parsed.ok || !parsed.conditions.every(isOfBasesAlone)) return [];
  return [...(basesOf({ kind: 'and', nodes: parsed.conditions }) ?? [])];
}

function isOfBasesAlone(node: ConditionNode): boolean {
  if (node.kind === 'not') return false;
  return node.kind === 'leaf' ? baseOf(node) !== null : node.nodes.every(isOfBasesAlone);
}

/** The base branch that a condition names exactly: not negated, and not a pattern. */
function baseOf(node: ConditionNode): string | null {
  if (node.kind !== 'leaf' || node.attribute !== 'base' || node.isNegated || node.isCounted) return null;
  const { test } = node;
  return test.type === 'text' && test.operator === '=' && !test.value.usesAuthor ? test.value.value : null;
}

function namesIn(node: ConditionNode): string[] {
  if (node.kind === 'not') return [];
  if (node.kind !== 'leaf') return node.nodes.flatMap(namesIn);
  const base = baseOf(node);
  return base === null ? [] : [base];
}

function basesOf(node: ConditionNode): Set<string> | null {
  if (node.kind === 'not') return null;
  if (node.kind === 'leaf') {
    const base = baseOf(node);
    return base === null ? null : new Set([base]);
  }
  const inner = node.nodes.map(basesOf);
  if (node.kind === 'or') {
    return inner.includes(null) ? null : new Set(inner.flatMap((bases) => [...bases!]));
  }
  return inner.reduce((all, bases) => (all && bases ? both(all, bases) : (all ?? bases)), null);
}

const both = (one: Set<string>, other: Set<string>): Set<string> =>
  new Set([...one].filter((each) => other.has(each)));
