import type { Actor } from '../../events/actor.ts';
import { nowOf } from '../../clock.ts';
import type { SqlTx } from '../../database/sql.ts';
import type { Deps } from '../../deps.ts';
import { notFound } from '../../errors.ts';
import { isGitHubStatus } from '../../github/github-error.ts';
import { jobs } from '../../queue/jobs.ts';
import { assertWritable, type FoundRepository, fullName } from '../../installations/find-repository.ts';
import { greatestNumber } from '../../github/greatest-number.ts';
import { beforePush, type Push, type PushedScopes, saveAndSee, saveWhereUnread } from './scope-store.ts';

/**
 * Replaces the scopes of a pull request. The same push again changes nothing.
 * @param beforeSaving runs first in the transaction that saves. Without it, most pushes need no transaction.
 * @throws Refusal not-found if GitHub says that there is no such pull request; conflict if the repository cannot be
 *   written to. If GitHub cannot say, this saves the scopes.
 */
export async function pushScopes(
  deps: Deps,
  by: Actor,
  repository: FoundRepository,
  pushed: PushedScopes,
  beforeSaving?: (tx: SqlTx) => Promise<void>,
): Promise<void> {
  assertWritable(repository);
  const { number } = pushed;
  const { isOpen, isSame } = await beforePush({ query: deps.sql.read }, repository.id, pushed);
  if (!isOpen && !(await mayExist(deps, repository, number))) {
    throw notFound(`${fullName(repository)} has no pull request ${number}.`);
  }
  const push = { ...pushed, repositoryId: repository.id, by, at: nowOf(deps.clock) };
  if (!beforeSaving && (isSame || (await saveWhereUnread(deps.sql, push)))) return;
  await deps.sql.transaction(async (tx) => {
    await beforeSaving?.(tx);
    if (await saveAndSee(tx, push)) await haveJudged(deps, tx, repository, push);
  });
}

/** Sends the jobs that judge the pull request by its new scopes. */
async function haveJudged(deps: Deps, tx: SqlTx, { installation }: FoundRepository, push: Push) {
  if (push.number > greatestNumber) return;
  const told = { number: Number(push.number), installationId: String(installation.id) };
  await deps.queue.send([jobs.reconcilePullRequest(push.repositoryId, told)], tx);
}

/** False only if GitHub clearly says no. */
async function mayExist(deps: Deps, repository: FoundRepository, number: bigint): Promise<boolean> {
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
