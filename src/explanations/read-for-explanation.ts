import type { FactNeeds } from '../conditions/needs.ts';
import type { Deps } from '../deps.ts';
import { askGitHub } from '../github/ask-github.ts';
import type { LoadFrom } from '../github/pull-requests/load-pull-requests.ts';
import { stacksOf } from '../github/pull-requests/stacks.ts';
import { type FoundRepository, fullName } from '../installations/find-repository.ts';

/**
 * Reads pull requests from GitHub for a person who waits. Ignores a pause of the installation: most pauses are about
 * writing statuses, and GitHub refuses if it will not answer.
 * @throws Refusal unavailable while GitHub does not answer.
 */
export async function readForExplanation<Answer>(
  deps: Deps,
  repository: FoundRepository,
  needs: FactNeeds,
  read: (from: LoadFrom) => Promise<Answer>,
): Promise<Answer> {
  return askGitHub(
    deps,
    repository.installation.id,
    `which pull requests ${fullName(repository)} has`,
    async () => {
      const { id, permissions } = repository.installation;
      const client = await deps.github.asInstallation(id, permissions);
      return read({ deps, client, repository, needs, stacks: stacksOf(repository) });
    },
  );
}
