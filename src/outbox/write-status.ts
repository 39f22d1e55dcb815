import type { Deps } from '../deps.ts';
import type { HeadStatus } from '../generated/prisma/client.ts';
import { type Status, type StatusState, wantedOn } from './status.ts';
import { listStatuses, type StatusList } from './list-statuses.ts';
import { isUsedUp } from './status-budget.ts';

/** A status as GitHub keeps it: its id and time are GitHub's. */
export type Posted = { id: bigint; at: Date };

/** What stands there now; `isNew` where we wrote it, not found it. */
export type Settled = Status & Posted & { isNew: boolean; isFinal: boolean };

type Place = { owner: string; repo: string };

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
  place: Place,
  sha: string,
  isCounting: boolean,
  mayGoOn: () => Promise<boolean>,
): Promise<StatusList | null> {
  const client = await deps.github.asInstallation(installationId);
  const botLogin = await deps.github.botLogin();
  const context = deps.config.statusContext;
  return listStatuses({ client, context, botLogin }, { ...place, ref: sha }, isCounting, mayGoOn);
}

/** What a write should leave there: the verdict, or the last `pending` where the statuses are used up. */
export function wantedBy(head: HeadStatus, list: StatusList | null): Status & { isFinal: boolean } {
  const isUncountable = list !== null && list.count === null && countsFirst(head);
  const isFinal = head.isFinal || isUncountable || isUsedUp(list?.count ?? head);
  return { ...wantedOn({ ...head, isFinal }), isFinal };
}

/** Whether a look has to count: others wrote since, or were there before us. What is final is not counted again. */
export const countsFirst = ({ isFinal, countedId, contradictedBy }: HeadStatus): boolean =>
  !isFinal && (countedId === null || contradictedBy !== null);

/**
 * What stands there already as we want it, so that nothing is written twice. An answer that does not know of our own
 * last write, or of the status that an event told of, is an old one and proves nothing.
 */
export function findStanding(head: HeadStatus, wanted: Status, list: StatusList | null): Posted | null {
  const [newest] = list?.statuses ?? [];
  if (!newest?.isOurs || newest.state !== wanted.state || newest.description !== wanted.description)
    return null;
  const { writtenId, contradictedBy } = head;
  if (writtenId !== null && newest.id < writtenId) return null;
  if (contradictedBy !== null && !list!.statuses.some(({ id }) => id === contradictedBy)) return null;
  return { id: newest.id, at: newest.at };
}

/**
 * Writes one commit status to the base repository, where it counts also for pull requests from forks.
 * @param targetUrl the page that it leads to, if any.
 * @throws what GitHub answers.
 */
export async function postStatus(
  deps: Pick<Deps, 'github' | 'config' | 'ownWrites'>,
  installationId: bigint,
  place: Place,
  sha: string,
  { state, description }: Status,
  targetUrl: string | null,
): Promise<Posted> {
  const client = await deps.github.asInstallation(installationId);
  return deps.ownWrites.during(sha, { state, description }, async () => {
    const { data } = await client.rest.repos.createCommitStatus({
      ...place,
      sha,
      state: state as StatusState,
      description,
      context: deps.config.statusContext,
      ...(targetUrl && { target_url: targetUrl }),
    });
    return { id: BigInt(data.id), at: new Date(data.created_at) };
  });
}
