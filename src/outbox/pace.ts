// How fast an installation's statuses are written. GitHub does not say what it bears, so the pace learns: it rises while
// GitHub accepts, and halves when GitHub refuses. Pure; `lease.ts` keeps it in the database.

/** Writes a minute between which a pace is learned. Where both are the same, it never moves. */
export type PaceRange = { least: number; most: number };

export type Pace = {
  /** No minute holds more writes. */
  perMinute: number;
  /** How many writes may go at once, as counted at an instant. */
  tokens: number;
  countedAt: Date;
  /** What GitHub bore when it refused last. Null: it never did. */
  refused: { perMinute: number; at: Date } | null;
};

/** Below it, a freeze of a hundred pull requests would take longer than whoever made it waits. */
export const leastPace = 10;

/** What every installation starts with: just below the 80 that GitHub allows "in general". */
export const startingPace = 75;

/** A whole minute of writing raises the pace by 5 %: each write by this. */
const rise = 0.05;
/** And by 20 % up to what GitHub is known to bear. */
const knownRise = 0.2;
/** The pace stays so far below what was refused. */
const justBelow = 0.95;
/** For so long. Then it is tried again whether GitHub bears more. */
const restBetweenTries = 3_600_000;
/** The share of a minute's writes that may go at once, for a freeze that must hold now. The rest follows evenly. */
const atOnce = 1 / 4;

const within = ({ least, most }: PaceRange, perMinute: number): number =>
  Math.min(most, Math.max(least, perMinute));

const burstOf = (perMinute: number): number => Math.max(1, Math.floor(perMinute * atOnce));

/** How many writes may go at once where GitHub bears the most. */
export const mostAtOnce = ({ most }: PaceRange): number => burstOf(most);

/** Writes a millisecond: with what goes at once, no minute holds more than the pace. */
const evenlyOf = (perMinute: number): number => Math.max(1, perMinute - burstOf(perMinute)) / 60_000;

/** The pace of an installation that was never written for. */
export function firstPace(range: PaceRange, now: Date): Pace {
  const perMinute = within(range, startingPace);
  return { perMinute, tokens: burstOf(perMinute), countedAt: now, refused: null };
}

/** The pace now: the time since it was counted gives further places. It keeps to the range, which may be a new one. */
export function paceAt(last: Pace, range: PaceRange, now: Date): Pace {
  const perMinute = within(range, last.perMinute);
  const passed = Math.max(0, now.getTime() - last.countedAt.getTime());
  const tokens = Math.min(burstOf(perMinute), last.tokens + passed * evenlyOf(perMinute));
  // A clock of another replica may be behind: the time until it catches up is not counted twice.
  const countedAt = last.countedAt > now ? last.countedAt : now;
  return { ...last, perMinute, tokens, countedAt };
}

/** How many writes may go now. */
export const placesIn = ({ tokens }: Pace): number => Math.floor(tokens);

/** Milliseconds until one may go. */
export const waitFor = ({ tokens, perMinute }: Pace): number =>
  tokens >= 1 ? 0 : Math.ceil((1 - tokens) / evenlyOf(perMinute));

/** Whether writes press: what may go at once is mostly used up. Only then their being accepted teaches anything. */
export const isPressed = ({ tokens, perMinute }: Pace): boolean => tokens < burstOf(perMinute) / 2 + 1;

/** The pace after writes that pressed and that GitHub accepted. */
export function afterAccepted(pace: Pace, writes: number, range: PaceRange, now: Date): Pace {
  const { perMinute, refused } = pace;
  const known = refused ? justBelow * refused.perMinute : 0;
  const isResting = refused !== null && now.getTime() < refused.at.getTime() + restBetweenTries;
  const raised =
    perMinute < known
      ? Math.min(known, perMinute + knownRise * writes)
      : isResting
        ? perMinute
        : perMinute + rise * writes;
  return { ...pace, perMinute: within(range, raised) };
}

/**
 * The pace after GitHub refused a write. It is used up in the long run, when what goes at once is long gone: so GitHub
 * bore the even part of it.
 */
export function afterRefusal(pace: Pace, range: PaceRange, now: Date): Pace {
  const bore = evenlyOf(pace.perMinute) * 60_000;
  return { ...pace, perMinute: within(range, pace.perMinute / 2), refused: { perMinute: bore, at: now } };
}
