// Whether GitHub accepts the private key of the App.
import type { Logger } from 'pino';
import type { Clock } from '../time/clock.ts';

/**
 * Milliseconds. The library corrects a wrong clock after a first refusal, and is accepted at once: only what lasts
 * longer counts.
 */
const countsAfter = 1000;

/**
 * What GitHub last said to what the App signs with its key. Nothing else says it: an installation's token counts for an
 * hour, so work goes on, and a part of it stops each time that a token ends.
 */
export class KeyStanding {
  readonly #clock: Clock;
  readonly #log: Logger;
  #refusedAt: number | null = null;
  #isLogged = false;

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  /** @param status of an answer to a request that the App signed. */
  note(status: number): void {
    if (status >= 500) return;
    if (status !== 401) {
      if (this.#isLogged) this.#log.info('GitHub accepts the App’s key again');
      this.#isLogged = false;
      this.#refusedAt = null;
      return;
    }
    this.#refusedAt ??= this.#clock.now();
    const since = this.refusedSince();
    if (since && !this.#isLogged) {
      this.#isLogged = true;
      this.#log.error({ since }, 'GitHub refuses the App’s key, so nothing new is held or let go');
    }
  }

  /** Since when GitHub has refused the key; null if it accepts it, as far as this process knows. */
  refusedSince(): Date | null {
    if (this.#refusedAt === null || this.#clock.now() - this.#refusedAt < countsAfter) return null;
    return new Date(this.#refusedAt);
  }
}

/** Notes the answers to what is signed with the key of an App. Requests with a token say nothing about the key. */
export const noting =
  (standing: KeyStanding, send: typeof fetch): typeof fetch =>
  async (input, init) => {
    const answer = await send(input, init);
    if (isSigned(init?.headers as Record<string, string> | undefined)) standing.note(answer.status);
    return answer;
  };

/** Octokit sends what an App signs as `bearer`, and every token of an installation as `token`. */
export const isSigned = (headers: Record<string, unknown> | undefined): boolean =>
  /^bearer /i.test(String(headers?.['authorization'] ?? ''));

/** What to say while GitHub refuses the key. */
export const keyRefused = (since: Date): string =>
  `GitHub refuses the App's key since ${since.toISOString().slice(0, 19)}Z. Check that APP_ID and PRIVATE_KEY belong together, that the App’s settings page still lists the key, and that the clock is right.`;
