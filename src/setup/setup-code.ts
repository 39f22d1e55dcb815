import { createHash, randomInt, timingSafeEqual } from 'node:crypto';
import { type Cache, createCache } from '../cache.ts';
import type { Clock } from '../clock.ts';

/** Without letters and digits that look alike. */
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const groups = 4;
const groupLength = 4;

/** Wrong codes of one address that are answered in a minute. */
const mostWrong = 5;
/** Addresses whose wrong codes are counted. */
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

export type CodeVerdict = 'right' | 'wrong' | 'too-many';

/** The code that lets somebody set the service up: they can read its log. It works once. */
export class SetupCode {
  #code = makeCode();
  /** By address: how many wrong codes of it were answered, for a minute from the first of them. */
  readonly #wrong: Cache<string, { count: number }>;
  readonly #announce: (code: string) => void;

  /** @param announce tells of each new code; never called with a spent one. */
  constructor(clock: Clock, announce: (code: string) => void) {
    this.#wrong = createCache(clock, mostAddresses, minute);
    this.#announce = announce;
  }

  announce(): void {
    this.#announce(this.#code);
  }

  /**
   * Compares in constant time. A right code is spent, and the next one announced. It is always right: who shares an
   * address with others, as behind a proxy, is not locked out by their wrong ones, and 80 bits are not guessed.
   * @param address of the socket.
   */
  try(given: string, address: string): CodeVerdict {
    if (timingSafeEqual(digest(given), digest(this.#code))) {
      this.#code = makeCode();
      this.announce();
      return 'right';
    }
    return this.#count(address) > mostWrong ? 'too-many' : 'wrong';
  }

  /** @returns how many wrong codes the address sent within its present minute, this one included. */
  #count(address: string): number {
    const entry = this.#wrong.get(address) ?? { count: 0 };
    if (entry.count++ === 0) this.#wrong.set(address, entry);
    return entry.count;
  }
}
