import type { Deps } from '../deps.ts';
import type { HeadStatus } from '../generated/prisma/client.ts';
import { mergeGroupPath, pullRequestPath } from '../page-paths.ts';
import type { Write } from './lease.ts';
import { listStatuses, type StatusList } from './list-statuses.ts';
import { isUsedUp } from './status-budget.ts';
import { type Status, wantedOn } from './status.ts';

/** A status as GitHub keeps it: its id and time are GitHub's. */
export type Posted = { id: bigint; at: Date };

/** A commit of the base repository, where statuses count also for pull requests from forks. */
type Commit = Pick<Write, 'owner' | 'repo' | 'sha'>;

/** Whether a write looks first: an earlier one may have arrived, others wrote, or how many there are is not known. */
export const looksFirst = ({ attempts, countedId }: Pick<HeadStatus, 'attempts' | 'countedId'>): boolean =>
  attempts > 0 || countedId === null;

/**
 * Reads what stands on a commit under our context.
 * @param isCounting whether all of them are to be counted.
 * @param mayGoOn asked after each page of the answer.
 * @returns null where it may not go on.
 * @throws what GitHub answers.
 */
export async function lookAtStatuses(
  deps: Pick<Deps, 'github' | 'config'>,
  installationId: bigint,
  { owner, repo, sha: ref }: Commit,
  isCounting: boolean,
  mayGoOn: () => Promise<boolean>,
): Promise<StatusList | null> {
  const client = await deps.github.asInstallation(installationId);
  const botLogin = await deps.github.botLogin();
  const context = deps.config.statusContext;
  return listStatuses({ client, context, botLogin }, { owner, repo, ref }, isCounting, mayGoOn);
}

/** What a write should leave there: the verdict, or the last `pending` where the statuses are used up. */
export function wantedBy(head: Write, list: StatusList | null): Status & { isFinal: boolean } {
  const isUncountable = list !== null && list.count === null && countsFirst(head);
  const isFinal = head.isFinal || isUncountable || isUsedUp(list?.count ?? head);
  return { ...wantedOn({ ...head, isFinal }), isFinal };
}

type Counted = Pick<HeadStatus, 'isFinal' | 'countedId' | 'contradictedBy'>;

/** Whether a look has to count: others wrote since, or were there before us. What is final is not counted again. */
export const countsFirst = ({ isFinal, countedId, contradictedBy }: Counted): boolean =>
  !isFinal && (countedId === null || contradictedBy !== null);

/**
 * What stands there already as we want it, so that nothing is written twice. An answer that does not know of our own
 * last write, or of the status that an event told of, is an old one and proves nothing.
 */
export function findStanding(
  head: Pick<HeadStatus, 'writtenId' | 'contradictedBy'>,
  wanted: Status,
  list: StatusList | null,
): Posted | null {
  const [newest] = list?.statuses ?? [];
  if (!newest?.isOurs || newest.state !== wanted.state || newest.description !== wanted.description)
    return null;
  const { writtenId, contradictedBy } = head;
  if (writtenId !== null && newest.id < writtenId) return null;
  if (contradictedBy !== null && !list!.statuses.some(({ id }) => id === contradictedBy)) return null;
  return { id: newest.id, at: newest.at };
}

/** What a status leads to: a page of its pull request or merge group. */
type Leading = Commit & Pick<Write, 'isMergeGroup' | 'openNumber' | 'groupNumber' | 'closedNumber'>;

/**
 * Where a status leads: the page of its pull request, or of its merge group while that waits. A group that passed or
 * failed is gone at once; the pull request whose group it is stays.
 * @returns a URL; null where no open pull request has the SHA any more.
 */
function targetOf({ publicUrl }: Deps['config'], write: Leading, { state }: Status): string | null {
  const repository = { name: write.repo, account: { login: write.owner } };
  if (write.isMergeGroup && state === 'pending') return publicUrl + mergeGroupPath(repository, write.sha);
  const number = write.isMergeGroup ? write.groupNumber : (write.openNumber ?? write.closedNumber);
  return number === null ? null : publicUrl + pullRequestPath(repository, number);
}

/** Writes one commit status. @throws what GitHub answers. */
export async function postStatus(
  deps: Pick<Deps, 'github' | 'config' | 'ownWrites'>,
  installationId: bigint,
  write: Leading,
  wanted: Status,
): Promise<Posted> {
  const { owner, repo, sha } = write;
  const targetUrl = targetOf(deps.config, write, wanted);
  const client = await deps.github.asInstallation(installationId);
  return deps.ownWrites.during(sha, wanted, async () => {
    const { data } = await client.rest.repos.createCommitStatus({
      ...{ owner, repo, sha },
      state: wanted.state,
      description: wanted.description,
      context: deps.config.statusContext,
      ...(targetUrl && { target_url: targetUrl }),
    });
    return { id: BigInt(data.id), at: new Date(data.created_at) };
  });
}
