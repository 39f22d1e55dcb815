import {
  decodeJwt,
  errors,
  jwtVerify,
  createLocalJWKSet,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWSHeaderParameters,
} from 'jose';
import { z } from 'zod';
import { type Clock, nowOf } from '../../time/clock.ts';
import type { Config } from '../../config.ts';
import { fetchThroughProxy } from '../../github/through-proxy.ts';
import { forbidden, type Refusal, unavailable } from '../../errors.ts';
import {
  findRepository,
  type FoundRepository,
  type RepositoryPath,
} from '../../installations/find-repository.ts';
import type { JobCaller } from '../caller.ts';
import { type JobOfToken, jobInToken, type OidcRule, ruleFor, type JobPermission } from './oidc-rule.ts';
import { rulesOf } from './manage-rules.ts';
import { webUrlOf } from '../../github/web-url.ts';
import type { AuthDeps } from '../auth-deps.ts';

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
const issuerPatience = 5_000;

const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string(), kid: z.string() })) });

/** Seconds that GitHub's clock and ours can differ. */
const clockTolerance = 60;

/** Whether the credential looks like an OIDC token of a job. Do not trust it before it is verified. */
export function looksLikeJobToken({ config }: { config: Config }, credential: string): boolean {
  if (!/^[\w-]+\.[\w-]+\.[\w-]*$/.test(credential)) return false;
  try {
    return decodeJwt(credential).iss === issuerOf(config.githubApiUrl);
  } catch {
    return false;
  }
}

/** Verifies the OIDC tokens of jobs, with the keys that this process last read from GitHub. */
export class JobTokens {
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
   * The job behind a token, and the rule of its owner that lets it in.
   * @returns null if GitHub did not sign it.
   * @throws Refusal forbidden if the token is not for us or not valid now, or if no rule lets in the job; unavailable
   *   while GitHub does not show its keys.
   */
  async identify(deps: AuthDeps, token: string): Promise<{ job: JobOfToken; rule: OidcRule } | null> {
    const job = await this.#verify(deps, token);
    if (!job) return null;
    const rule = ruleFor(job, await rulesOf({ query: deps.sql.read }, job.ownerId, nowOf(deps.clock)));
    if (!rule) throw notLetIn(job);
    return { job, rule };
  }

  async #verify(deps: AuthDeps, token: string): Promise<JobOfToken | null> {
    const { githubApiUrl, publicUrl } = deps.config;
    try {
      const { payload } = await jwtVerify(token, (header, parts) => this.#keyFor(deps, header, parts), {
        issuer: issuerOf(githubApiUrl),
        audience: publicUrl,
        algorithms: ['RS256'],
        requiredClaims: ['exp', 'nbf', 'iat'],
        // This also makes jose compare `iat` with the current time. GitHub's tokens are valid for minutes.
        maxTokenAge: '1 hour',
        clockTolerance,
        currentDate: nowOf(deps.clock),
      });
      return payload.aud === publicUrl ? jobInToken(payload) : null;
    } catch (error) {
      if (error instanceof errors.JWTExpired) throw expired();
      if (error instanceof errors.JWTClaimValidationFailed) throw notForNow(error, publicUrl);
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  }

  /**
   * The key for a token with this header. For an unknown key id, it reads the keys again. While GitHub does not answer,
   * the known keys still count.
   * @throws Refusal unavailable if the id is not known and the keys cannot be read now; jose's error if GitHub has no
   *   such key.
   */
  async #keyFor(deps: AuthDeps, header: JWSHeaderParameters, token: FlattenedJWSInput) {
    const { kid } = header;
    if (kid === undefined) throw new errors.JWKSNoMatchingKey();
    const isOld = this.#clock.now() - this.#readAt >= keptFor;
    const wasRead = (isOld || !this.#known.has(kid)) && (await this.#readKeysAgain(deps));
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
  async #readKeysAgain(deps: AuthDeps): Promise<boolean> {
    if (this.#reading) return this.#reading;
    const now = this.#clock.now();
    if (now - this.#triedAt < leastPause) return false;
    this.#triedAt = now;
    this.#reading = this.#readKeys(deps, now).finally(() => (this.#reading = null));
    return this.#reading;
  }

  async #readKeys(deps: AuthDeps, now: number): Promise<boolean> {
    try {
      const response = await fetchThroughProxy(deps.config)(
        `${issuerOf(deps.config.githubApiUrl)}/.well-known/jwks`,
        {
          headers: { Accept: 'application/json' },
          redirect: 'error',
          signal: AbortSignal.any([deps.stopping, AbortSignal.timeout(issuerPatience)]),
        },
      );
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

const expired = (): Refusal =>
  forbidden(
    'Not authenticated: this OIDC token has expired. Have the job ask GitHub for one right before it calls.',
  );

/** For a token that GitHub signed. The error shows only what the token itself says. */
function notForNow({ claim, payload }: errors.JWTClaimValidationFailed, audience: string): Refusal {
  if (claim === 'aud')
    return forbidden(
      `Not authenticated: this OIDC token is for the audience ${JSON.stringify(payload.aud)}. Ask GitHub for one with the audience ${audience}, without a slash at the end.`,
    );
  return forbidden(
    `Not authenticated: the claim ${claim} of this OIDC token does not hold. Compare the clock of Holdfast with that of GitHub.`,
  );
}

const notLetIn = ({ repository, ref, environment, event }: JobOfToken): Refusal =>
  forbidden(
    `Not authenticated: no OIDC rule lets in this job of ${repository} (ref ${ref}, environment ${environment ?? 'none'}, event ${event}). Ask an admin of the owner for one: POST /v1/oidc_rules/${repository.split('/')[0]}.`,
  );

/**
 * The repository of the path, for one of its jobs whose rule allows this.
 * @throws Refusal forbidden, also for every other repository, whether it exists or not; not-found if the App is not
 *   installed; unavailable.
 */
export async function repositoryOfJob(
  deps: AuthDeps,
  { job, rule }: JobCaller,
  permission: JobPermission,
  { owner, repository: name }: RepositoryPath,
): Promise<FoundRepository> {
  if (!rule.may.includes(permission))
    throw forbidden(
      `The OIDC rule ${rule.name} does not let jobs do this: it needs ${permission} in its may. Ask an admin of the owner.`,
    );
  // We look up no name that the token does not have. A name can get another owner, so the ids decide.
  if (`${owner}/${name}`.toLowerCase() !== job.repository.toLowerCase()) throw notItsOwn(job.repository);
  const repository = await findRepository(deps, owner, name);
  if (repository.id !== job.repositoryId || repository.accountId !== job.ownerId)
    throw notItsOwn(job.repository);
  return repository;
}

const notItsOwn = (repository: string) =>
  forbidden(
    `An OIDC token is valid only for the repository of its job: ${repository}, as GitHub knew it when it made the token.`,
  );
