import type { PullRequestFacts } from '../pull-requests/pull-request.ts';
import type { ConditionNode, Leaf, Test } from './ast.ts';
import { attributeOf, type AttributeValue } from './attributes.ts';

/** `unknown`: a fact that decides is not known. */
export type Verdict = boolean | 'unknown';

/** What one leaf saw. */
export type Reason = {
  condition: string;
  match: Verdict;
  /** The values that the attribute had; null where they are not known. */
  saw: string[] | boolean | null;
  /** Why the leaf could not be judged; null where it could. */
  why: string | null;
};

export type MatchResult = {
  match: Verdict;
  reasons: Reason[];
  /** When the result could change by time alone; null: never. */
  nextChangeAt: Date | null;
};

/**
 * Matches a list of conditions, all of which must hold; an empty list matches. What an empty list of a freeze
 * means is the caller's to say. In three values: a fact that is not known makes only those results unknown that
 * depend on it.
 *
 * A pull request pushed with all_scopes has every scope: `scope=x` and `scope~=x` match. Whether it is without
 * some scope (`scope!=x`, `-scope=x`, `not` around `scope=x`) is unknown, however it is spelt. Since a freeze
 * holds what it cannot judge, such a condition never lets the pull request go: neither by not selecting it nor
 * by excluding it.
 * @param _now for conditions on time: there are none yet, so nothing changes by time alone.
 */
export function matchAll(nodes: ConditionNode[], facts: PullRequestFacts, _now: Date): MatchResult {
  const reasons: Reason[] = [];
  const verdicts = nodes.map((node) => judge(node, false, facts, reasons));
  return { match: all(verdicts), reasons, nextChangeAt: null };
}

/** @param isInverted whether an odd number of `not` stands around the node. */
function judge(
  node: ConditionNode,
  isInverted: boolean,
  facts: PullRequestFacts,
  reasons: Reason[],
): Verdict {
  switch (node.kind) {
    case 'and':
      return all(node.nodes.map((inner) => judge(inner, isInverted, facts, reasons)));
    case 'or':
      return not(all(node.nodes.map((inner) => not(judge(inner, isInverted, facts, reasons)))));
    case 'not':
      return not(judge(node.node, !isInverted, facts, reasons));
    case 'leaf': {
      const reason = judgeLeaf(node, isInverted, attributeOf(node.attribute).read(facts));
      reasons.push(reason);
      return reason.match;
    }
  }
}

function all(verdicts: Verdict[]): Verdict {
  if (verdicts.includes(false)) return false;
  return verdicts.includes('unknown') ? 'unknown' : true;
}

const not = (verdict: Verdict): Verdict => (verdict === 'unknown' ? verdict : !verdict);

function judgeLeaf({ text, isNegated, test }: Leaf, isInverted: boolean, value: AttributeValue): Reason {
  if (!value.known) return { condition: text, match: 'unknown', saw: null, why: value.reason };
  if ('isEverything' in value) {
    const asksForAbsence = (test.operator === '!=') !== isNegated;
    if (asksForAbsence === isInverted)
      return { condition: text, match: !isInverted, saw: ['(all)'], why: null };
    const why = 'CI says that it touches every scope';
    return { condition: text, match: 'unknown', saw: ['(all)'], why };
  }
  if (typeof value.value === 'boolean') {
    return { condition: text, match: value.value !== isNegated, saw: value.value, why: null };
  }
  const saw = value.value.filter((item) => item !== null);
  return { condition: text, match: holds(test, saw) !== isNegated, saw, why: null };
}

/** `=` and `~=`: for any value; `!=`: for none. So nothing equals, and nothing is different from, no value. */
function holds(test: Test, values: string[]): boolean {
  switch (test.operator) {
    case '=':
      return values.includes(test.value);
    case '!=':
      return !values.includes(test.value);
    case '~=':
      return values.some((value) => test.pattern.matcher(value).find());
    case 'is-true':
      return values.length > 0;
  }
}
