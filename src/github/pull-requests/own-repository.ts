import type { GitHubClient } from '../github-app.ts';
import { NotOurRepository } from '../github-error.ts';
import type { LoadFrom } from './load-pull-requests.ts';
import type { PullRequestAnswer } from './pull-request-answer.ts';

// Names get other owners: GitHub frees the old name of a repository or an account at once. So what acts asks by id, or asks
// for the id and compares it.

/** The repository, as variables of queries. These ask for its `databaseId`, and their answers go through `ours`. */
export const ownNames = ({ repository }: Pick<LoadFrom, 'repository'>) => ({
  owner: repository.account.login,
  name: repository.name,
});

/**
 * An answer about the repository, if it is ours.
 * @throws NotOurRepository if the name belongs to another one by now.
 */
export function ours<Answer extends { databaseId: number | null }>(
  { repository }: Pick<LoadFrom, 'repository'>,
  answer: Answer | null,
): Answer | null {
  if (answer === null || BigInt(answer.databaseId ?? 0) === repository.id) return answer;
  throw new NotOurRepository(repository.id, `${repository.account.login}/${repository.name}`);
}

/** Node ids need no name, but facts that are read alone do: they must be of this repository under this name. */
export function assertStillNamed(from: LoadFrom, { repository }: PullRequestAnswer): void {
  ours(from, repository);
  const { owner, name } = ownNames(from);
  if (repository.nameWithOwner.toLowerCase() !== `${owner}/${name}`.toLowerCase())
    throw new NotOurRepository(from.repository.id, `${owner}/${name}`);
}

type RestPullRequest = Awaited<ReturnType<GitHubClient['rest']['pulls']['get']>>['data'];

/** A pull request as REST gives it, by the id of its repository: the name can get another owner. @throws GitHub's error. */
export async function readOwnPullRequest(
  client: GitHubClient,
  repositoryId: bigint,
  number: number,
): Promise<RestPullRequest> {
  const path = 'GET /repositories/{repository_id}/pulls/{pull_number}';
  const ids = { repository_id: Number(repositoryId), pull_number: number };
  return ((await client.request(path, ids)) as { data: RestPullRequest }).data;
}
