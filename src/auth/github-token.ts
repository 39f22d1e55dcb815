import type { Clock } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { askGitHub } from '../github/ask-github.ts';
import type { InstalledAccount } from '../installations/find-account.ts';
import type { FoundRepository } from '../repositories/find-repository.ts';
import { askPermission, isRefusal, type RepositoryPermission } from './repository-permission.ts';
import { VerdictCache } from './verdict-cache.ts';

/** The person behind a token. */
export type Person = { id: number; login: string };

/** Prefixes of tokens behind which a person stands. A hint only: GitHub decides, and lengths say nothing. */
const personal = ['ghp_', 'github_pat_', 'gho_', 'ghu_'];

/** Whether the credential claims to be a person's GitHub token. Installation tokens (`ghs_`) are nobody's. */
export const looksLikePersonalToken = (credential: string): boolean =>
  personal.some((prefix) => credential.startsWith(prefix));

/** Asks GitHub who holds a token and what that person may do, and remembers it for a short time. */
export class GitHubTokens {
  readonly #people: VerdictCache<Person | null>;
  readonly #repositories: VerdictCache<RepositoryPermission>;
  readonly #owners: VerdictCache<boolean>;

  constructor(clock: Clock) {
    this.#people = new VerdictCache(clock, (person) => person !== null);
    this.#repositories = new VerdictCache(clock, (permission) => permission === 'admin');
    this.#owners = new VerdictCache(clock, (isAdmin) => isAdmin);
  }

  /** The person who holds the token; null when GitHub does not know it or no person stands behind it. */
  async identify(deps: Deps, token: string): Promise<Person | null> {
    return this.#people.get([token], () =>
      askGitHub(deps, 'whose token this is', async () => {
        try {
          const { data } = await deps.github.asPerson(token).rest.users.getAuthenticated();
          return { id: data.id, login: data.login };
        } catch (error) {
          if (isRefusal(error, deps)) return null;
          throw error;
        }
      }),
    );
  }

  /** What GitHub says that the person may do with the repository. Asked as the installation: it works for every kind of token. */
  async permission(
    deps: Deps,
    token: string,
    person: Person,
    repository: FoundRepository,
  ): Promise<RepositoryPermission> {
    const { account, installation, id, name } = repository;
    return this.#repositories.get([token, String(id)], () =>
      askGitHub(deps, `what ${person.login} may do with ${account.login}/${name}`, async () => {
        try {
          // A suspended installation has no tokens; then the person's own token must be able to show it.
          if (installation.suspendedAt) return await ownPermission(deps, token, account.login, name);
          return await askPermission(deps, person, repository);
        } catch (error) {
          if (isRefusal(error, deps)) return 'none';
          throw error;
        }
      }),
    );
  }

  /** Whether the person is the owner, or an admin of the organization. */
  async isOwnerAdmin(deps: Deps, token: string, person: Person, owner: InstalledAccount): Promise<boolean> {
    if (BigInt(person.id) === owner.id) return true;
    return this.#owners.get([token, String(owner.id)], () =>
      askGitHub(deps, `whether ${person.login} is an admin of ${owner.login}`, async () => {
        try {
          if (owner.installation.suspendedAt) return await isOwnAdmin(deps, token, owner.login);
          const client = await deps.github.asInstallation(owner.installation.id);
          const { data } = await client.rest.orgs.getMembershipForUser({
            org: owner.login,
            username: person.login,
          });
          return data.role === 'admin' && data.state === 'active';
        } catch (error) {
          if (isRefusal(error, deps)) return false;
          throw error;
        }
      }),
    );
  }
}

async function isOwnAdmin(deps: Deps, token: string, org: string): Promise<boolean> {
  const { data } = await deps.github.asPerson(token).rest.orgs.getMembershipForAuthenticatedUser({ org });
  return data.role === 'admin' && data.state === 'active';
}

async function ownPermission(
  deps: Deps,
  token: string,
  owner: string,
  repo: string,
): Promise<RepositoryPermission> {
  const { data } = await deps.github.asPerson(token).rest.repos.get({ owner, repo });
  return data.permissions?.admin ? 'admin' : 'read';
}
