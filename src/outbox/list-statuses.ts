import type { GitHubClient } from '../github/github-app.ts';
import type { StatusCount } from './status-budget.ts';

/** A status under our context, as GitHub lists it. */
export type ListedStatus = { id: bigint; at: Date; state: string; description: string; isOurs: boolean };

/** The statuses of a commit under our context, the newest first. */
export type StatusList = {
  statuses: ListedStatus[];
  /** Null where not all of them were listed. */
  count: StatusCount | null;
};

const onPage = 100;
/** A commit with more statuses than this, of all contexts, is not counted to its end. */
const mostPages = 50;

/**
 * Reads what stands on a commit under our context. GitHub lists the statuses of all contexts, 100 a page.
 * @param isCounting whether all are wanted, or the page with the newest of ours is enough.
 * @param mayGoOn asked after each page.
 * @returns null where it may not go on.
 * @throws what GitHub answers.
 */
export async function listStatuses(
  { client, context, botLogin }: { client: GitHubClient; context: string; botLogin: string },
  commit: { owner: string; repo: string; ref: string },
  isCounting: boolean,
  mayGoOn: () => Promise<boolean>,
): Promise<StatusList | null> {
  const statuses: ListedStatus[] = [];
  for (let page = 1; page <= mostPages; page++) {
    const { data } = await client.rest.repos.listCommitStatusesForRef({ ...commit, per_page: onPage, page });
    for (const status of data) {
      if (status.context.toLowerCase() !== context.toLowerCase()) continue;
      statuses.push({
        id: BigInt(status.id),
        at: new Date(status.created_at),
        state: status.state,
        description: status.description ?? '',
        isOurs: status.creator?.login === botLogin,
      });
    }
    if (!(await mayGoOn())) return null;
    if (data.length < onPage) return { statuses, count: countOf(statuses) };
    if (!isCounting && statuses.length > 0) break;
  }
  return { statuses, count: null };
}

function countOf(statuses: ListedStatus[]): StatusCount {
  const writes = statuses.filter(({ isOurs }) => isOurs).length;
  return { writes, overwrites: statuses.length - writes };
}
