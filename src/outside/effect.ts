// `outside/` is the one way by which Holdfast does something outside: it sends a message, posts a comment, answers in Slack.
// Each happens once, by one process at a time, and it finds out whether it arrived. All kinds go through one loop
// (`work-lane.ts`). Each only says how to take what is due, how to look, how to act, what a failure means, and how to save
// what came of it. Knows neither GitHub nor Slack.

/**
 * What came of an attempt.
 * - `done`: it is there, by this attempt or an earlier one.
 * - `limited`: too much came, so the lane pauses. It did not arrive.
 * - `down`: no usable answer, so it may have arrived. `until`: the lane pauses, because nothing answers there. `error`: the
 *   queue tries the lane again, later each time. Neither: `settle` saves when this one is due again, and others go on.
 * - `refused`: it will never be taken.
 */
export type Outcome =
  | { kind: 'done' }
  | { kind: 'limited'; until: Date }
  | { kind: 'down'; until?: Date; error?: unknown }
  | { kind: 'refused' };

/** What to do outside. @property attempts how often that was tried, with the attempt that is about to begin. */
export type Item = { attempts: number };

/**
 * What was taken from a lane.
 * @property then what follows: `more` may be due at once, or something is due at an instant, or nothing is.
 */
export type Batch<Due extends Item> = { items: Due[]; then: 'more' | Date | null };

/** A kind of what is done outside, in one lane. `Result` is what `settle` wants to know. */
export type Effect<Due extends Item, Result extends Outcome> = {
  /** How many are taken at once: at first, and at most while all of them work out. */
  room: { first: number; most: number };
  /**
   * Takes what is due, the most urgent first, and counts the attempts in the same statement: from there on each may have
   * arrived. Takes nothing if it is no longer our turn.
   */
  take(room: number): Promise<Batch<Due>>;
  /** What is there already. Asked before an attempt that is not the first. @returns null if nothing is. */
  look?(item: Due): Promise<Result | null>;
  act(item: Due): Promise<Result>;
  /** The one judgement of failures. @throws what is none of a place outside. */
  failureOf(error: unknown, item: Due): Result | Promise<Result>;
  /** Saves what came of it. Changes nothing if it is no longer our turn. */
  settle(results: { item: Due; result: Result }[]): Promise<void>;
};
