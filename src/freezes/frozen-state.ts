import { judgeBase } from '../conditions/judge-base.ts';
import type { ParsedFreeze } from './parsed-freeze.ts';

/** A freeze as it is kept; deleted ones held until they were deleted. */
export type KeptFreeze = { parsed: ParsedFreeze; deletedAt: Date | null };

/** From when to when something is frozen, in milliseconds since the epoch. @property id null: no freeze is made yet. */
export type Span = { id: string | null; from: number; to: number };

/** Whether something is frozen at an instant, and when that next changes. */
export type FrozenState = {
  frozen: boolean;
  /** The ids of the freezes that freeze it, the earliest first. */
  freezes: string[];
  /** null: nothing that is planned changes it. */
  nextTransitionAt: Date | null;
};

/** Spans that may follow each other. */
const mostLookedAt = 4000;

/**
 * Whether a freeze is on that could hold a pull request.
 * @param kept the freezes that are not over at the instant, the earliest first.
 * @param base the branch that it merges into; null: any.
 * @param planned what no freeze is made for yet, each list in the order of its starts. No more is taken than is needed.
 */
export function frozenStateAt(
  kept: KeptFreeze[],
  base: string | null,
  at: Date,
  planned: Iterable<Span>[] = [],
): FrozenState {
  const made = kept.filter(({ parsed }) => couldHold(parsed, base)).map(spanOf);
  const instant = at.getTime();
  const ongoing: Span[] = [];
  /** Of those that follow each other without a gap from the instant on. */
  let end = instant;
  let looked = 0;
  for (const span of inOrder([made.filter(({ from, to }) => to > from), ...planned])) {
    if (span.from > instant) {
      if (ongoing.length === 0) return free(span.from);
      if (span.from > end || end === Infinity) break;
      // Of many plans that follow each other for years nobody asks when the last of them ends.
      if (++looked > mostLookedAt) end = Infinity;
    } else if (span.to > instant) ongoing.push(span);
    end = Math.max(end, span.to);
  }
  if (ongoing.length === 0) return free(null);
  const freezes = ongoing.flatMap(({ id }) => id ?? []);
  return { frozen: true, freezes, nextTransitionAt: end === Infinity ? null : new Date(end) };
}

const free = (next: number | null): FrozenState => ({
  frozen: false,
  freezes: [],
  nextTransitionAt: next === null ? null : new Date(next),
});

/** Whether a freeze could hold a pull request into a branch, whatever else is true of that. */
export function couldHold({ conditions }: Pick<ParsedFreeze, 'conditions'>, base: string | null): boolean {
  // What cannot be read holds, as it does when pull requests are judged.
  if (!conditions) return true;
  const { matching, exclude } = conditions;
  return judgeBase(matching, base) !== false && !(exclude && judgeBase(exclude, base) === true);
}

const spanOf = ({ parsed: { freeze }, deletedAt }: KeptFreeze): Span => ({
  id: freeze.id,
  from: freeze.startsAt.getTime(),
  to: Math.min(freeze.endsAt?.getTime() ?? Infinity, deletedAt?.getTime() ?? Infinity),
});

/** The spans of all lists by their starts, one list's as it has them. */
function* inOrder(lists: Iterable<Span>[]): Generator<Span> {
  const heads = lists.map((list) => list[Symbol.iterator]()).map((rest) => ({ rest, head: rest.next() }));
  for (;;) {
    let first: (typeof heads)[number] | null = null;
    for (const each of heads)
      if (!each.head.done && (!first || each.head.value.from < first.head.value!.from)) first = each;
    if (!first) return;
    yield first.head.value!;
    first.head = first.rest.next();
  }
}
