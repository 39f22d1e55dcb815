import type { Person } from '../auth/github-token.ts';
import { askPermission, isRefusal, type RepositoryPermission } from '../auth/repository-permission.ts';
import { VerdictCache } from '../auth/verdict-cache.ts';
import type { Clock } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { askGitHub } from '../github/ask-github.ts';
import { type FoundRepository, fullName } from '../repositories/find-repository.ts';

/** Asks GitHub what people may do with a repository, and remembers it for a short time: 60 s a yes, 10 s a no. */
export class RepositoryReaders {
  readonly #verdicts: VerdictCache<RepositoryPermission>;

  constructor(clock: Clock) {
    this.#verdicts = new VerdictCache(clock, (permission) => permission !== 'none');
  }

  /** @throws Refusal unavailable while GitHub cannot say. */
  async permission(deps: Deps, person: Person, repository: FoundRepository): Promise<RepositoryPermission> {
    // Without a token of the installation nobody can be asked.
    if (repository.installation.suspendedAt) return 'none';
    const about = `what ${person.login} may do with ${fullName(repository)}`;
    return this.#verdicts.get([String(person.id), person.login, String(repository.id)], () =>
      askGitHub(deps, about, async () => {
        try {
          return await askPermission(deps, person, repository);
        } catch (error) {
          if (isRefusal(error, deps)) return 'none';
          throw error;
        }
      }),
    );
  }
}
