import type { Person } from '../auth/github-token.ts';
import { askPermission, isRefusal } from '../auth/repository-permission.ts';
import { VerdictCache } from '../auth/verdict-cache.ts';
import type { Clock } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { askGitHub } from '../github/ask-github.ts';
import { type FoundRepository, fullName } from '../repositories/find-repository.ts';

/** Asks GitHub who may read a private repository, and remembers it for a short time: 60 s a yes, 10 s a no. */
export class RepositoryReaders {
  readonly #verdicts: VerdictCache<boolean>;

  constructor(clock: Clock) {
    this.#verdicts = new VerdictCache(clock, (mayRead) => mayRead);
  }

  /** @throws Refusal unavailable while GitHub cannot say. */
  async mayRead(deps: Deps, person: Person, repository: FoundRepository): Promise<boolean> {
    // Without a token of the installation nobody can be asked.
    if (repository.installation.suspendedAt) return false;
    const about = `whether ${person.login} may read ${fullName(repository)}`;
    return this.#verdicts.get([String(person.id), person.login, String(repository.id)], () =>
      askGitHub(deps, about, async () => {
        try {
          return (await askPermission(deps, person, repository)) !== 'none';
        } catch (error) {
          if (isRefusal(error, deps)) return false;
          throw error;
        }
      }),
    );
  }
}
