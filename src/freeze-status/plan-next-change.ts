import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { refreshRepository } from '../jobs/tasks.ts';
import type { LoadedPullRequest } from '../pull-requests/load-pull-requests.ts';
import { nextChangeAmong } from './decide-status.ts';
import type { Refreshable } from './refreshable.ts';

/**
 * Keeps when time alone could next change a verdict (a schedule begins, a pull request turns a week old), and has
 * the repository looked at then. Part of the transaction that saves the verdicts.
 * @param isWhole whether every open pull request was looked at, so that the instant replaces the former one; unless
 *   another reading was begun meanwhile, which may know of an earlier instant.
 */
export async function planNextChange(
  deps: Deps,
  tx: Tx,
  { repository, reading, freezes, readAt }: Refreshable,
  pullRequests: LoadedPullRequest[],
  isWhole: boolean,
): Promise<void> {
  const next = nextChangeAmong(
    freezes,
    pullRequests.map(({ facts }) => facts),
    readAt,
  );
  if (!next && !isWhole) return;
  await tx.$executeRaw`
    UPDATE repositories SET next_change_at = CASE
      WHEN ${isWhole} AND readings = ${reading} THEN ${next}::timestamptz
      ELSE LEAST(next_change_at, ${next}::timestamptz) END
    WHERE id = ${repository.id}`;
  if (next) await deps.jobs.send([refreshRepository(repository.id, next)], tx);
}
