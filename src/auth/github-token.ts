import type { Clock } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { askGitHub, type Payer } from '../github/ask-github.ts';
import { isOwnToken } from '../github/own-tokens.ts';
import type { InstalledAccount } from '../installations/find-account.ts';
import { type FoundRepository, fullName } from '../installations/find-repository.ts';
import { askOwnerAdmin, isActiveAdmin } from './owner-admin.ts';
import { askPermission, isRefusal, type RepositoryPermission } from './repository-permission.ts';
import { readScopes } from './token-scopes.ts';
import { type TrialVerdict, tryOnOrganization, tryOnRepository } from './token-trial.ts';
import { VerdictCache } from './verdict-cache.ts';

/** The person behind a token. */
export type Person = { id: number; login: string };

/** The limits of a token, no matter what the person behind it can do. */
export type Grant =
  /** Classic and OAuth tokens. */
  | { by: 'scopes'; scopes: string[] }
  /** Fine-grained tokens and those of other Apps: GitHub does not name scopes, so we try each place. */
  | { by: 'trial' }
  /** It comes from signing in to this App, which shows who somebody is and nothing else. */
  | { by: 'sign-in' };

/** Whether a recent answer of GitHub is enough. */
export type Memory = 'get' | 'refresh';

export type TokenHolder = { person: Person; grant: Grant };

/** Prefixes of tokens of people. They are only a hint: GitHub decides, and lengths say nothing. */
const personal = ['ghp_', 'github_pat_', 'gho_', 'ghu_'];

/** Whether the credential looks like a person's GitHub token. Installation tokens (`ghs_`) belong to nobody. */
export const looksLikePersonalToken = (credential: string): boolean =>
  personal.some((prefix) => credential.startsWith(prefix));

/** Asks GitHub who holds a token, what it was granted and what the person can do. Caches the answers briefly. */
export class GitHubTokens {
  readonly #holders: VerdictCache<TokenHolder | null>;
  readonly #repositories: VerdictCache<RepositoryPermission>;
  readonly #owners: VerdictCache<boolean>;
  readonly #trials: VerdictCache<TrialVerdict>;

  constructor(clock: Clock) {
    this.#holders = new VerdictCache(clock, (holder) => holder !== null);
    this.#repositories = new VerdictCache(
      clock,
      (permission) => permission === 'admin',
      (permission) => permission === 'none' || permission === 'read',
    );
    this.#owners = new VerdictCache(clock, (isAdmin) => isAdmin);
    this.#trials = new VerdictCache(clock, (verdict) => verdict === 'yes');
  }

  /** Who holds the token, and its limits; null if GitHub does not know it or it belongs to no person. */
  async identify(deps: Deps, token: string): Promise<TokenHolder | null> {
    return this.#holders.get([token], () =>
      askGitHub(deps, 'caller', 'whose token this is', async () => {
        try {
          const { data, headers } = await deps.github.asPerson(token).rest.users.getAuthenticated();
          const grant = await grantOf(deps, token, headers['x-oauth-scopes']);
          return { person: { id: data.id, login: data.login }, grant };
        } catch (error) {
          if (isRefusal(error, deps)) return null;
          throw error;
        }
      }),
    );
  }

  /**
   * What the person can do with the repository, as GitHub says. We ask as the installation, which works for every kind
   * of token.
   * @param memory `refresh` asks now, unless we remember that the person can only read there, or nothing.
   */
  async permission(
    deps: Deps,
    token: string,
    person: Person,
    repository: FoundRepository,
    memory: Memory = 'get',
  ): Promise<RepositoryPermission> {
    const { installation, id } = repository;
    return this.#repositories[memory]([token, String(id)], () =>
      askGitHub(
        deps,
        payerOf(installation),
        `what ${person.login} may do with ${fullName(repository)}`,
        async () => {
          try {
            // A suspended installation has no tokens. Then the person's own token must show it.
            if (installation.suspendedAt) return await ownPermission(deps, token, id);
            return await askPermission(deps, person, repository);
          } catch (error) {
            if (isRefusal(error, deps)) return 'none';
            throw error;
          }
        },
      ),
    );
  }

  /** Whether the person is the owner, or an admin of the organization. */
  async isOwnerAdmin(deps: Deps, token: string, person: Person, owner: InstalledAccount): Promise<boolean> {
    if (BigInt(person.id) === owner.id) return true;
    return this.#owners.get([token, String(owner.id)], () =>
      askGitHub(
        deps,
        payerOf(owner.installation),
        `whether ${person.login} is an admin of ${owner.login}`,
        async () => {
          try {
            if (owner.installation.suspendedAt) return await isOwnAdmin(deps, token, owner);
            return await askOwnerAdmin(deps, person, owner);
          } catch (error) {
            if (isRefusal(error, deps)) return false;
            throw error;
          }
        },
      ),
    );
  }

  /** Whether the token itself can administer the repository, for tokens without scopes. */
  async tryRepository(
    deps: Deps,
    token: string,
    repository: Pick<FoundRepository, 'id' | 'private' | 'name' | 'account'>,
    memory: Memory = 'get',
  ): Promise<TrialVerdict> {
    return this.#trials[memory]([token, 'repository', String(repository.id)], () =>
      askGitHub(deps, 'caller', `what this token may do with ${fullName(repository)}`, () =>
        tryOnRepository(deps, token, repository),
      ),
    );
  }

  /** Whether the token itself can administer the organization, for tokens without scopes. */
  async tryOrganization(deps: Deps, token: string, { id, login }: InstalledAccount): Promise<TrialVerdict> {
    return this.#trials.get([token, 'organization', String(id)], () =>
      askGitHub(deps, 'caller', `what this token may do with ${login}`, () =>
        tryOnOrganization(deps, token, login),
      ),
    );
  }
}

/** @param scopes the header `X-OAuth-Scopes`, which every answer to a classic or OAuth token has. */
async function grantOf(deps: Deps, token: string, scopes: string | undefined): Promise<Grant> {
  if (scopes !== undefined) return { by: 'scopes', scopes: readScopes(scopes) };
  const { oauth } = deps.config.app;
  const isOwn = token.startsWith('ghu_') && oauth !== null && (await isOwnToken(deps, oauth, token));
  return { by: isOwn ? 'sign-in' : 'trial' };
}

async function isOwnAdmin(deps: Deps, token: string, owner: InstalledAccount): Promise<boolean> {
  const { rest } = deps.github.asPerson(token);
  const { data } = await rest.orgs.getMembershipForAuthenticatedUser({ org: owner.login });
  return isActiveAdmin(data, owner);
}

async function ownPermission(deps: Deps, token: string, id: bigint): Promise<RepositoryPermission> {
  const { request } = deps.github.asPerson(token);
  const { data } = (await request('GET /repositories/{repository_id}', { repository_id: Number(id) })) as {
    data: { permissions?: { admin?: boolean } };
  };
  return data.permissions?.admin ? 'admin' : 'read';
}

/** A suspended installation has no tokens, so the caller's own is asked with. */
const payerOf = ({ id, suspendedAt }: Pick<FoundRepository['installation'], 'id' | 'suspendedAt'>): Payer =>
  suspendedAt ? 'caller' : id;
