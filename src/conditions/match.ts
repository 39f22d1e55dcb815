import type { ConditionNode, Leaf } from './ast.ts';
import type { ConditionFacts } from './attributes.ts';
import { judgeLeaf, type Side } from './judge-leaf.ts';
import { all, any, type Judge, not, type Verdict } from './verdict.ts';

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

/**
 * Evaluates conditions if only the base branch is known. Everything else, including the time, is unknown.
 * @param base null if the base is unknown too.
 */
export function judgeBase(matcher: Matcher, base: string | null): Verdict {
  const facts: ConditionFacts = {
    values: base === null ? {} : { base },
    whyNotKnown: {},
    hasEveryScope: false,
    teams: new Map(),
  };
  return judgeOf(matcher)(facts, 0);
}

/** Cached, because pipelines ask about the same freezes all day. */
const judges = new WeakMap<Matcher, Judge>();

function judgeOf(matcher: Matcher): Judge {
  const judge = judges.get(matcher) ?? ofBase(matcher);
  judges.set(matcher, judge);
  return judge;
}

function ofBase(matcher: Matcher): Judge {
  switch (matcher.kind) {
    case 'leaf':
      return matcher.leaf.attribute === 'base' ? matcher.judge : () => 'unknown';
    case 'not': {
      const inner = ofBase(matcher.node);
      return (facts, now) => not(inner(facts, now));
    }
    default: {
      const judges = matcher.nodes.map(ofBase);
      return matcher.kind === 'and' ? all(judges) : any(judges);
    }
  }
}
