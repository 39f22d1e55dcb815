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
 * @param _now for conditions on time: there are none yet, so nothing changes by time alone.
 */
export function matchAll(nodes: ConditionNode[], facts: PullRequestFacts, _now: Date): MatchResult {
  const reasons: Reason[] = [];
  const verdicts = nodes.map((node) => judge(node, facts, reasons));
  return { match: all(verdicts), reasons, nextChangeAt: null };
}

function judge(node: ConditionNode, facts: PullRequestFacts, reasons: Reason[]): Verdict {
  switch (node.kind) {
    case 'and':
      return all(node.nodes.map((inner) => judge(inner, facts, reasons)));
    case 'or':
      return not(all(node.nodes.map((inner) => not(judge(inner, facts, reasons)))));
    case 'not':
      return not(judge(node.node, facts, reasons));
    case 'leaf': {
      const reason = judgeLeaf(node, attributeOf(node.attribute).read(facts));
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

function judgeLeaf({ text, isNegated, test }: Leaf, value: AttributeValue): Reason {
  if (!value.known) return { condition: text, match: 'unknown', saw: null, why: value.reason };
  // Pushed with all_scopes: every condition on scopes matches, also `scope!=x` and `-scope=x`. A freeze that
  // selects on scopes therefore always holds such a pull request.
  if ('isEverything' in value) return { condition: text, match: true, saw: ['(all)'], why: null };
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
