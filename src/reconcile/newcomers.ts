import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { jobs } from '../queue/jobs.ts';
import type { LoadedPullRequest } from '../github/pull-requests/load-pull-requests.ts';
import type { Observed } from './observe.ts';
import { shasOf } from './save.ts';

// Two pull requests may come to one SHA, as head or test merge commit, while two observations are under way that each see only one of them.
// So observations of a repository save one after another, and the one that saves later finds the newcomer.

/**
 * Has a pull request looked at that shares a SHA with a judged one and that this observation did not see.
 * @param seen all that it saw, the judged ones among them.
 */
export async function judgeNewcomers(
  deps: Deps,
  tx: Tx,
  { repository }: Observed,
  judged: LoadedPullRequest[],
  seen: LoadedPullRequest[] = judged,
): Promise<void> {
  const shas = judged.flatMap(shasOf);
  const [first] = await tx.$queryRaw<{ number: number }[]>`
    SELECT other.number FROM open_pull_requests other
    WHERE other.repository_id = ${repository.id}
      AND (other.head_sha = ANY(${shas}::text[]) OR other.merge_sha = ANY(${shas}::text[]))
      AND other.number <> ALL(${seen.map(({ facts }) => facts.number)}::int[])
    LIMIT 1`;
  if (!first) return;
  await deps.queue.send(
    [
      jobs.reconcilePullRequest(repository.id, {
        number: first.number,
        installationId: String(repository.installation.id),
      }),
    ],
    tx,
  );
}
