import type { ConditionNode, Leaf, Range } from './ast.ts';
import type { ConditionFacts, CommitFacts } from './attributes.ts';
import {
  joined,
  judgeLeaf,
  type Side,
  type Judge,
  not,
  type LeafVerdict,
  valueNameOf,
} from './judge-leaf.ts';

/** The position of a condition in its list: `[2, 'or', 0]`. */
export type ConditionPath = (string | number)[];

/** A condition that is ready to be evaluated. */
export type Matcher =
  | { kind: 'leaf'; leaf: Leaf; path: ConditionPath; judge: Judge }
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
export function prepareFacts(nodes: ConditionNode[], isExclusion = false): Matcher {
  const matchers = nodes.map((node, index) => prepareNode(node, { isExclusion, isInverted: false }, [index]));
  return {
    kind: 'and',
    nodes: matchers,
    judge: joined(
      'and',
      matchers.map(({ judge }) => judge),
    ),
  };
}

function prepareNode(node: ConditionNode, side: Side, path: ConditionPath): Matcher {
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
      return {
        kind,
        nodes,
        judge: joined(
          kind,
          nodes.map(({ judge }) => judge),
        ),
      };
    }
  }
}

/**
 * Evaluates conditions if only the base branch is known. Everything else, including the time, is unknown.
 * @param base null if the base is unknown too.
 */
export function judgeBase(matcher: Matcher, base: string | null): LeafVerdict {
  const facts: ConditionFacts = {
    values: base === null ? {} : { base },
    whyNotKnown: {},
    hasEveryScope: false,
    teams: new Map(),
  };
  const judge = judges.get(matcher) ?? ofBase(matcher);
  judges.set(matcher, judge);
  return judge(facts, 0);
}

/** Cached, because pipelines ask about the same freezes all day. */
const judges = new WeakMap<Matcher, Judge>();

function ofBase(matcher: Matcher): Judge {
  switch (matcher.kind) {
    case 'leaf':
      return matcher.leaf.attribute === 'base' ? matcher.judge : () => 'unknown';
    case 'not': {
      const inner = ofBase(matcher.node);
      return (facts, now) => not(inner(facts, now));
    }
    default:
      return joined(matcher.kind, matcher.nodes.map(ofBase));
  }
}

/** Whether time alone can change a result of these conditions. */
export function isTimed(matcher: Matcher): boolean {
  switch (matcher.kind) {
    case 'leaf':
      return ['clock', 'now', 'age'].includes(matcher.leaf.test.type);
    case 'not':
      return isTimed(matcher.node);
    default:
      return matcher.nodes.some(isTimed);
  }
}

/**
 * The first instant after `now` at which time alone may change the result; null for never. If conditions without time
 * already decide, the others are ignored.
 * @param now in milliseconds since the epoch, like the answer.
 */
export const nextChange = (matcher: Matcher, facts: ConditionFacts, now: number): number | null =>
  changeOf(matcher, facts, now).next;

type NextChange = { verdict: LeafVerdict; next: number | null };

function changeOf(matcher: Matcher, facts: ConditionFacts, now: number): NextChange {
  const verdict = matcher.judge(facts, now);
  switch (matcher.kind) {
    case 'leaf':
      return { verdict, next: changeOfLeaf(matcher.leaf, facts, now) };
    case 'not':
      return { verdict, next: changeOf(matcher.node, facts, now).next };
    default: {
      const decisive = matcher.kind === 'or';
      const changes = matcher.nodes.map((node) => changeOf(node, facts, now));
      if (changes.some((change) => change.verdict === decisive && change.next === null))
        return { verdict, next: null };
      return { verdict, next: earliest(changes.map(({ next }) => next)) };
    }
  }
}

/** The earliest instant; null means never. */
export function earliest(instants: (number | null)[]): number | null {
  const least = instants.reduce<number>((one, other) => Math.min(one, other ?? Infinity), Infinity);
  return least === Infinity ? null : least;
}

function changeOfLeaf(leaf: Leaf, facts: ConditionFacts, now: number): number | null {
  const { test } = leaf;
  switch (test.type) {
    case 'clock':
      return test.clock.nextChange(now);
    case 'now':
      return later(now, passing(test.at, test.operator === '>' || test.operator === '<='));
    case 'age': {
      const { operator, ago } = test;
      return earliest(
        instantsOf(leaf, facts).map((at) => later(now, passing(at + ago, hasPassedOnlyAfter(operator)))),
      );
    }
    default:
      return null;
  }
}

/** `created-at >= 1 day ago` is still true exactly one day later, and false a millisecond after that. */
const hasPassedOnlyAfter = (operator: Range): boolean => operator === '>=' || operator === '<';

const passing = (at: number, isAfter: boolean): number => (isAfter ? at + 1 : at);

const later = (now: number, at: number): number | null => (at > now ? at : null);

function instantsOf(leaf: Leaf, { values }: ConditionFacts): number[] {
  const value = values[valueNameOf(leaf)!];
  if (!leaf.commit) return typeof value === 'number' ? [value] : [];
  const { index, field } = leaf.commit;
  const commits = (value ?? []) as readonly CommitFacts[];
  const asked = index === '*' ? commits : [commits.at(index)];
  return asked.map((commit) => commit?.[field]).filter((at) => typeof at === 'number');
}
