import { type Clock, mostAhead } from './clock.ts';
import { second } from './units.ts';

/** Who else tells the time. GitHub's counts, because GitHub merges; the database's counts until GitHub has told its own. */
const witnesses = ['github', 'database'] as const;
export type Witness = (typeof witnesses)[number];

/** `differs`: people should know. `wrong`: nobody judges by this clock any more. */
type ClockVerdict = 'agrees' | 'differs' | 'wrong';

/**
 * What a witness told. @property base its time when the stopwatch showed 0. @property give or take so many milliseconds.
 * @property at what the stopwatch showed then.
 */
type Told = { base: number; give: number; at: number };

/** @property doubts how often in a row it told something else than what we believe. */
type Heard = { believed: Told; doubted: Told | null; doubts: number; at: number; verdict: ClockVerdict };

/** Milliseconds by which a clock may differ before people are told. */
const closeEnough = 2_000;
/** An answer that took longer tells too little. In milliseconds. */
const longestAnswer = 10_000;
/** For so many milliseconds the answer counts that came quickest. Then the stopwatch may have drifted. */
const goodFor = 600_000;
/** How often in a row a witness has to contradict itself: one odd answer is of a proxy that keeps old ones. */
const enough = 3;
/** `Date` drops fractions of a second. */

/** Hears how far a clock is ahead of a witness, once for each change. */
type Tell = (verdict: ClockVerdict, witness: Witness, ahead: number) => void;

/**
 * Compares the clock of this process with those of GitHub and of the database, by a stopwatch that nobody sets. So it
 * notices at once that somebody set the clock, and not only at the next answer.
 */
export class Witnesses {
  readonly #own: Clock;
  readonly #tell: Tell;
  readonly #heard = new Map<Witness, Heard>();
  /** What everything in the service goes by: the clock of this process, or that of a witness while this one is wrong. */
  readonly clock: Clock;

  constructor(own: Clock, tell: Tell = () => {}) {
    this.#own = own;
    this.#tell = tell;
    this.clock = {
      now: () => this.#now(),
      elapsed: () => own.elapsed(),
      setTimeout: (callback, milliseconds) => own.setTimeout(callback, milliseconds),
      clearTimeout: (timer) => own.clearTimeout(timer),
      setInterval: (callback, milliseconds) => own.setInterval(callback, milliseconds),
      clearInterval: (timer) => own.clearInterval(timer),
    };
  }

  #now(): number {
    const own = this.#own.now();
    const theirs = this.timeOf('github') ?? this.timeOf('database');
    return theirs !== null && Math.abs(own - theirs) > mostAhead ? theirs : own;
  }

  /** What a witness's clock shows now, in milliseconds since the epoch; null if it told nothing yet. */
  timeOf(witness: Witness): number | null {
    const heard = this.#heard.get(witness);
    return heard ? Math.round(heard.believed.base + this.#own.elapsed()) : null;
  }

  /** How many milliseconds the clock of this process is ahead of a witness's, 0 if that is nothing; null: not known. */
  ahead(witness: Witness): number | null {
    const heard = this.#heard.get(witness);
    if (!heard) return null;
    const ahead = this.#own.now() - this.timeOf(witness)!;
    return Math.abs(ahead) > closeEnough + heard.believed.give ? ahead : 0;
  }

  /** How many milliseconds ago, by the stopwatch, a witness told its time. */
  heardAgo(witness: Witness): number {
    return this.#own.elapsed() - (this.#heard.get(witness)?.at ?? -Infinity);
  }

  /** The clocks that differ from this one, and by how many milliseconds this one is ahead. */
  differing(): { witness: Witness; ahead: number }[] {
    return witnesses.flatMap((witness) => {
      const ahead = this.ahead(witness);
      return ahead ? [{ witness, ahead }] : [];
    });
  }

  /**
   * Hears what `Date` of GitHub's answer says. What a proxy kept for a while says nothing.
   * @param askedAt the stopwatch when the question was sent.
   */
  hearDate(headers: Headers, askedAt: number): void {
    const date = Date.parse(headers.get('date') ?? '');
    if (!Number.isNaN(date) && !(Number(headers.get('age')) > 0)) this.hear('github', date, askedAt, second);
  }

  /**
   * Hears a witness. What contradicts it counts once it is told again and again, or agrees with our own clock: then the
   * stopwatch had stood still, as in a machine that slept.
   * @param instant between the question and the answer, in milliseconds since the epoch.
   * @param askedAt the stopwatch when the question was sent.
   * @param step the witness drops what is less than so many milliseconds.
   */
  hear(witness: Witness, instant: number, askedAt: number, step = 1): void {
    const at = this.#own.elapsed();
    if (at - askedAt > longestAnswer) return;
    const told = { base: instant + step / 2 - (askedAt + at) / 2, give: (step + at - askedAt) / 2, at };
    const before = this.#heard.get(witness);
    const own = { base: this.#own.now() - at, give: 0, at };
    if (before && !isSameTime(before.believed, told) && !isSameTime(own, told)) {
      const doubts = before.doubted && isSameTime(before.doubted, told) ? before.doubts + 1 : 1;
      this.#heard.set(witness, { ...before, doubted: told, doubts });
      if (doubts < enough) return;
    }
    const verdict = before?.verdict ?? 'agrees';
    const isBetter = before && isSameTime(before.believed, told) && isQuicker(before.believed, told);
    this.#heard.set(witness, {
      believed: isBetter ? before.believed : told,
      doubted: null,
      doubts: 0,
      at,
      verdict,
    });
    this.#judge(witness);
  }

  #judge(witness: Witness): void {
    const heard = this.#heard.get(witness)!;
    const ahead = this.ahead(witness)!;
    const verdict = ahead === 0 ? 'agrees' : Math.abs(ahead) > mostAhead ? 'wrong' : 'differs';
    if (verdict === heard.verdict) return;
    heard.verdict = verdict;
    this.#tell(verdict, witness, ahead);
  }
}

const isQuicker = (one: Told, other: Told): boolean => one.give < other.give && other.at - one.at < goodFor;

const isSameTime = (one: Told, other: Told): boolean =>
  Math.abs(one.base - other.base) <= one.give + other.give + closeEnough;
