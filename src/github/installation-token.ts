import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../time/clock.ts';
import { type Grants, missingPermissions } from './app-manifest.ts';
import type { GitHubClient } from './github-app.ts';
import { isGitHubStatus, isKeyRefused } from './github-error.ts';

/** What GitHub answers to `POST /app/installations/{id}/access_tokens`, as far as it is used. */
type MadeToken = { token: string; permissions: Grants['permissions'] };

/** Milliseconds. GitHub's tokens live for an hour. */
const life = 59 * 60_000;

/** How often a token that lacks what was granted is renewed at once. GitHub may not know of the grant yet. */
const mostRenewals = 4;
/** Milliseconds until we ask again for what it still lacks. */
const asksAgainAfter = 60_000;

/**
 * Milliseconds. Within these, a new token may not have reached every server of GitHub (octokit/auth-app.js#65): then it is
 * tried again each second. Another one would be as new.
 */
const newFor = 5000;
const triesAgainAfter = 1000;

/**
 * The token of one installation, kept for one client. `@octokit/auth-app` makes such tokens, too, but shares one that is
 * being made or read among all services of a process, and gives it to whoever asks for a new one: it may be from before
 * the permissions that were granted, or from another GitHub.
 */
export class InstallationToken {
  readonly #clock: Clock;
  readonly #make: () => Promise<MadeToken>;
  #kept: { made: MadeToken; at: number } | null = null;
  #making: Promise<MadeToken> | null = null;
  /** The grant that a token was last renewed for, and when GitHub is asked again if the two still differ. */
  #followed: { grant: string; askAgainAt: number } | null = null;

  /** @param make asks GitHub for a new one. */
  constructor(clock: Clock, make: () => Promise<MadeToken>) {
    this.#clock = clock;
    this.#make = make;
  }

  /** The token that is kept, or a new one. Whoever asks while it is made shares it. @throws what `make` throws. */
  async get(): Promise<MadeToken> {
    if (this.#kept && this.#clock.elapsed() - this.#kept.at < life) return this.#kept.made;
    this.#making ??= this.#keep().finally(() => (this.#making = null));
    return this.#making;
  }

  /** Whether GitHub may not know it everywhere yet. */
  isNew(token: MadeToken): boolean {
    return this.#kept?.made === token && this.#clock.elapsed() - this.#kept.at < newFor;
  }

  /** Another one than `old`, which GitHub refused or which is from before a grant. */
  renew(old: MadeToken): Promise<MadeToken> {
    if (this.#kept?.made === old) this.#kept = null;
    return this.get();
  }

  /** Renews a token from before the owner granted more or less. @param granted as the caller knows. */
  async follow(granted: MadeToken['permissions']): Promise<void> {
    let token = await this.get();
    const isLacking = () => lacks(token.permissions, granted);
    if (!isLacking() && !lacks(granted, token.permissions)) return;
    const grant = JSON.stringify(granted);
    if (this.#followed?.grant === grant && this.#clock.elapsed() < this.#followed.askAgainAt) return;
    token = await this.renew(token);
    for (let tries = 1; tries < mostRenewals && isLacking(); tries++) token = await this.renew(token);
    // A new token that has more than the caller knows of is as good as any.
    const wait = isLacking() ? asksAgainAfter : Infinity;
    this.#followed = { grant, askAgainAt: this.#clock.elapsed() + wait };
  }

  async #keep(): Promise<MadeToken> {
    const at = this.#clock.elapsed();
    const made = await this.#make();
    this.#kept = { made, at };
    return made;
  }
}

const lacks = (permissions: MadeToken['permissions'], wanted: MadeToken['permissions']): boolean =>
  missingPermissions({ permissions }, wanted).length > 0;

/**
 * Sends each request of a client with the token. After a suspension or a new installation, GitHub drops tokens before
 * their hour is over and answers 401: then a new one is tried.
 * @param cutOff ends waits.
 */
export function authenticate(client: GitHubClient, tokens: InstallationToken, cutOff: AbortSignal): void {
  client.hook.wrap('request', async (send, options) => {
    let token = await tokens.get();
    let waits = newFor / triesAgainAfter;
    let isRenewed = false;
    for (;;) {
      try {
        return await send({
          ...options,
          headers: { ...options.headers, authorization: `token ${token.token}` },
        });
      } catch (error) {
        if (!isGitHubStatus(error, 401) || isKeyRefused(error)) throw error;
        const mayWait = tokens.isNew(token) && waits-- > 0;
        if (!mayWait && isRenewed) throw error;
        if (mayWait) await delay(triesAgainAfter, undefined, { signal: cutOff });
        else [token, isRenewed] = [await tokens.renew(token), true];
      }
    }
  });
}
