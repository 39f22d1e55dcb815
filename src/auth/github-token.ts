import type { Clock } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { askGitHub } from '../github/ask-github.ts';
import { isOwnToken } from '../github/own-tokens.ts';
import type { InstalledAccount } from '../installations/find-account.ts';
import { type FoundRepository, fullName } from '../installations/find-repository.ts';
import { isActiveAdmin } from './owner-admin.ts';
import { answered, type Recency } from './permissions.ts';
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

export type TokenHolder = { person: Person; grant: Grant };

/** Prefixes of tokens of people. They are only a hint: GitHub decides, and lengths say nothing. */
const personal = ['ghp_', 'github_pat_', 'gho_', 'ghu_'];

/** Whether the credential looks like a person's GitHub token. Installation tokens (`ghs_`) belong to nobody. */
export const looksLikePersonalToken = (credential: string): boolean =>
  personal.some((prefix) => credential.startsWith(prefix));

/** Milliseconds for which a token that GitHub does not know is refused without another question. */
const refusedFor = 600_000;

/** Asks GitHub who holds a token, what it was granted and what it can do itself. Caches the answers briefly. */
export class GitHubTokens {
  readonly #holders: VerdictCache<TokenHolder | null>;
  readonly #admins: VerdictCache<boolean>;
  readonly #trials: VerdictCache<TrialVerdict>;

  constructor(clock: Clock) {
    this.#holders = new VerdictCache(clock, (holder) => holder !== null, refusedFor);
    this.#admins = new VerdictCache(clock, (isAdmin) => isAdmin);
    this.#trials = new VerdictCache(clock, (verdict) => verdict === 'yes');
  }

  /** Who holds the token, and its limits; null if GitHub does not know it or it belongs to no person. */
  async identify(deps: Deps, token: string): Promise<TokenHolder | null> {
    const ask = () =>
      askGitHub(
        deps,
        'caller',
        'whose token this is',
        answered(deps, null, async () => {
          const { data, headers } = await deps.github.asPerson(token).rest.users.getAuthenticated();
          const grant = await grantOf(deps, token, headers['x-oauth-scopes']);
          return { person: { id: data.id, login: data.login }, grant };
        }),
      );
    const isRefused = (holder: TokenHolder | null) => holder === null;
    return this.#holders.get([token], () => deps.questions?.whoIs(token, isRefused, ask) ?? ask());
  }

  /** Whether the token shows that its holder administers the repository. For suspended installations, which cannot ask. */
  async administersRepository(
    deps: Deps,
    token: string,
    repository: FoundRepository,
    { isLive }: Recency = {},
  ): Promise<boolean> {
    const parts = [token, 'repository', String(repository.id)];
    return this.#admins[isLive ? 'refresh' : 'get'](parts, () =>
      askGitHub(
        deps,
        'caller',
        `what this token may do with ${fullName(repository)}`,
        answered(deps, false, () => isOwnRepository(deps, token, repository.id)),
      ),
    );
  }

  /** The same for the organization. */
  async administersOrganization(deps: Deps, token: string, owner: InstalledAccount): Promise<boolean> {
    return this.#admins.get([token, 'owner', String(owner.id)], () =>
      askGitHub(
        deps,
        'caller',
        `what this token may do with ${owner.login}`,
        answered(deps, false, () => isOwnAdmin(deps, token, owner)),
      ),
    );
  }

  /** Whether the token itself can administer the repository, for tokens without scopes. */
  async tryRepository(
    deps: Deps,
    token: string,
    repository: Pick<FoundRepository, 'id' | 'private' | 'name' | 'account'>,
    { isLive }: Recency = {},
  ): Promise<TrialVerdict> {
    return this.#trials[isLive ? 'refresh' : 'get']([token, 'repository', String(repository.id)], () =>
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

async function isOwnRepository(deps: Deps, token: string, id: bigint): Promise<boolean> {
  const { request } = deps.github.asPerson(token);
  const { data } = (await request('GET /repositories/{repository_id}', { repository_id: Number(id) })) as {
    data: { permissions?: { admin?: boolean } };
  };
  return data.permissions?.admin === true;
}
