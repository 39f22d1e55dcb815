import type { HeadStatus } from '../generated/prisma/client.ts';
import { mergeGroupPath, pullRequestPath } from '../page-paths.ts';
import { isUsedUp, type StatusCount } from './plan-write.ts';
import { type Status, wantedOn } from './status.ts';
import type { Write } from './write-store.ts';
import type { StatusDeps } from './status-deps.ts';

/** A status with GitHub's id and time. */
export type Posted = { id: bigint; at: Date };

/** A commit in the base repository, where statuses also count for pull requests from forks. */
type Commit = Pick<Write, 'owner' | 'repo' | 'sha'>;

/** Whether a write must check first: an earlier write may have arrived, others wrote, or the number is unknown. */
export const looksFirst = ({ attempts, countedId }: Pick<HeadStatus, 'attempts' | 'countedId'>): boolean =>
  attempts > 0 || countedId === null;

/** A status with our context, as GitHub lists it. */
type ListedStatus = { id: bigint; at: Date; state: string; description: string; isOurs: boolean };

/** The statuses of a commit with our context, newest first. */
export type StatusList = {
  statuses: ListedStatus[];
  /** Null if we did not list all of them. */
  count: StatusCount | null;
};

const onPage = 100;
/** We stop counting after this many statuses of all contexts. */
const mostPagesOfStatuses = 50;

/**
 * Reads the statuses of a commit with our context. GitHub lists the statuses of all contexts, 100 per page.
 * @param isCounting whether we need all, or only the page with our newest one.
 * @param mayGoOn is called after each page.
 * @returns null if it may not go on.
 * @throws GitHub's error.
 */
export async function lookAtStatuses(
  deps: Pick<StatusDeps, 'github' | 'config'>,
  installationId: bigint,
  { owner, repo, sha: ref }: Commit,
  isCounting: boolean,
  mayGoOn: () => Promise<boolean>,
): Promise<StatusList | null> {
  const client = await deps.github.asInstallation(installationId);
  const botLogin = await deps.github.botLogin();
  const context = deps.config.statusContext.toLowerCase();
  const statuses: ListedStatus[] = [];
  for (let page = 1; page <= mostPagesOfStatuses; page++) {
    const { data } = await client.rest.repos.listCommitStatusesForRef({
      owner,
      repo,
      ref,
      per_page: onPage,
      page,
    });
    for (const status of data) {
      if (status.context.toLowerCase() !== context) continue;
      statuses.push({
        id: BigInt(status.id),
        at: new Date(status.created_at),
        state: status.state,
        description: status.description ?? '',
        isOurs: status.creator?.login === botLogin,
      });
    }
    if (!(await mayGoOn())) return null;
    if (data.length < onPage) return { statuses, count: countOfStatuses(statuses) };
    if (!isCounting && statuses.length > 0) break;
  }
  return { statuses, count: null };
}

function countOfStatuses(statuses: ListedStatus[]): StatusCount {
  const writes = statuses.filter(({ isOurs }) => isOurs).length;
  return { writes, overwrites: statuses.length - writes };
}

/** The status to write: the verdict, or the last `pending` if the statuses are used up. */
export function wantedBy(head: Write, list: StatusList | null): Status & { isFinal: boolean } {
  const isUncountable = list !== null && list.count === null && countsFirst(head);
  const isFinal = head.isFinal || isUncountable || isUsedUp(list?.count ?? head);
  return { ...wantedOn({ ...head, isFinal }), isFinal };
}

type Counted = Pick<HeadStatus, 'isFinal' | 'countedId' | 'contradictedBy'>;

/** Whether a check must count statuses, because others wrote. Does not count again after the final status. */
export const countsFirst = ({ isFinal, countedId, contradictedBy }: Counted): boolean =>
  !isFinal && (countedId === null || contradictedBy !== null);

type Heard = Pick<HeadStatus, 'writtenId' | 'contradictedBy'>;

/** Whether an answer lacks our last write or the status of an event. It is old, and proves nothing. */
export function isOld({ writtenId, contradictedBy }: Heard, { statuses }: StatusList): boolean {
  const [newest] = statuses;
  if (writtenId !== null && (!newest || newest.id < writtenId)) return true;
  return contradictedBy !== null && !statuses.some(({ id }) => id === contradictedBy);
}

/** Finds the wanted status if it is there already, so that we do not write it twice. */
export function findStanding(head: Heard, wanted: Status, list: StatusList | null): Posted | null {
  const [newest] = list?.statuses ?? [];
  if (!newest?.isOurs || newest.state !== wanted.state || newest.description !== wanted.description)
    return null;
  return isOld(head, list!) ? null : { id: newest.id, at: newest.at };
}

/** What decides which page a status links to. */
type Leading = Commit & Pick<Write, 'isMergeGroup' | 'openNumber' | 'groupNumber' | 'closedNumber'>;

/**
 * The page that a status links to: that of its pull request, or of its merge group while the group waits. A group that
 * passed or failed is gone at once, but its pull request stays.
 * @returns a URL; null if no open pull request has the SHA any more.
 */
function targetOf({ publicUrl }: StatusDeps['config'], write: Leading, { state }: Status): string | null {
  const repository = { name: write.repo, account: { login: write.owner } };
  if (write.isMergeGroup && state === 'pending') return publicUrl + mergeGroupPath(repository, write.sha);
  const number = write.isMergeGroup ? write.groupNumber : (write.openNumber ?? write.closedNumber);
  return number === null ? null : publicUrl + pullRequestPath(repository, number);
}

/** Writes one commit status. @param context of the status, by default ours. @throws GitHub's error. */
export async function postStatus(
  deps: Pick<StatusDeps, 'github' | 'config' | 'ownWrites'>,
  installationId: bigint,
  write: Leading,
  wanted: Status,
  context = deps.config.statusContext,
): Promise<Posted> {
  const { owner, repo, sha } = write;
  const targetUrl = targetOf(deps.config, write, wanted);
  const client = await deps.github.asInstallation(installationId);
  return deps.ownWrites.during(sha, wanted, async () => {
    const { data } = await client.rest.repos.createCommitStatus({
      owner,
      repo,
      sha,
      state: wanted.state,
      description: wanted.description,
      context,
      ...(targetUrl && { target_url: targetUrl }),
    });
    return { id: BigInt(data.id), at: new Date(data.created_at) };
  });
}
