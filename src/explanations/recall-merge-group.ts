import type { Deps } from '../deps.ts';
import type { Freeze } from '../freezes/freeze.ts';
import { type Status, wantedOn } from '../outbox/status.ts';
import { type ReasonNotHeld, whyGroupNotHeld } from '../reconcile/held-pull-requests.ts';
import type { FoundRepository } from '../installations/find-repository.ts';
import { ongoingAmong } from './recall-pull-request.ts';

/** A merge group in flight as it was last judged. */
export type RecalledMergeGroup = {
  branch: string;
  /** What our status on it says, or is about to say; null before it is judged. */
  status: (Status & { isFinal: boolean }) | null;
  /** What it merges, in the order of the queue; empty while GitHub's queue does not show it. */
  pullRequests: { number: number; heldBy: Freeze[] }[];
  heldBy: Freeze[];
  /** Where freezes hold it: why that is not known to be so. */
  notHeld: ReasonNotHeld | null;
};

/** @returns null for one that is not in flight. */
export async function recallMergeGroup(
  deps: Pick<Deps, 'db' | 'sql' | 'clock'>,
  repository: FoundRepository,
  headSha: string,
): Promise<RecalledMergeGroup | null> {
  const { db } = deps;
  const { id } = repository;
  const group = await db.mergeGroup.findUnique({
    where: { repositoryId_headSha: { repositoryId: id, headSha } },
  });
  if (!group) return null;
  const status = await db.headStatus.findUnique({
    where: { repositoryId_sha: { repositoryId: id, sha: headSha } },
    select: { state: true, description: true, isFinal: true, isMergeGroup: true },
  });
  const open = await db.openPullRequest.findMany({
    where: { repositoryId: id, number: { in: group.pullRequests } },
    select: { number: true, heldBy: true },
  });
  const held = new Map(open.map(({ number, heldBy }) => [number, heldBy]));
  const freezes = await ongoingAmong(deps, repository, [
    ...group.heldBy,
    ...open.flatMap(({ heldBy }) => heldBy),
  ]);
  const among = (ids: string[]) => freezes.filter((freeze) => ids.includes(freeze.id));
  return {
    branch: group.branch,
    status: status && { ...wantedOn(status), isFinal: status.isFinal },
    pullRequests: group.pullRequests.map((number) => ({ number, heldBy: among(held.get(number) ?? []) })),
    heldBy: among(group.heldBy),
    notHeld: await whyGroupNotHeld(deps, id, headSha),
  };
}
