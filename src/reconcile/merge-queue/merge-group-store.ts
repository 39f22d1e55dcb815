import type { Tx } from '../../database/database.ts';
import type { AnnouncedGroup } from './merge-groups.ts';

// The only access to the merge groups in flight.

/** A group that was judged: what it merges, and the freezes that hold one of those. */
export type JudgedGroup = { headSha: string; pullRequests: number[]; heldBy: string[] };

/** GitHub waits at most so long for a check of a group; then it is gone, whoever forgot to say so. */
const longestWait = 360 * 60_000;

/** A group that the queue does not show by then was gone before we heard of it. */
const longestUnseen = 10 * 60_000;

/** Keeps a group that GitHub told of, from now on; one that is known stays as it is. */
export async function announceGroup(
  tx: Tx,
  repositoryId: bigint,
  branch: string,
  { headSha, headRef }: AnnouncedGroup,
  now: Date,
): Promise<void> {
  // A look may have found it before: from now on is known since when GitHub waits.
  await tx.$executeRaw`
    INSERT INTO merge_groups AS known (repository_id, head_sha, head_ref, branch, requested_at)
    VALUES (${repositoryId}, ${headSha}, ${headRef}, ${branch}, ${now})
    ON CONFLICT (repository_id, head_sha) DO UPDATE SET
      head_ref = excluded.head_ref, requested_at = excluded.requested_at
    WHERE known.head_ref IS NULL`;
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

/** Keeps what an observation found of a group, except where a later observation has seen it already. */
export async function saveGroup(
  tx: Tx,
  place: { repositoryId: bigint; branch: string },
  group: JudgedGroup & { requestedAt: Date; isShown: boolean },
  observation: bigint,
): Promise<void> {
  const { headSha, pullRequests, heldBy, requestedAt, isShown } = group;
  const { repositoryId } = place;
  await tx.mergeGroup.createMany({ data: [{ ...place, headSha, requestedAt }], skipDuplicates: true });
  await tx.mergeGroup.updateMany({
    where: { repositoryId, headSha, observation: { lt: observation } },
    // What only its name tells of is not gone when the queue does not show it.
    data: { branch: place.branch, pullRequests, heldBy, ...(isShown && { observation }) },
  });
}

/**
 * Takes out the groups of a branch that the queue showed once and does not any more, those that GitHub says are gone,
 * and those that nobody can wait for.
 */
export async function forgetGroups(
  tx: Tx,
  place: { repositoryId: bigint; branch: string },
  { observation, gone, now }: { observation: bigint; gone: string[]; now: Date },
): Promise<void> {
  await tx.mergeGroup.deleteMany({
    where: {
      ...place,
      OR: [
        { observation: { gt: 0, lt: observation } },
        { headSha: { in: gone } },
        { requestedAt: { lt: new Date(now.getTime() - longestWait) } },
        { observation: 0, requestedAt: { lt: new Date(now.getTime() - longestUnseen) } },
      ],
    },
  });
}

/** Where nothing is enforced, or nothing can be written, nobody waits for us. */
export async function forgetAllGroups(tx: Tx, repositoryId: bigint): Promise<void> {
  await tx.mergeGroup.deleteMany({ where: { repositoryId } });
  await tx.headStatus.deleteMany({ where: { repositoryId, isMergeGroup: true } });
}

/** A group that GitHub told of, when it did, and whether a look has seen it in the queue. */
export type ToldGroup = AnnouncedGroup & { requestedAt: Date; wasSeen: boolean };

/** The groups of a branch that GitHub told of. */
export async function toldGroups(tx: Tx, repositoryId: bigint, branch: string): Promise<ToldGroup[]> {
  const rows = await tx.mergeGroup.findMany({ where: { repositoryId, branch, headRef: { not: null } } });
  return rows.map(({ headSha, headRef, requestedAt, observation }) => ({
    headSha,
    headRef: headRef!,
    requestedAt,
    wasSeen: observation > 0n,
  }));
}
