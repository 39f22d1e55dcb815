import type { Matcher } from '../conditions/match.ts';
import { judgeFreeze, type ParsedFreeze } from '../freezes/judge-freeze.ts';
import type { PullRequestFacts } from '../github/pull-requests/pull-request.ts';

/** Labels that release a pull request from a freeze, each on its own: by adding or removing it. */
export type ReleasingLabels = { putOn: string[]; takeOff: string[] };

/**
 * Tries each label in the conditions of a freeze.
 * @param now in milliseconds since the epoch.
 * @returns none if the labels of the pull request are unknown.
 */
export function releasingLabels(freeze: ParsedFreeze, facts: PullRequestFacts, now: number): ReleasingLabels {
  const present = facts.values.label;
  if (!freeze.conditions || !Array.isArray(present)) return { putOn: [], takeOff: [] };
  const { matching, exclude } = freeze.conditions;
  const named = [...new Set([...labelsIn(matching), ...(exclude ? labelsIn(exclude) : [])])];
  const letsGo = (label: string[]) => {
    const verdict = judgeFreeze(freeze, { ...facts, values: { ...facts.values, label } }, now);
    return verdict === 'excluded' || verdict === 'not_matched';
  };
  return {
    putOn: named.filter((label) => !has(present, label) && letsGo([...present, label])),
    takeOff: named.filter(
      (label) => has(present, label) && letsGo(present.filter((each) => !same(each, label))),
    ),
  };
}

const same = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
const has = (labels: string[], label: string): boolean => labels.some((each) => same(each, label));

/** The labels that conditions compare with. Ignores patterns. */
function labelsIn(matcher: Matcher): string[] {
  if (matcher.kind === 'not') return labelsIn(matcher.node);
  if (matcher.kind !== 'leaf') return matcher.nodes.flatMap(labelsIn);
  const { attribute, isCounted, test } = matcher.leaf;
  if (attribute !== 'label' || isCounted || test.type !== 'text' || test.value.usesAuthor) return [];
  return test.operator === '=' || test.operator === '!=' ? [test.value.value] : [];
}
