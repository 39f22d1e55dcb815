// How fast we write the statuses of an installation. GitHub does not say how much it accepts, so the pace learns: it
// rises while GitHub accepts writes, and halves when GitHub refuses one. This file is pure; `lease.ts` stores the pace.
import type { PaceRange } from '../config-values.ts';

export type Pace = {
  /** The maximum number of writes in a minute. */
  perMinute: number;
  /** How many writes may go at once, counted at an instant. */
  tokens: number;
  countedAt: Date;
  /** The pace that GitHub accepted when it last refused a write; null if it never did. */
  refused: { perMinute: number; at: Date } | null;
};

/** The starting pace of an installation, just below the 80 that GitHub allows "in general". */
const startingPace = 75;

/** A full minute of writes raises the pace by 5 %. */
const rise = 0.05;
/** Up to the pace that GitHub is known to accept, it rises by 20 %. */
const knownRise = 0.2;
/** How far the pace stays below the refused one. */
const justBelow = 0.95;
/** How long it stays there, before we try whether GitHub accepts more. */
const restBetweenTries = 3_600_000;
/** The share of a minute's writes that may go at once, for a freeze that must hold now. The rest is spread evenly. */
const atOnce = 1 / 4;

const within = ({ least, most }: PaceRange, perMinute: number): number =>
  Math.min(most, Math.max(least, perMinute));

const burstOf = (perMinute: number): number => Math.max(1, Math.floor(perMinute * atOnce));

/** How many writes may go at once at the highest pace. */
export const mostAtOnce = ({ most }: PaceRange): number => burstOf(most);

/** Evenly spread writes per millisecond. Together with the burst, no minute exceeds the pace. */
const evenlyOf = (perMinute: number): number => Math.max(1, perMinute - burstOf(perMinute)) / 60_000;

/** The pace of an installation without writes. */
export function firstPace(range: PaceRange, now: Date): Pace {
  const perMinute = within(range, startingPace);
  return { perMinute, tokens: burstOf(perMinute), countedAt: now, refused: null };
}

/** The pace now, with the places that became free since it was counted. It stays within the range, which may be new. */
export function paceAt(last: Pace, range: PaceRange, now: Date): Pace {
  const perMinute = within(range, last.perMinute);
  const passed = Math.max(0, now.getTime() - last.countedAt.getTime());
  const tokens = Math.min(burstOf(perMinute), last.tokens + passed * evenlyOf(perMinute));
  // The clock of another replica may be behind. We do not count the time until it catches up twice.
  const countedAt = last.countedAt > now ? last.countedAt : now;
  return { ...last, perMinute, tokens, countedAt };
}

/** How many writes may go now. */
export const placesIn = ({ tokens }: Pace): number => Math.floor(tokens);

/** Milliseconds until a write may go. */
export const waitFor = ({ tokens, perMinute }: Pace): number =>
  tokens >= 1 ? 0 : Math.ceil((1 - tokens) / evenlyOf(perMinute));

/** Whether most of the burst is used up. Only then do accepted writes say anything about GitHub's limit. */
export const isPressed = ({ tokens, perMinute }: Pace): boolean => tokens < burstOf(perMinute) / 2 + 1;

/** The pace after GitHub accepted writes under pressure. */
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
 * The pace after GitHub refused a write. By then the burst is long used up, so GitHub accepted the evenly spread part.
 */
export function afterRefusal(pace: Pace, range: PaceRange, now: Date): Pace {
  const bore = evenlyOf(pace.perMinute) * 60_000;
  return { ...pace, perMinute: within(range, pace.perMinute / 2), refused: { perMinute: bore, at: now } };
}
