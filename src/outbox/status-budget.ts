// GitHub takes 1,000 statuses of a commit and context, whoever posts them. The last ones are kept for what matters.

/** How many statuses of a commit under our context are ours, and how many are others'. */
export type StatusCount = { writes: number; overwrites: number };

const inAll = ({ writes, overwrites }: StatusCount): number => writes + overwrites;

const mostStatuses = 1000;
/** From here on only changes of the state are written. */
const mostTexts = 900;
/** From here on one last `pending` is, where most are not ours: somebody is using them up. */
const lastAmongForeign = 900;
/** And from here on whoever wrote them. */
const lastOfAll = 990;

export const takesTexts = (count: StatusCount): boolean => inAll(count) < mostTexts;

/** Whether what is written next must stand for good. */
export const isUsedUp = (count: StatusCount): boolean =>
  inAll(count) >= lastOfAll || (inAll(count) >= lastAmongForeign && count.overwrites > count.writes);

/** Whether GitHub takes no further one. */
export const isFull = (count: StatusCount): boolean => inAll(count) >= mostStatuses;

const hour = 3_600_000;
/** The same text is written again so often an hour. */
const mostRepeats = 20;
const longestPause = 5 * 60_000;

/**
 * How long a text stays before it may be written again, in milliseconds. The first repeat comes at once, the others 1 s
 * to 5 min apart: twenty in the first hour, and twelve in each that follows.
 * @param timesWritten how often it was written so far.
 */
export const pauseAfter = (timesWritten: number): number =>
  timesWritten < 2 ? 0 : Math.min(longestPause, 1000 * 2 ** (timesWritten - 2));

/** How often the present text was written, and when it may be written again. */
export type Repeats = { timesWritten: number; repeatAfter: Date | null };

/** How often it was written counts no more than once after an hour in which it stood. */
export const timesOf = ({ timesWritten, repeatAfter }: Repeats, now: Date): number =>
  repeatAfter && repeatAfter.getTime() < now.getTime() - hour ? Math.min(1, timesWritten) : timesWritten;

/** Whether all repeats are used up: somebody else writes there whatever we do. */
export const isContested = (repeats: Repeats, now: Date): boolean => timesOf(repeats, now) > mostRepeats;
