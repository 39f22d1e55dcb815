import type { Memory, Person } from '../github-token.ts';
import { askOwnerAdmin } from '../owner-admin.ts';
import { askPermission, isRefusal, type RepositoryPermission } from '../repository-permission.ts';
import { VerdictCache } from '../verdict-cache.ts';
import type { Clock } from '../../clock.ts';
import type { Deps } from '../../deps.ts';
import { isTooManyRequests, isUnavailable, Refusal, tooManyRequests } from '../../errors.ts';
import { askGitHub } from '../../github/ask-github.ts';
import { bucketOf } from '../../github/limits/bucket.ts';
import { takeOne } from '../../github/limits/minute-counts.ts';
import type { InstalledAccount } from '../../installations/find-account.ts';
import { findRepository, type FoundRepository, fullName } from '../../installations/find-repository.ts';

/** The most questions to GitHub for one person's page loads. */
export const questionsPerMinute = 30;

/** The most changes that one person can try by pages. Each asks GitHub again. */
export const changesPerMinute = 30;

/**
 * Asks GitHub what signed-in people can do with a repository or an owner, and caches the answers: a yes for 60 s, a no
 * for 10 s. An unknown name costs the person the same, so that nobody can tell a hidden repository from one that does
 * not exist.
 */
export class RepositoryReaders {
  readonly #permissions: VerdictCache<RepositoryPermission>;
  readonly #owners: VerdictCache<boolean>;
  readonly #lookedUp: VerdictCache<FoundRepository | null>;

  constructor(clock: Clock) {
    this.#permissions = new VerdictCache(clock, (permission) => permission !== 'none');
    this.#owners = new VerdictCache(clock, (isAdmin) => isAdmin);
    this.#lookedUp = new VerdictCache(clock, () => false);
  }

  /**
   * @param memory `refresh` ignores the cache and counts nothing, because `countChange` did.
   * @throws Refusal unavailable while GitHub cannot say; too-many-requests after too many questions of this person.
   */
  async permission(
    deps: Deps,
    person: Person,
    repository: FoundRepository,
    memory: Memory = 'get',
  ): Promise<RepositoryPermission> {
    // Without a token of the installation, we cannot ask.
    if (repository.installation.suspendedAt) return 'none';
    const about = `what ${person.login} may do with ${fullName(repository)}`;
    const key = [String(person.id), person.login, String(repository.id)];
    return this.#permissions[memory](key, async () => {
      if (memory === 'get') await countQuestion(deps, person);
      return askGitHub(deps, repository.installation.id, about, async () => {
        try {
          return await askPermission(deps, person, repository);
        } catch (error) {
          if (isRefusal(error, deps)) return 'none';
          throw error;
        }
      });
    });
  }

  /**
   * Whether the person is the owner, or an admin of the organization.
   * @param memory like `permission`, and so are the errors.
   */
  async isOwnerAdmin(
    deps: Deps,
    person: Person,
    owner: InstalledAccount,
    memory: Memory = 'get',
  ): Promise<boolean> {
    if (BigInt(person.id) === owner.id) return true;
    if (owner.installation.suspendedAt || owner.type !== 'Organization') return false;
    const about = `whether ${person.login} is an admin of ${owner.login}`;
    return this.#owners[memory]([String(person.id), person.login, String(owner.id)], async () => {
      if (memory === 'get') await countQuestion(deps, person);
      return askGitHub(deps, owner.installation.id, about, async () => {
        try {
          return await askOwnerAdmin(deps, person, owner);
        } catch (error) {
          if (isRefusal(error, deps)) return false;
          throw error;
        }
      });
    });
  }

  /**
   * Looks up an unknown name at GitHub: the repository may be new or renamed.
   * @returns null if the App is not installed there.
   * @throws Refusal unavailable, like `permission`.
   */
  async lookUp(deps: Deps, person: Person, owner: string, name: string): Promise<FoundRepository | null> {
    const key = [String(person.id), owner.toLowerCase(), name.toLowerCase()];
    return this.#lookedUp.get(key, async () => {
      await countQuestion(deps, person);
      try {
        return await findRepository(deps, owner, name);
      } catch (error) {
        // This also applies to an owner whose installation is suspended: we cannot ask what people see there.
        if (error instanceof Refusal && !isTemporary(error)) return null;
        throw error;
      }
    });
  }
}

const isTemporary = (refusal: Refusal): boolean => isUnavailable(refusal) || isTooManyRequests(refusal);

async function countQuestion(deps: Deps, { id, login }: Person): Promise<void> {
  const name = `reader ${bucketOf(deps, 'reader', String(id))}`;
  if (!(await takeOne(deps, name, questionsPerMinute)))
    throw tooManyRequests(`${login} loaded too many pages. Load this one in a minute.`, 60);
}

/** Counts a change that somebody tries on a page. @throws Refusal too-many-requests. */
export async function countChange(deps: Deps, { id, login }: Person): Promise<void> {
  const name = `changer ${bucketOf(deps, 'reader', String(id))}`;
  if (!(await takeOne(deps, name, changesPerMinute)))
    throw tooManyRequests(
      `${login} changed too much in a minute. Nothing was changed now: send the form again in a minute.`,
      60,
    );
}
