import type { Tx } from '../database/database.ts';
import type { AnnouncedGroup } from './merge-queue.ts';

// The only access to the merge groups in flight.

/** A group that was judged: what it merges, and the freezes that hold one of those. */
export type JudgedGroup = { headSha: string; pullRequests: number[]; heldBy: string[] };

/** GitHub waits at most so long for a check of a group; then it is gone, whoever forgot to say so. */
const longestWait = 360 * 60_000;

/** Keeps a group that GitHub told of, from now on; one that is known stays as it is. */
export async function announceGroup(
  tx: Tx,
  repositoryId: bigint,
  branch: string,
  { headSha, headRef }: AnnouncedGroup,
  now: Date,
): Promise<void> {
  const data = [{ repositoryId, branch, headSha, headRef, requestedAt: now }];
  await tx.mergeGroup.createMany({ data, skipDuplicates: true });
}

/** The branches of a repository with groups in flight. */
export async function branchesWithGroups(tx: Tx, repositoryId: bigint): Promise<string[]> {
  const rows = await tx.mergeGroup.findMany({
    where: { repositoryId },
    distinct: ['branch'],
    select: { branch: true },
    orderBy: { branch: 'asc' },
  });
  return rows.map(({ branch }) => branch);
}

/** Since when GitHub waits for each group of a branch, by head SHA. */
export async function requestedTimes(
  tx: Tx,
  repositoryId: bigint,
  branch: string,
): Promise<Map<string, Date>> {
  const rows = await tx.mergeGroup.findMany({ where: { repositoryId, branch } });
  return new Map(rows.map(({ headSha, requestedAt }) => [headSha, requestedAt]));
}

/** Keeps what a reading found of a group, except where a later reading has seen it already. */
export async function saveGroup(
  tx: Tx,
  place: { repositoryId: bigint; branch: string },
  group: JudgedGroup & { requestedAt: Date },
  reading: bigint,
): Promise<void> {
  const { headSha, pullRequests, heldBy, requestedAt } = group;
  const { repositoryId } = place;
  await tx.mergeGroup.createMany({ data: [{ ...place, headSha, requestedAt }], skipDuplicates: true });
  await tx.mergeGroup.updateMany({
    where: { repositoryId, headSha, reading: { lt: reading } },
    data: { branch: place.branch, pullRequests, heldBy, reading },
  });
}

/**
 * Takes out the groups of a branch that the queue showed once and does not any more, those that GitHub says are gone,
 * and those that nobody can wait for; and what they should have said.
 */
export async function forgetGroups(
  tx: Tx,
  place: { repositoryId: bigint; branch: string },
  { reading, gone, now }: { reading: bigint; gone: string[]; now: Date },
): Promise<void> {
  const { repositoryId } = place;
  await tx.mergeGroup.deleteMany({
    where: {
      ...place,
      OR: [
        { reading: { gt: 0, lt: reading } },
        { headSha: { in: gone } },
        { requestedAt: { lt: new Date(now.getTime() - longestWait) } },
      ],
    },
  });
  await tx.$executeRaw`
    DELETE FROM head_statuses head WHERE repository_id = ${repositoryId} AND is_merge_group AND NOT EXISTS (
      SELECT 1 FROM merge_groups g WHERE g.repository_id = ${repositoryId} AND g.head_sha = head.sha)`;
}

/** A group that GitHub told of, and when it did. */
export type UnseenGroup = AnnouncedGroup & { requestedAt: Date };

/** The announced groups of a branch that no reading has seen in the queue yet. */
export async function unseenGroups(tx: Tx, repositoryId: bigint, branch: string): Promise<UnseenGroup[]> {
  const rows = await tx.mergeGroup.findMany({ where: { repositoryId, branch, reading: 0 } });
  return rows.map(({ headSha, headRef, requestedAt }) => ({ headSha, headRef: headRef ?? '', requestedAt }));
}
