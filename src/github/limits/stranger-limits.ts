import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import { nowOf } from '../../clock.ts';
import type { Deps } from '../../deps.ts';
import { tooManyRequests } from '../../errors.ts';
import { bucketOf } from './bucket.ts';
import { clientAddress, networkOf } from './client-address.ts';
import { KnownCredentials } from './known-credentials.ts';
import { secondsLeft, takeOne } from './minute-counts.ts';

/** Bounds what callers who are not known make the service ask of GitHub: per address, and in all. */
export class StrangerLimits {
  readonly known = new KnownCredentials();
  /** Names of counts that are used up, with the minute: what strangers go on to ask costs no write. */
  readonly #usedUp = new Map<string, number>();

  /**
   * The outside world for a request: its questions to GitHub count, unless its credential was good within the last day.
   * @param credential asked for only when there is a question; null for none.
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
    const minute = Math.floor(now.getTime() / 60_000);
    for (const [name, most] of counts) {
      if (this.#usedUp.get(name) !== minute && (await takeOne(deps, `strangers ${name}`, most))) continue;
      this.#usedUp.set(name, minute);
      const seconds = secondsLeft(now);
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
