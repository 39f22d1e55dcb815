import { createHash, randomInt, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../clock.ts';

/** Without letters and digits that look alike. */
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const groups = 4;
const groupLength = 4;

/** Wrong codes that are answered in a minute, from wherever they come. */
const mostWrong = 5;
const minute = 60_000;

/** 80 random bits, as four groups of four characters. */
const makeCode = (): string =>
  Array.from({ length: groups }, () =>
    Array.from({ length: groupLength }, () => alphabet[randomInt(alphabet.length)]).join(''),
  ).join('-');

const digest = (code: string): Buffer =>
  createHash('sha256')
    .update(code.toUpperCase().replace(/[^A-Z0-9]/g, ''))
    .digest();

export type CodeVerdict = 'right' | 'wrong' | 'too-many';

/** The code that lets somebody from another machine set the service up: they can read its log. It works once. */
export class SetupCode {
  #code = makeCode();
  #wrongAt: number[] = [];
  readonly #clock: Clock;
  readonly #announce: (code: string) => void;

  /** @param announce tells of each new code; never called with a spent one. */
  constructor(clock: Clock, announce: (code: string) => void) {
    this.#clock = clock;
    this.#announce = announce;
  }

  announce(): void {
    this.#announce(this.#code);
  }

  /** Compares in constant time. A right code is spent, and the next one announced. */
  try(given: string): CodeVerdict {
    const now = this.#clock.now();
    this.#wrongAt = this.#wrongAt.filter((at) => at > now - minute);
    if (this.#wrongAt.length >= mostWrong) return 'too-many';
    if (!timingSafeEqual(digest(given), digest(this.#code))) {
      this.#wrongAt.push(now);
      return 'wrong';
    }
    this.#code = makeCode();
    this.announce();
    return 'right';
  }
}
