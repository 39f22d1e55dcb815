import type { ConditionNode, Leaf } from './ast.ts';
import type { ConditionFacts } from './condition-facts.ts';
import { type Judge, judgeLeaf, type Side } from './judge-leaf.ts';
import { not, type Verdict } from './verdict.ts';

/** The position of a condition in its list: `[2, 'or', 0]`. */
export type Path = (string | number)[];

/** A condition that is ready to be evaluated. */
export type Matcher =
  | { kind: 'leaf'; leaf: Leaf; path: Path; judge: Judge }
  | { kind: 'and' | 'or'; nodes: Matcher[]; judge: Judge }
  | { kind: 'not'; node: Matcher; judge: Judge };

/**
 * Prepares a list of conditions that must all match. An empty list matches; the caller decides what an empty list of a
 * freeze means. Uses three values: an unknown fact only makes results unknown that depend on it.
 *
 * A pull request with all_scopes has every scope: `scope=x` and `scope~=x` match. Whether it lacks a scope (`scope!=x`,
 * `-scope=x`, `not` around `scope=x`) is unknown in every spelling. A freeze holds what it cannot evaluate, so such a
 * condition never releases the pull request: it is selected, and it is not excluded.
 * @param isExclusion whether a match frees a pull request. By default, it holds one.
 */
export function prepare(nodes: ConditionNode[], isExclusion = false): Matcher {
  const matchers = nodes.map((node, index) => prepareNode(node, { isExclusion, isInverted: false }, [index]));
  return { kind: 'and', nodes: matchers, judge: all(matchers.map(({ judge }) => judge)) };
}

function prepareNode(node: ConditionNode, side: Side, path: Path): Matcher {
  switch (node.kind) {
    case 'leaf':
      return { kind: 'leaf', leaf: node, path, judge: judgeLeaf(node, side) };
    case 'not': {
      const inverted = { ...side, isInverted: !side.isInverted };
      const inner = prepareNode(node.node, inverted, [...path, 'not']);
      return { kind: 'not', node: inner, judge: (facts, now) => not(inner.judge(facts, now)) };
    }
    default: {
      const { kind } = node;
      const nodes = node.nodes.map((each, index) => prepareNode(each, side, [...path, kind, index]));
      const judges = nodes.map(({ judge }) => judge);
      return { kind, nodes, judge: kind === 'and' ? all(judges) : any(judges) };
    }
  }
}

export function all(judges: Judge[]): Judge {
  return (facts: ConditionFacts, now: number): Verdict => {
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
  return (facts: ConditionFacts, now: number): Verdict => {
    let verdict: Verdict = false;
    for (const judge of judges) {
      const each = judge(facts, now);
      if (each === true) return true;
      if (each === 'unknown') verdict = each;
    }
    return verdict;
  };
}
