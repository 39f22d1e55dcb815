import { type Cache, createCache } from '../github/cache.ts';
import type { Clock } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { askGitHub, reservedUntil } from '../github/ask-github.ts';
import type { InstalledAccount } from '../installations/find-account.ts';
import { type FoundRepository, fullName } from '../installations/find-repository.ts';
import type { Person } from './github-token.ts';
import { askOwnerAdmin } from './owner-admin.ts';
import { askPermission, isRefusal, type RepositoryPermission } from './repository-permission.ts';
import { VerdictCache } from './verdict-cache.ts';

/** Which answers of GitHub are recent enough. Without either, a yes counts for 60 s and a no for 10 s. */
export type Recency = {
  /** Asks GitHub at this moment. Of earlier answers, only a no counts, for 10 s. */
  isLive?: boolean;
  /**
   * If the rest of the installation's hour is reserved, the last answer counts for an hour. For what holds pull requests:
   * nobody can keep an admin from freezing by using up the hour.
   */
  isUrgent?: boolean;
};

/** Which answers are a yes, which counts for 60 s, and which are a no to somebody who asks again and again. */
const judgements = {
  /** A page shows something to every reader. Its forms are counted. */
  page: {
    isYes: (permission: RepositoryPermission) => permission !== 'none',
    isNo: (permission: RepositoryPermission) => permission === 'none',
  },
  token: {
    isYes: (permission: RepositoryPermission) => permission === 'admin',
    isNo: (permission: RepositoryPermission) => permission === 'none' || permission === 'read',
  },
};

/** Milliseconds for which an admin stays one for what is urgent. */
const lastFor = 3_600_000;

/**
 * What GitHub says that people may do, asked as the installation. While that is suspended, only a token that a person
 * sent can show it.
 */
export class Permissions {
  readonly #repositories: VerdictCache<RepositoryPermission>;
  readonly #owners: VerdictCache<boolean>;
  /** People and what they were admins of when GitHub was last asked. */
  readonly #admins: Cache<string, true>;

  constructor(clock: Clock) {
    this.#repositories = new VerdictCache(clock, judgements.page.isYes);
    this.#owners = new VerdictCache(clock, (isAdmin) => isAdmin);
    this.#admins = createCache(clock, 10_000, lastFor);
  }

  /**
   * @param token the one that the person sent; null on pages.
   * @throws Refusal unavailable while GitHub cannot say; too-many-requests after too many questions of this caller.
   */
  async ofRepository(
    deps: Deps,
    person: Person,
    repository: FoundRepository,
    recency: Recency = {},
    token: string | null = null,
  ): Promise<RepositoryPermission> {
    const { installation, id } = repository;
    if (installation.suspendedAt) {
      const isAdmin = token !== null && deps.tokens.administersRepository(deps, token, repository, recency);
      return (await isAdmin) ? 'admin' : 'none';
    }
    const about = `repository ${id}`;
    if (this.#countsAsAdmin(deps, person, about, installation.id, recency)) return 'admin';
    const question = `what ${person.login} may do with ${fullName(repository)}`;
    const ask = answered(deps, 'none' as const, () => askPermission(deps, person, repository));
    const { isYes, isNo } = judgements[token === null ? 'page' : 'token'];
    const parts = [token ?? '', String(person.id), person.login, about];
    const remembered = async () => {
      const permission = await askGitHub<RepositoryPermission>(deps, installation.id, question, ask);
      this.#remember(person, about, permission === 'admin');
      return permission;
    };
    return recency.isLive
      ? this.#repositories.refresh(parts, remembered, isNo)
      : this.#repositories.get(parts, remembered, isYes);
  }

  /** Whether the person is the owner, or an admin of the organization. Parameters and errors as `ofRepository`. */
  async isOwnerAdmin(
    deps: Deps,
    person: Person,
    owner: InstalledAccount,
    recency: Recency = {},
    token: string | null = null,
  ): Promise<boolean> {
    if (BigInt(person.id) === owner.id) return true;
    const { installation } = owner;
    if (installation.suspendedAt)
      return token !== null && deps.tokens.administersOrganization(deps, token, owner);
    if (owner.type !== 'Organization') return false;
    const about = `owner ${owner.id}`;
    if (this.#countsAsAdmin(deps, person, about, installation.id, recency)) return true;
    const question = `whether ${person.login} is an admin of ${owner.login}`;
    const ask = answered(deps, false, () => askOwnerAdmin(deps, person, owner));
    const parts = [token ?? '', String(person.id), person.login, about];
    return this.#owners[recency.isLive ? 'refresh' : 'get'](parts, async () => {
      const isAdmin = await askGitHub(deps, installation.id, question, ask);
      this.#remember(person, about, isAdmin);
      return isAdmin;
    });
  }

  #countsAsAdmin(
    deps: Deps,
    { id }: Person,
    about: string,
    installationId: bigint,
    { isUrgent }: Recency,
  ): boolean {
    if (!isUrgent || !this.#admins.get(`${id} ${about}`)) return false;
    return reservedUntil(deps, installationId) !== null;
  }

  #remember({ id }: Person, about: string, isAdmin: boolean): void {
    if (isAdmin) this.#admins.set(`${id} ${about}`, true);
    else this.#admins.delete(`${id} ${about}`);
  }
}

/** The question, with GitHub's clear refusal as an answer. */
export const answered =
  <Answer>(deps: Pick<Deps, 'clock'>, refused: Answer, ask: () => Promise<Answer>) =>
  async (): Promise<Answer> => {
    try {
      return await ask();
    } catch (error) {
      if (isRefusal(error, deps)) return refused;
      throw error;
    }
  };
