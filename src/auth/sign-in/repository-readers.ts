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

/** Questions to GitHub that one person's page loads may make us ask. */
export const questionsPerMinute = 30;

/** Changes that one person may try by pages: what each asks of GitHub is asked anew. */
export const changesPerMinute = 30;

/**
 * Asks GitHub what people who are signed in may do with a repository or an owner, and remembers it for a short time:
 * 60 s a yes, 10 s a no. A name that is not known costs its asker as much, so that what is hidden cannot be told from
 * what is not there.
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
   * @param memory `refresh` asks now, whatever is remembered, and counts nothing: `countChange` did.
   * @throws Refusal unavailable while GitHub cannot say; too-many-requests after too many questions of this person.
   */
  async permission(
    deps: Deps,
    person: Person,
    repository: FoundRepository,
    memory: Memory = 'get',
  ): Promise<RepositoryPermission> {
    // Without a token of the installation nobody can be asked.
    if (repository.installation.suspendedAt) return 'none';
    const about = `what ${person.login} may do with ${fullName(repository)}`;
    const key = [String(person.id), person.login, String(repository.id)];
    return this.#permissions[memory](key, async () => {
      if (memory === 'get') await countQuestion(deps, person);
      return askGitHub(deps, about, async () => {
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
   * @param memory and throws as for `permission`.
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
      return askGitHub(deps, about, async () => {
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
   * Looks a name up at GitHub that is not known here: of a repository that is new, or was renamed.
   * @returns null where the App is not installed there.
   * @throws Refusal unavailable, as `permission`.
   */
  async lookUp(deps: Deps, person: Person, owner: string, name: string): Promise<FoundRepository | null> {
    const key = [String(person.id), owner.toLowerCase(), name.toLowerCase()];
    return this.#lookedUp.get(key, async () => {
      await countQuestion(deps, person);
      try {
        return await findRepository(deps, owner, name);
      } catch (error) {
        // Also of an owner whose installation is suspended: what one may see there cannot be asked.
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

/** Counts a change that somebody tries by a page. @throws Refusal too-many-requests. */
export async function countChange(deps: Deps, { id, login }: Person): Promise<void> {
  const name = `changer ${bucketOf(deps, 'reader', String(id))}`;
  if (!(await takeOne(deps, name, changesPerMinute)))
    throw tooManyRequests(
      `${login} changed too much in a minute. Nothing was changed now: send the form again in a minute.`,
      60,
    );
}
