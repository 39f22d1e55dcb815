import type { GitHubClient } from '../github/github-app.ts';
import type { StatusCount } from './status-budget.ts';

/** A status with our context, as GitHub lists it. */
export type ListedStatus = { id: bigint; at: Date; state: string; description: string; isOurs: boolean };

/** The statuses of a commit with our context, newest first. */
export type StatusList = {
  statuses: ListedStatus[];
  /** Null if we did not list all of them. */
  count: StatusCount | null;
};

const onPage = 100;
/** We stop counting after this many statuses of all contexts. */
const mostPages = 50;

/**
 * Reads the statuses of a commit with our context. GitHub lists the statuses of all contexts, 100 per page.
 * @param isCounting whether we need all, or only the page with our newest one.
 * @param mayGoOn is called after each page.
 * @returns null if it may not go on.
 * @throws GitHub's error.
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
