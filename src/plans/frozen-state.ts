import { type ParsedFreeze, type FreezeQuery, couldHold } from '../freezes/judge-freeze.ts';

/** A stored freeze. A deleted freeze held until its deletion. */
export type KeptFreeze = { parsed: ParsedFreeze; deletedAt: Date | null };

/** A frozen span, in milliseconds since the epoch. @property id null if the freeze does not exist yet. */
export type Span = { id: string | null; from: number; to: number };

/** Whether a repository is frozen at an instant, and when that next changes. */
export type FrozenState = {
  frozen: boolean;
  /** The ids of the ongoing freezes, earliest first. */
  freezes: string[];
  /** Null if nothing planned changes it. */
  nextTransitionAt: Date | null;
};

/** Spans that may follow each other. */
const mostCompared = 4000;

/**
 * Whether an ongoing freeze could hold what is asked about.
 * @param kept the freezes that are not over at the instant, earliest first.
 * @param planned spans without a freeze yet, each list in the order of starts. Takes no more than it needs.
 */
export function frozenStateAt(
  kept: KeptFreeze[],
  asked: FreezeQuery,
  at: Date,
  planned: Iterable<Span>[] = [],
): FrozenState {
  const made = kept.filter(({ parsed }) => couldHold(parsed, asked)).map(spanOf);
  const instant = at.getTime();
  const ongoing: Span[] = [];
  /** The spans that follow each other without a gap from the instant on. */
  let end = instant;
  let compared = 0;
  for (const span of inOrder([made.filter(({ from, to }) => to > from), ...planned])) {
    if (span.from > instant) {
      if (ongoing.length === 0) return free(span.from);
      if (span.from > end || end === Infinity) break;
      // If plans follow each other for years, nobody needs the exact end of the last one.
      if (++compared > mostCompared) end = Infinity;
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
