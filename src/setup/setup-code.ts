import { createHash, randomInt, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../clock.ts';

/** Without letters and digits that look alike. */
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const groups = 4;
const groupLength = 4;

/** Wrong codes of one address that are answered in a minute. */
const mostWrong = 5;
/** Addresses whose wrong codes are counted; beyond them the oldest is forgotten. */
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
  /** By address: how many wrong codes of it were answered, and since when. */
  readonly #wrong = new Map<string, { count: number; since: number }>();
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
    const now = this.#clock.now();
    const known = this.#wrong.get(address);
    const entry = known && known.since > now - minute ? known : { count: 0, since: now };
    entry.count++;
    if (entry === known) return entry.count;
    this.#wrong.delete(address);
    this.#wrong.set(address, entry);
    if (this.#wrong.size > mostAddresses) this.#wrong.delete(this.#wrong.keys().next().value!);
    return entry.count;
  }
}
