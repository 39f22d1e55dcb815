import type { Deps } from '../deps.ts';
import { conflict, notFound } from '../errors.ts';
import { askGitHub } from '../github/ask-github.ts';
import { greatestNumber } from '../github/pull-requests/pull-request.ts';
import { isGitHubStatus } from '../github/github-error.ts';
import { placesIn, stacksOf } from '../github/pull-requests/stacks.ts';
import { type FoundRepository, fullName } from '../installations/find-repository.ts';

/** What an exemption is pinned to. @property seenAt when the pull request last changed, according to GitHub's clock. */
export type Head = { headSha: string; seenAt: Date; baseRef: string };

/**
 * The head of an open pull request that GitHub shows now.
 * @throws Refusal not-found if the pull request does not exist; conflict if it is closed; unavailable while GitHub does
 *   not answer.
 */
export async function readHead(deps: Deps, repository: FoundRepository, number: bigint): Promise<Head> {
  const name = fullName(repository);
  const absent = notFound(`${name} has no pull request ${number}.`);
  if (number > greatestNumber) throw absent;
  const pullRequest = await askGitHub(
    deps,
    repository.installation.id,
    `which head ${name}#${number} has`,
    async () => {
      const client = await deps.github.asInstallation(repository.installation.id);
      try {
        const { data } = await client.rest.pulls.get({
          owner: repository.account.login,
          repo: repository.name,
          pull_number: Number(number),
        });
        return data;
      } catch (error) {
        throw isGitHubStatus(error, 404) ? absent : error;
      }
    },
  );
  if (pullRequest.state !== 'open')
    throw conflict(`${name}#${number} is closed, so nothing holds it. Reopen it on GitHub first.`);
  const { head, base, updated_at } = pullRequest;
  const stack = placesIn(stacksOf(repository)).get(Number(number));
  return { headSha: head.sha, seenAt: new Date(updated_at), baseRef: stack?.base ?? base.ref };
}
