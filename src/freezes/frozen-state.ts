import { judgeBase } from '../conditions/judge-base.ts';
import type { ParsedFreeze } from './parsed-freeze.ts';

/** A freeze as it is kept; deleted ones held until they were deleted. */
export type KeptFreeze = { parsed: ParsedFreeze; deletedAt: Date | null };

/** Whether something is frozen at an instant, and when that next changes. */
export type FrozenState = {
  frozen: boolean;
  /** The ids of the freezes that freeze it, the earliest first. */
  freezes: string[];
  /** null: nothing that is planned changes it. */
  nextTransitionAt: Date | null;
};

/**
 * Whether a freeze is on that could hold a pull request.
 * @param kept the freezes that are not over at the instant, the earliest first.
 * @param base the branch that it merges into; null: any.
 */
export function frozenStateAt(kept: KeptFreeze[], base: string | null, at: Date): FrozenState {
  const spans = kept.filter(({ parsed }) => couldHold(parsed, base)).map(spanOf);
  const instant = at.getTime();
  const ongoing = spans.filter(({ from, to }) => from <= instant && instant < to);
  const next = ongoing.length > 0 ? endOfUnion(spans, instant) : nextStart(spans, instant);
  return {
    frozen: ongoing.length > 0,
    freezes: ongoing.map(({ id }) => id),
    nextTransitionAt: Number.isFinite(next) ? new Date(next) : null,
  };
}

/** Whether a freeze could hold a pull request into a branch, whatever else is true of that. */
export function couldHold({ conditions }: ParsedFreeze, base: string | null): boolean {
  // What cannot be read holds, as it does when pull requests are judged.
  if (!conditions) return true;
  const { matching, exclude } = conditions;
  return judgeBase(matching, base) !== false && !(exclude && judgeBase(exclude, base) === true);
}

/** In milliseconds since the epoch. */
type Span = { id: string; from: number; to: number };

const spanOf = ({ parsed: { freeze }, deletedAt }: KeptFreeze): Span => ({
  id: freeze.id,
  from: freeze.startsAt.getTime(),
  to: Math.min(freeze.endsAt?.getTime() ?? Infinity, deletedAt?.getTime() ?? Infinity),
});

/** When the last of the spans that follow each other without a gap ends. */
function endOfUnion(spans: Span[], instant: number): number {
  let end = instant;
  // They are in the order of their starts.
  for (const { from, to } of spans) if (from <= end && to > end) end = to;
  return end;
}

const nextStart = (spans: Span[], instant: number): number =>
  Math.min(...spans.filter(({ from, to }) => from > instant && to > from).map(({ from }) => from));
