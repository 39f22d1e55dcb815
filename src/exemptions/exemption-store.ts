import type { Tx } from '../database/database.ts';
import type { Actor } from '../events/actor.ts';
import type { Exemption as Stored } from '../generated/prisma/client.ts';
import { besideOf, type Page, pageOf, rowsBeside } from '../database/newest-first.ts';
import type { EndedBy, Exemption } from './exemption.ts';
import { exemptionOf } from './exemption-rows.ts';

// Saves and finds exemptions. Observations and the sweep read the table too, together with the freezes.

/** An exemption with who requested it and who decided last. */
export type ExemptionRecord = Exemption & {
  repositoryId: bigint;
  requestedBy: Actor;
  decidedBy: Actor | null;
  decidedAt: Date | null;
  decisionReason: string | null;
  /** What ended it, if no person did. */
  endedBy: EndedBy | null;
  usedAt: Date | null;
  /** When the conversation was told of the request, by GitHub's clock. */
  announcedAt: Date | null;
};

const recordOf = (row: Stored): ExemptionRecord => ({
  ...exemptionOf(row),
  repositoryId: row.repositoryId,
  requestedBy: row.requestedBy as Actor,
  decidedBy: row.decidedBy as Actor | null,
  decidedAt: row.decidedAt,
  decisionReason: row.decisionReason,
  endedBy: row.endedBy as EndedBy | null,
  usedAt: row.usedAt,
  announcedAt: row.announcedAt,
});

/** The exemption with this id; null if the repository has none. */
export async function findExemption(
  tx: Tx,
  repositoryId: bigint,
  id: string,
): Promise<ExemptionRecord | null> {
  const row = await tx.exemption.findFirst({ where: { id, repositoryId } });
  return row && recordOf(row);
}

/** The requested and approved exemptions of a repository. @param only limits them to these pull requests. */
export async function openExemptions(
  tx: Tx,
  repositoryId: bigint,
  only?: number[],
): Promise<ExemptionRecord[]> {
  const where = { repositoryId, endedAt: null, ...(only && { number: { in: only } }) };
  return (await tx.exemption.findMany({ where, orderBy: { serial: 'asc' } })).map(recordOf);
}

/** The requests in some repositories that wait for a person's decision, oldest first. @param person their GitHub id. */
export async function waitingRequests(
  tx: Tx,
  repositoryIds: bigint[],
  person: number,
  now: Date,
  most: number,
): Promise<ExemptionRecord[]> {
  const where = { repositoryId: { in: repositoryIds }, endedAt: null, expiresAt: { gt: now } };
  const isTheirs = [
    { requestedBy: { path: ['type'], equals: 'user' } },
    { requestedBy: { path: ['id'], equals: person } },
  ];
  const rows = await tx.exemption.findMany({
    // If two people are required, the person who requested it cannot decide.
    where: {
      ...where,
      state: 'requested',
      NOT: { repository: { twoPersonExemptions: true }, AND: isTheirs },
    },
    orderBy: { serial: 'asc' },
    take: most,
  });
  return rows.map(recordOf);
}

/** The exemptions of a pull request that were not over at an instant, newest request first. */
export async function exemptionsSince(
  tx: Tx,
  repositoryId: bigint,
  number: number,
  since: Date,
): Promise<ExemptionRecord[]> {
  const rows = await tx.exemption.findMany({
    where: { repositoryId, number, OR: [{ endedAt: null }, { endedAt: { gte: since } }] },
    orderBy: { serial: 'desc' },
  });
  return rows.map(recordOf);
}

/** How many open requests one person or key has in a repository, and how many they made since an instant. */
export async function countRequests(
  tx: Tx,
  repositoryId: bigint,
  { type, id }: Actor,
  since: Date,
): Promise<{ open: number; made: number }> {
  const [row] = await tx.$queryRaw<{ open: number; made: number }[]>`
    SELECT count(*) FILTER (WHERE state = 'requested' AND ended_at IS NULL)::int AS open,
      count(*) FILTER (WHERE requested_at > ${since})::int AS made
    FROM exemptions WHERE repository_id = ${repositoryId} AND (ended_at IS NULL OR ended_at > ${since})
      AND requested_by->>'type' = ${type} AND requested_by->>'id' = ${String(id)}`;
  return row!;
}

/** How many approved exemptions a pull request has. */
export async function countApproved(
  tx: Tx,
  repositoryId: bigint,
  number: number,
  now: Date,
): Promise<number> {
  const where = { repositoryId, number, state: 'approved', endedAt: null, expiresAt: { gt: now } } as const;
  return tx.exemption.count({ where });
}

/** Saves a new exemption. */
export async function insertExemption(tx: Tx, { pullRequest, ...exemption }: ExemptionRecord): Promise<void> {
  const { freezeIds, requestedBy, decidedBy, ...rest } = exemption;
  await tx.exemption.create({
    data: {
      ...rest,
      number: pullRequest,
      freezeIds: freezeIds ?? [],
      requestedBy,
      ...(decidedBy && { decidedBy }),
    },
  });
}

/** What a change sets. */
export type Change = Partial<
  Pick<
    ExemptionRecord,
    'state' | 'decidedAt' | 'decisionReason' | 'approvedAt' | 'endedAt' | 'endedBy' | 'usedAt'
  >
> & { decidedBy?: Actor };

/** Changes an exemption. @returns false if its state changed since it was read. */
export async function saveExemption(tx: Tx, { id, state }: Exemption, change: Change): Promise<boolean> {
  const { count } = await tx.exemption.updateMany({ where: { id, state, endedAt: null }, data: change });
  return count === 1;
}

/** Which exemptions to list. */
export type ExemptionFilter = { state?: Exemption['state']; pullRequest?: number };

/**
 * A page of a repository's exemptions, newest first.
 * @param cursor opaque, from an earlier page's `older` or `newer`.
 * @throws Refusal invalid if the cursor is not ours.
 */
export async function listExemptions(
  tx: Tx,
  repositoryId: bigint,
  { state, pullRequest }: ExemptionFilter,
  { size, cursor }: { size: number; cursor?: string },
): Promise<Page<ExemptionRecord>> {
  const beside = besideOf(cursor, 'exemption');
  const asked = rowsBeside(beside, size);
  const found = await tx.exemption.findMany({
    where: { repositoryId, state, number: pullRequest, serial: asked.number },
    orderBy: { serial: asked.order },
    take: asked.take,
  });
  const { rows, ...cursors } = pageOf(found, size, beside, ({ serial }) => serial);
  return { rows: rows.map(recordOf), ...cursors };
}
