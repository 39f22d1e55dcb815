import type { Actor } from '../auth/actor.ts';
import { nowOf } from '../clock.ts';
import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../errors.ts';
import { isGitHubStatus } from '../github/github-error.ts';
import { refreshPullRequest } from '../jobs/tasks.ts';
import { assertWritable, type FoundRepository, fullName } from '../repositories/find-repository.ts';

/** GraphQL's integers end here, and GitHub's numbers with them. */
const greatestOnGitHub = 2_147_483_647n;

export type PushedScopes = { scopes: string[]; allScopes: boolean };

/**
 * Replaces the scopes of a pull request. The same push again changes nothing.
 * @param number exact over the interface's whole range, which is wider than a float or an int8.
 * @param onSaved runs in the same transaction.
 * @throws Refusal not-found where GitHub says that there is no such pull request; conflict where the repository
 *   cannot be written to. While GitHub cannot say, the scopes are stored all the same.
 */
export async function pushScopes(
  deps: Deps,
  actor: Actor,
  repository: FoundRepository,
  number: bigint,
  pushed: PushedScopes,
  onSaved: (tx: Tx) => Promise<void> = async () => {},
): Promise<void> {
  assertWritable(repository);
  if (!(await mayExist(deps, repository, number))) {
    throw notFound(`${fullName(repository)} has no pull request ${number}.`);
  }
  const key = { repositoryId: repository.id, number: String(number) };
  const data = {
    scopes: [...new Set(pushed.scopes)],
    allScopes: pushed.allScopes,
    pushedAt: nowOf(deps.clock),
    pushedBy: actor,
  };
  await deps.db.$transaction(async (tx) => {
    await tx.pullRequestScopes.upsert({
      where: { repositoryId_number: key },
      create: { ...key, ...data },
      update: data,
    });
    if (number <= greatestOnGitHub) {
      await deps.jobs.send(
        [
          refreshPullRequest(repository.id, {
            number: Number(number),
            installationId: String(repository.installation.id),
          }),
        ],
        tx,
      );
    }
    await onSaved(tx);
  });
}

/** False only where GitHub clearly says no. */
async function mayExist(deps: Deps, repository: FoundRepository, number: bigint): Promise<boolean> {
  const isKnown =
    number <= greatestOnGitHub &&
    (await deps.db.openPullRequest.findUnique({
      where: { repositoryId_number: { repositoryId: repository.id, number: Number(number) } },
    }));
  if (isKnown) return true;
  try {
    const client = await deps.github.asInstallation(repository.installation.id);
    await client.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', {
      owner: repository.account.login,
      repo: repository.name,
      // A string: as a number it would lose its last digits.
      pull_number: String(number) as unknown as number,
    });
    return true;
  } catch (error) {
    if (isGitHubStatus(error, 404)) return false;
    deps.log.warn(
      { err: error, number: String(number) },
      'GitHub could not confirm a pull request; scopes kept',
    );
    return true;
  }
}
