import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import { type Cache, createCache } from '../../cache.ts';
import { type Clock, nowOf } from '../../clock.ts';
import type { Deps } from '../../deps.ts';
import { tooManyRequests } from '../../errors.ts';
import { bucketOf, mostBuckets } from './bucket.ts';
import { clientAddress, networkOf } from './client-address.ts';
import { KnownCredentials } from './known-credentials.ts';
import { minute, secondsLeft, takeOne } from './minute-counts.ts';

/** Limits what unknown callers can make the service ask GitHub: for each address, and in total. */
export class StrangerLimits {
  readonly known: KnownCredentials;
  /** Counts that are used up, until their minute ends. After that, more questions cost no write. */
  readonly #usedUp: Cache<string, true>;

  constructor(clock: Clock) {
    this.known = new KnownCredentials(clock);
    this.#usedUp = createCache(clock, mostBuckets, minute);
  }

  /**
   * The dependencies of a request. Its questions to GitHub count, unless its credential was accepted within the last
   * day.
   * @param credential called only if there is a question; null for none.
   */
  guard<D extends Deps>(deps: D, context: Context, credential: () => Promise<string | null>): D {
    const isKnown = async () => {
      const text = await credential();
      return text !== null && (await this.known.has(deps, text));
    };
    let known: Promise<boolean> | undefined;
    const beforeQuestion = async () => {
      if (!(await (known ??= isKnown()))) await this.#count(deps, addressOf(deps, context));
    };
    return { ...deps, beforeQuestion };
  }

  async #count(deps: Deps, address: string): Promise<void> {
    const { strangerQuestionsPerMinute: inAll } = deps.config;
    const counts = [
      [bucketOf(deps, 'address', networkOf(address)), Math.ceil(inAll / 2)],
      ['all', inAll],
    ] as const;
    const now = nowOf(deps.clock);
    for (const [name, most] of counts) {
      if (!this.#usedUp.get(name) && (await takeOne(deps, `strangers ${name}`, most))) continue;
      const seconds = secondsLeft(now);
      this.#usedUp.set(name, true, minute - (now.getTime() % minute), now.getTime());
      throw tooManyRequests(
        `Callers that Holdfast does not know made it ask GitHub too often in this minute. Try again in ${seconds} s, or use an application key: it is not limited.`,
        seconds,
      );
    }
  }
}

const addressOf = ({ config }: Deps, context: Context): string =>
  clientAddress(
    getConnInfo(context).remote.address,
    context.req.header('X-Forwarded-For'),
    config.trustedProxies,
  );
