import type { FactNeeds } from '../conditions/needed-facts.ts';
import type { Deps } from '../deps.ts';
import { askGitHub } from '../github/ask-github.ts';
import type { LoadFrom } from '../github/pull-requests/load-pull-requests.ts';
import { type FoundRepository, fullName } from '../installations/find-repository.ts';

/**
 * Reads pull requests from GitHub for somebody who waits. A pause of the installation does not keep it from asking:
 * most are about writing statuses, and GitHub says itself when it will not answer.
 * @throws Refusal unavailable while GitHub cannot answer.
 */
export async function readForExplanation<Answer>(
  deps: Deps,
  repository: FoundRepository,
  needs: FactNeeds,
  read: (from: LoadFrom) => Promise<Answer>,
): Promise<Answer> {
  return askGitHub(deps, `which pull requests ${fullName(repository)} has`, async () => {
    const { id, permissions } = repository.installation;
    const client = await deps.github.asInstallation(id, permissions);
    return read({ deps, client, repository, needs });
  });
}
