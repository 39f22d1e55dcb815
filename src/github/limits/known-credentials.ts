import { type Cache, createCache } from '../cache.ts';
import { type Clock, nowOf } from '../../time/clock.ts';
import type { Deps } from '../../deps.ts';
import { hmacOf } from './minute-counts.ts';

// The only access to the table of known credentials: HMACs of people, and of tokens, that were accepted within 30 days.

const hour = 3_600_000;
/** Milliseconds that a credential stays known after it was accepted. */
export const knownFor = 30 * 24 * hour;
/** Milliseconds between two writes of the same credential. */
const writtenEach = hour;
const mostKept = 10_000;

type Store = Pick<Deps, 'db' | 'clock' | 'config'>;

/** Remembers accepted credentials, without the credentials themselves. */
export class KnownCredentials {
  /** What this process wrote recently. */
  readonly #written: Cache<string, true>;

  constructor(clock: Clock) {
    this.#written = createCache(clock, mostKept, writtenEach);
  }

  /** @param credential a token, or `person` with GitHub's id of a signed-in person. */
  async remember(deps: Store, credential: string): Promise<void> {
    const hash = hashOf(deps, credential);
    const now = nowOf(deps.clock);
    if (this.#written.get(hash)) return;
    this.#written.set(hash, true);
    await deps.db.knownCredential.upsert({
      where: { hash },
      create: { hash, goodAt: now },
      update: { goodAt: now },
    });
    await deps.db.$executeRaw`
      DELETE FROM known_credentials WHERE hash IN (
        SELECT hash FROM known_credentials ORDER BY good_at DESC OFFSET ${mostKept})`;
  }

  async has(deps: Store, credential: string): Promise<boolean> {
    const goodAt = { gt: new Date(deps.clock.now() - knownFor) };
    return (await deps.db.knownCredential.count({ where: { hash: hashOf(deps, credential), goodAt } })) > 0;
  }
}

const hashOf = (deps: Store, credential: string): string => hmacOf(deps, 'known credentials', credential);
