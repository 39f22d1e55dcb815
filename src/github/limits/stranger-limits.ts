import type { Context } from 'hono';
import { type Cache, createCache } from '../../cache.ts';
import { type Clock, nowOf } from '../../clock.ts';
import type { Deps } from '../../deps.ts';
import { tooManyRequests } from '../../errors.ts';
import type { Actor } from '../../events/actor.ts';
import type { Payer } from '../ask-github.ts';
import { bucketOf, mostBuckets } from './bucket.ts';
import { addressOf, networkOf } from './client-address.ts';
import { KnownCredentials } from './known-credentials.ts';
import { minute, secondsLeft, takeOne } from './minute-counts.ts';

/**
 * Limits what callers can make the service ask GitHub: unknown ones for each address and in total, and each known one for
 * what an installation or the App pays.
 */
export class StrangerLimits {
  readonly known: KnownCredentials;
  /** Counts that are used up, until their minute ends. After that, more questions cost no write. */
  readonly #usedUp: Cache<string, true>;

  constructor(clock: Clock) {
    this.known = new KnownCredentials(clock);
    this.#usedUp = createCache(clock, mostBuckets, minute);
  }

  /**
   * The dependencies of a request. Its questions to GitHub count as a stranger's, unless its credential was accepted
   * within the last day.
   * @param credential called only if there is a question; null for none.
   */
  guard<D extends Deps>(deps: D, context: Context, credential: () => Promise<string | null>): D {
    const isKnown = async () => {
      const text = await credential();
      return text !== null && (await this.known.has(deps, text));
    };
    let known: Promise<boolean> | undefined;
    const beforeQuestion = async () => {
      if (!(await (known ??= isKnown()))) await this.#countStranger(deps, addressOf(deps, context));
    };
    return { ...deps, beforeQuestion };
  }

  /** The dependencies of a caller whom we identified. Counts for them as well what their own token does not pay. */
  forCaller<D extends Deps>(deps: D, { type, id }: Pick<Actor, 'type' | 'id'>): D {
    const beforeQuestion = async (payer: Payer) => {
      await deps.beforeQuestion?.(payer);
      if (payer !== 'caller') await this.#countCaller(deps, `${type} ${id}`);
    };
    return { ...deps, beforeQuestion };
  }

  async #countStranger(deps: Deps, address: string): Promise<void> {
    const { strangerQuestionsPerMinute: inAll } = deps.config;
    const refusal = (seconds: number) =>
      `Callers that Holdfast does not know made it ask GitHub too often in this minute. Try again in ${seconds} s, or use an application key: it is not limited.`;
    await this.#take(
      deps,
      `strangers ${bucketOf(deps, 'address', networkOf(address))}`,
      Math.ceil(inAll / 2),
      refusal,
    );
    await this.#take(deps, 'strangers all', inAll, refusal);
  }

  #countCaller(deps: Deps, caller: string): Promise<void> {
    const most = deps.config.callerQuestionsPerMinute;
    return this.#take(
      deps,
      bucketOf(deps, 'caller', caller),
      most,
      (seconds) =>
        `Your requests need more than ${most} questions to GitHub in this minute. Try again in ${seconds} s.`,
    );
  }

  /** @throws Refusal too-many-requests if a count of this minute is used up. */
  async #take(deps: Deps, name: string, most: number, refusal: (seconds: number) => string): Promise<void> {
    const now = nowOf(deps.clock);
    if (!this.#usedUp.get(name) && (await takeOne(deps, name, most))) return;
    const seconds = secondsLeft(now);
    this.#usedUp.set(name, true, minute - (now.getTime() % minute), now.getTime());
    throw tooManyRequests(refusal(seconds), seconds);
  }
}
