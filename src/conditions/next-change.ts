import type { Leaf, Range } from './ast.ts';
import type { CommitFacts, ConditionFacts } from './attributes.ts';
import { valueNameOf } from './judge-leaf.ts';
import type { Matcher } from './match.ts';
import type { Verdict } from './verdict.ts';

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

type Change = { verdict: Verdict; next: number | null };

function changeOf(matcher: Matcher, facts: ConditionFacts, now: number): Change {
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
