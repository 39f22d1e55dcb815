import { createHash, randomInt, timingSafeEqual } from 'node:crypto';
import { type Cache, createCache } from '../../github/cache.ts';
import type { Clock } from '../../time/clock.ts';

/** Leaves out letters and digits that look alike. */
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const groups = 4;
const groupLength = 4;

/** How many wrong codes one address may send in a minute. */
const mostWrong = 5;
/** For how many addresses wrong codes are counted. */
const mostAddresses = 1000;
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

type CodeVerdict = 'right' | 'wrong' | 'too-many';

/** The code that allows a person to set up the service, because they can read its log. It works once. */
export class SetupCode {
  #code = makeCode();
  /** The number of wrong codes by address, kept for a minute from the first one. */
  readonly #wrong: Cache<string, { count: number }>;
  readonly #announce: (code: string) => void;

  /** @param announce is called with each new code, never with a used one. */
  constructor(clock: Clock, announce: (code: string) => void) {
    this.#wrong = createCache(clock, mostAddresses, minute);
    this.#announce = announce;
  }

  announce(): void {
    this.#announce(this.#code);
  }

  /**
   * Compares in constant time. The right code is used up, and the next one is announced. The right code always works, so
   * that people who share an address, such as behind a proxy, do not lock each other out. Nobody guesses 80 bits.
   * @param address the address of the socket.
   */
  try(given: string, address: string): CodeVerdict {
    if (timingSafeEqual(digest(given), digest(this.#code))) {
      this.#code = makeCode();
      this.announce();
      return 'right';
    }
    return this.#count(address) > mostWrong ? 'too-many' : 'wrong';
  }

  /** @returns how many wrong codes the address sent in its current minute, including this one. */
  #count(address: string): number {
    const entry = this.#wrong.get(address) ?? { count: 0 };
    if (entry.count++ === 0) this.#wrong.set(address, entry);
    return entry.count;
  }
}
