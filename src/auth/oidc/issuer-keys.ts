import {
  createLocalJWKSet,
  errors,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWSHeaderParameters,
} from 'jose';
import { z } from 'zod';
import type { Clock } from '../../time/clock.ts';
import type { Deps } from '../../deps.ts';
import { unavailable } from '../../errors.ts';
import { webUrlOf } from '../../github/web-url.ts';

/**
 * The issuer of the OIDC tokens of jobs, by the URL of GitHub's API: github.com, a tenant of ghe.com, or a GitHub
 * Enterprise Server. Source: "OpenID Connect reference" of GitHub's documentation.
 */
export function issuerOf(githubApiUrl: string): string {
  const { host } = new URL(githubApiUrl);
  if (host === 'api.github.com') return 'https://token.actions.githubusercontent.com';
  const tenant = /^api\.([^.]+\.ghe\.com)$/.exec(host)?.[1];
  return tenant ? `https://token.actions.${tenant}` : `${webUrlOf(githubApiUrl)}/_services/token`;
}

/** Milliseconds after which the keys are read again. A key that GitHub revokes counts at most this long. */
const keptFor = 600_000;
/** Milliseconds between two readings, for any tokens: invented key ids cause no more readings. */
const leastPause = 30_000;
/** Milliseconds to wait for an answer of GitHub. */
const patience = 5_000;

const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string(), kid: z.string() })) });

/** The public keys for the tokens of jobs, as this process last read them from GitHub. */
export class IssuerKeys {
  readonly #clock: Clock;
  #known = new Set<string>();
  #find = createLocalJWKSet({ keys: [] });
  #readAt = -Infinity;
  #triedAt = -Infinity;
  #reading: Promise<boolean> | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * The key for a token with this header. For an unknown key id, it reads the keys again. While GitHub does not answer,
   * the known keys still count.
   * @throws Refusal unavailable if the id is not known and the keys cannot be read now; jose's error if GitHub has no
   *   such key.
   */
  async keyFor(deps: Deps, header: JWSHeaderParameters, token: FlattenedJWSInput) {
    const { kid } = header;
    if (kid === undefined) throw new errors.JWKSNoMatchingKey();
    const isOld = this.#clock.now() - this.#readAt >= keptFor;
    const wasRead = (isOld || !this.#known.has(kid)) && (await this.#readAgain(deps));
    if (!this.#known.has(kid) && !wasRead) throw this.#notKnownYet();
    return this.#find(header, token);
  }

  #notKnownYet() {
    const seconds = Math.max(1, Math.ceil((this.#triedAt + leastPause - this.#clock.now()) / 1000));
    return unavailable(
      `GitHub could not say with which key this OIDC token is signed. Nothing was changed; try again in ${seconds} s.`,
      seconds,
    );
  }

  /** @returns whether this read them now. */
  async #readAgain(deps: Deps): Promise<boolean> {
    if (this.#reading) return this.#reading;
    const now = this.#clock.now();
    if (now - this.#triedAt < leastPause) return false;
    this.#triedAt = now;
    this.#reading = this.#read(deps, now).finally(() => (this.#reading = null));
    return this.#reading;
  }

  async #read(deps: Deps, now: number): Promise<boolean> {
    try {
      const response = await fetch(`${issuerOf(deps.config.githubApiUrl)}/.well-known/jwks`, {
        headers: { Accept: 'application/json' },
        redirect: 'error',
        signal: AbortSignal.any([deps.stopping, AbortSignal.timeout(patience)]),
      });
      if (!response.ok) throw new Error(`GitHub answered ${response.status}`);
      const { keys } = keySet.parse(await response.json());
      this.#find = createLocalJWKSet({ keys } as JSONWebKeySet);
      this.#known = new Set(keys.map(({ kid }) => kid));
      this.#readAt = now;
      return true;
    } catch (error) {
      deps.log.warn({ err: error }, 'the keys of OIDC tokens could not be read; the known keys still count');
      return false;
    }
  }
}
