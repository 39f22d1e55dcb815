import { decodeJwt, errors, jwtVerify } from 'jose';
import { type Clock, nowOf } from '../../time/clock.ts';
import type { Config } from '../../config.ts';
import type { Deps } from '../../deps.ts';
import { forbidden, type Refusal } from '../../errors.ts';
import { findRepository, type FoundRepository } from '../../installations/find-repository.ts';
import type { JobCaller } from '../caller.ts';
import type { RepositoryPath } from '../../installations/repository-rows.ts';
import { IssuerKeys, issuerOf } from './issuer-keys.ts';
import { type Job, jobOf, type OidcRule, ruleFor, type JobPermission } from './oidc-rule.ts';
import { rulesOf } from './manage-rules.ts';

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
  readonly #keys: IssuerKeys;

  constructor(clock: Clock) {
    this.#keys = new IssuerKeys(clock);
  }

  /**
   * The job behind a token, and the rule of its owner that lets it in.
   * @returns null if GitHub did not sign it.
   * @throws Refusal forbidden if the token is not for us or not valid now, or if no rule lets in the job; unavailable
   *   while GitHub does not show its keys.
   */
  async identify(deps: Deps, token: string): Promise<{ job: Job; rule: OidcRule } | null> {
    const job = await this.#verify(deps, token);
    if (!job) return null;
    const rule = ruleFor(job, await rulesOf({ query: deps.sql.read }, job.ownerId, nowOf(deps.clock)));
    if (!rule) throw notLetIn(job);
    return { job, rule };
  }

  async #verify(deps: Deps, token: string): Promise<Job | null> {
    const { githubApiUrl, publicUrl } = deps.config;
    try {
      const { payload } = await jwtVerify(token, (header, parts) => this.#keys.keyFor(deps, header, parts), {
        issuer: issuerOf(githubApiUrl),
        audience: publicUrl,
        algorithms: ['RS256'],
        requiredClaims: ['exp', 'nbf', 'iat'],
        // This also makes jose compare `iat` with the current time. GitHub's tokens are valid for minutes.
        maxTokenAge: '1 hour',
        clockTolerance,
        currentDate: nowOf(deps.clock),
      });
      return payload.aud === publicUrl ? jobOf(payload) : null;
    } catch (error) {
      if (error instanceof errors.JWTExpired) throw expired();
      if (error instanceof errors.JWTClaimValidationFailed) throw notForNow(error, publicUrl);
      if (error instanceof errors.JOSEError) return null;
      throw error;
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

const notLetIn = ({ repository, ref, environment, event }: Job): Refusal =>
  forbidden(
    `Not authenticated: no OIDC rule lets in this job of ${repository} (ref ${ref}, environment ${environment ?? 'none'}, event ${event}). Ask an admin of the owner for one: POST /v1/oidc_rules/${repository.split('/')[0]}.`,
  );

/**
 * The repository of the path, for one of its jobs whose rule allows this.
 * @throws Refusal forbidden, also for every other repository, whether it exists or not; not-found if the App is not
 *   installed; unavailable.
 */
export async function repositoryOfJob(
  deps: Deps,
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
