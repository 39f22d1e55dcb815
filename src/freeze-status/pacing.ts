import type { Clock } from '../clock.ts';

/**
 * Spaces writes so that no minute holds more than `perMinute` of them: a quarter may go at once, for a freeze
 * that must hold now, and the rest follows evenly. GitHub stops installations that write faster.
 */
export class Pace {
  readonly #clock: Clock;
  readonly #burst: number;
  /** Tokens a millisecond. */
  readonly #rate: number;
  #tokens: number;
  #countedAt: number;

  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock;
    this.#burst = Math.max(1, Math.floor(perMinute / 4));
    this.#rate = Math.max(1, perMinute - this.#burst) / 60_000;
    this.#tokens = this.#burst;
    this.#countedAt = clock.now();
  }

  /** Milliseconds until the next write may go; 0 takes its place in the minute. */
  take(): number {
    const now = this.#clock.now();
    this.#tokens = Math.min(this.#burst, this.#tokens + Math.max(0, now - this.#countedAt) * this.#rate);
    this.#countedAt = now;
    if (this.#tokens < 1) return Math.ceil((1 - this.#tokens) / this.#rate);
    this.#tokens -= 1;
    return 0;
  }
}

/** One pace for each installation: GitHub counts them apart. */
export class Paces {
  readonly #clock: Clock;
  readonly #perMinute: number;
  readonly #paces = new Map<bigint, Pace>();

  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock;
    this.#perMinute = perMinute;
  }

  of(installationId: bigint): Pace {
    const pace = this.#paces.get(installationId) ?? new Pace(this.#clock, this.#perMinute);
    this.#paces.set(installationId, pace);
    return pace;
  }
}
