// `time/` is the clock that everything asks, and what is done with instants: zones, durations, long work in slices.

/** The source of time and timers for everything in `src/`. Tests move one of their own, and the job queue's with it. */
export type Clock = {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds of a stopwatch: it goes on evenly, whatever somebody sets the clock to. */
  elapsed(): number;
  setTimeout(callback: () => void, milliseconds: number): unknown;
  clearTimeout(timer: unknown): void;
  setInterval(callback: () => void, milliseconds: number): unknown;
  clearInterval(timer: unknown): void;
};

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  setTimeout: (callback, milliseconds) => setTimeout(callback, milliseconds),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
  setInterval: (callback, milliseconds) => setInterval(callback, milliseconds),
  clearInterval: (timer) => clearInterval(timer as NodeJS.Timeout),
};

/** The current time of the clock as a `Date`. */
export const nowOf = (clock: Clock): Date => new Date(clock.now());

/** What a clock showed, and its stopwatch. */
export type ClockReading = { now: number; elapsed: number };

export const readingOf = (clock: Clock): ClockReading => ({ now: clock.now(), elapsed: clock.elapsed() });

/** Milliseconds by which a clock may have gone otherwise than its stopwatch before it counts as set. */
const setBy = 2_000;

/** Whether somebody set the clock, or it was corrected, since it was read: what was decided by it does not count. */
export const wasSetSince = (clock: Clock, before: ClockReading): boolean =>
  Math.abs(clock.now() - before.now - (clock.elapsed() - before.elapsed)) > setBy;

/** Whether what was decided then still counts: no longer ago than so many milliseconds, and nobody set the clock since. */
export const isFreshBy = (clock: Clock, before: ClockReading, milliseconds: number): boolean =>
  clock.elapsed() - before.elapsed <= milliseconds && !wasSetSince(clock, before);

/**
 * Milliseconds. A clock that is further off is wrong: nobody judges by it, and what is stored further ahead of now than
 * this is not believed. Clocks of replicas may differ by less.
 */
export const mostAhead = 60_000;

/** Waits on the clock. */
export const sleep = (clock: Clock, milliseconds: number): Promise<void> =>
  new Promise((resolve) => void clock.setTimeout(resolve, milliseconds));

/**
 * Waits for an answer for a limited time. The work continues, for others who wait for it.
 * @param milliseconds of real time.
 * @returns null if it takes longer.
 * @throws the error of the answer, if it comes in time.
 */
export async function within<Answer>(milliseconds: number, answer: Promise<Answer>): Promise<Answer | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(resolve, milliseconds, null);
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
