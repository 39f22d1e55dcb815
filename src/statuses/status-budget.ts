// GitHub accepts 1,000 statuses per commit and context, from all sources together. We save the last ones for what
// matters.

/** How many statuses of a commit with our context are ours, and how many are from others. */
export type StatusCount = { writes: number; overwrites: number };

const inAll = ({ writes, overwrites }: StatusCount): number => writes + overwrites;

const mostStatuses = 1000;
/** From this number on, we only write changes of the state. */
const mostTexts = 900;
/** From this number on, we write one last `pending` if most statuses are not ours: somebody is using them up. */
const lastAmongForeign = 900;
/** From this number on, we write it in any case. */
const lastOfAll = 990;

export const takesTexts = (count: StatusCount): boolean => inAll(count) < mostTexts;

/** Whether the next status must be the last one. */
export const isUsedUp = (count: StatusCount): boolean =>
  inAll(count) >= lastOfAll || (inAll(count) >= lastAmongForeign && count.overwrites > count.writes);

/** Whether GitHub accepts no more statuses. */
export const isFull = (count: StatusCount): boolean => inAll(count) >= mostStatuses;

const hour = 3_600_000;
/** How often we repeat the same text in an hour. */
const mostRepeats = 20;
const longestPause = 5 * 60_000;

/**
 * How long to wait before we repeat a text, in milliseconds. The first repeat comes at once, the others after 1 s to
 * 5 min: twenty in the first hour, and twelve in each later hour.
 * @param timesWritten how often it was written so far.
 */
export const pauseAfter = (timesWritten: number): number =>
  timesWritten < 2 ? 0 : Math.min(longestPause, 1000 * 2 ** (timesWritten - 2));

/** How often the current text was written, and when we may repeat it. */
export type Repeats = { timesWritten: number; repeatAfter: Date | null };

/** The number of repeats. Starts again at one after the text stood for an hour. */
export const timesOf = ({ timesWritten, repeatAfter }: Repeats, now: Date): number =>
  repeatAfter && repeatAfter.getTime() < now.getTime() - hour ? Math.min(1, timesWritten) : timesWritten;

/** Whether all repeats are used up, because somebody keeps overwriting the status. */
export const isContested = (repeats: Repeats, now: Date): boolean => timesOf(repeats, now) > mostRepeats;
