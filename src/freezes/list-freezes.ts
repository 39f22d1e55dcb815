import type { SqlTx } from '../database/sql.ts';
import { type FoundRepository, readAlone, type RepositoryRead } from '../installations/find-repository.ts';
import { endedEarlyAt, fromRow, type FreezeJson, freezeJson, fromJson } from './freeze-columns.ts';
import { isAheadOf, isNotEnded, notEnded } from './freeze-store.ts';
import type { Holding } from '../words/describe-fields.ts';
import { holdsMerges, type StoredFreeze } from './freeze.ts';
import { phaseOf } from './freeze-window.ts';
import { type Actor, actorIn } from '../events/actor.ts';
import type { Tx } from '../database/database.ts';
import { type Freeze as FreezeRow, Prisma } from '../generated/prisma/client.ts';

// Lists freezes: for answers as one JSON column, and with their records for pages, including past ones.

const inOrder = 'ORDER BY starts_at, created_at, id';

const listedSql = `SELECT json_agg(${freezeJson('freezes')} ${inOrder})
  FROM freezes WHERE repository_id = named.repository_id AND ${isNotEnded('$1')}`;

/** To read: the scheduled and ongoing freezes of a repository, the earliest first. */
export const listedFreezes = (now: Date): RepositoryRead<StoredFreeze[]> => ({
  name: 'list-freezes',
  sql: listedSql,
  values: [now],
  valueOf: (json, { id }) => ((json as FreezeJson[] | null) ?? []).map((freeze) => fromJson(freeze, id)),
});

/** The scheduled and ongoing freezes of a repository, the earliest first. */
export const listFreezes = (
  sql: SqlTx,
  repository: Pick<FoundRepository, 'id' | 'accountId'>,
  now: Date,
): Promise<StoredFreeze[]> => readAlone(sql, listedFreezes(now), repository);

/** Freezes that had not ended at an instant. */
export type NotOver = {
  kept: { freeze: StoredFreeze; deletedAt: Date | null }[];
  /** Whether a plan of the owner repeats. Its later freezes are missing from the list. */
  repeats: boolean;
};

const notOver = `SELECT json_build_object(
    'freezes', json_agg(json_build_object('freeze', ${freezeJson('freezes')}, 'deletedAt', deleted_at) ${inOrder}),
    'repeats', EXISTS (SELECT FROM freeze_plans
      WHERE account_id = named.owner_id AND (rule IS NOT NULL OR source IS NOT NULL) AND deleted_at IS NULL
        AND (${isAheadOf('over_at', '$2')} OR source IS NOT NULL)))
  FROM freezes WHERE repository_id = named.repository_id AND ${isAheadOf('ends_at', '$1')}
    AND (deleted_at IS NULL OR deleted_at > $1)`;

type NotOverJson = { freezes: { freeze: FreezeJson; deletedAt: string | null }[] | null; repeats: boolean };

/** To read: the freezes of a repository that had neither ended nor been deleted at an instant, the earliest first. */
export const freezesNotOver = (at: Date, now: Date): RepositoryRead<NotOver> => ({
  name: 'freezes-not-over',
  sql: notOver,
  values: [at, now],
  valueOf(json, { id }) {
    const { freezes, repeats } = json as NotOverJson;
    const kept = (freezes ?? []).map(({ freeze, deletedAt }) => ({
      freeze: fromJson(freeze, id),
      deletedAt: deletedAt === null ? null : new Date(deletedAt),
    }));
    return { kept, repeats };
  },
});

/** A freeze with its creator and, if it was deleted, who deleted it and why. */
export type FreezeRecord = StoredFreeze & {
  createdBy: Actor;
  createdAt: Date;
  deletion: { by: Actor; at: Date; reason: string } | null;
  /** When somebody deleted it or ended it early, after which it can be restored for a minute. */
  endedEarlyAt: Date | null;
};

const recordOf = (row: FreezeRow): FreezeRecord => ({
  ...fromRow(row),
  createdBy: actorIn(row.createdBy),
  createdAt: row.createdAt,
  deletion: row.deletedAt && {
    by: actorIn(row.deletedBy),
    at: row.deletedAt,
    reason: row.deleteReason ?? '',
  },
  endedEarlyAt: endedEarlyAt(row),
});

/** A freeze of a repository, even if it is over. @returns null if the repository never had a freeze with this id. */
export async function freezeRecord(tx: Tx, repositoryId: bigint, id: string): Promise<FreezeRecord | null> {
  const row = await tx.freeze.findFirst({ where: { repositoryId, id } });
  return row && recordOf(row);
}

/** The scheduled and ongoing freezes of a repository, earliest first. */
export async function currentFreezes(tx: Tx, repositoryId: bigint, now: Date): Promise<FreezeRecord[]> {
  const where = { repositoryId, ...notEnded(now) };
  const orderBy = [{ startsAt: 'asc' as const }, { createdAt: 'asc' as const }, { id: 'asc' as const }];
  return (await tx.freeze.findMany({ where, orderBy })).map(recordOf);
}

/** A freeze among those of many repositories. */
export type FreezeSpan = Pick<
  StoredFreeze,
  'id' | 'repositoryId' | 'reason' | 'publicReason' | 'timezone' | 'startsAt' | 'endsAt' | 'planId'
> &
  Pick<FreezeRecord, 'createdBy' | 'createdAt'> &
  Holding;

/**
 * The freezes of some repositories that overlap a span and are not deleted, earliest first.
 * @param most the maximum number for each repository.
 * @param what leaves out the freezes of deployments alone.
 */
export async function spansWithin(
  tx: Tx,
  repositoryIds: bigint[],
  { from, to }: { from: Date; to: Date },
  most: number,
  what: 'all' | 'of merges',
): Promise<FreezeSpan[]> {
  const rows = await tx.$queryRaw<FreezeSpan[]>`
    SELECT id, repository_id AS "repositoryId", left(reason, 200) AS reason, left(public_reason, 200) AS "publicReason",
      timezone, starts_at AS "startsAt", ends_at AS "endsAt", plan_id AS "planId",
      holds, environments, on_deployment AS "onDeployment",
      created_by AS "createdBy", created_at AS "createdAt"
    FROM unnest(${repositoryIds}::int8[]) AS repository (id_of) CROSS JOIN LATERAL (
      SELECT * FROM freezes f
      WHERE f.repository_id = id_of AND f.deleted_at IS NULL AND f.starts_at < ${to}
        AND (f.ends_at IS NULL OR f.ends_at > ${from})
        AND (${what === 'all'} OR f.holds = '{}' OR 'merges' = ANY (f.holds))
      ORDER BY f.starts_at, f.created_at, f.id LIMIT ${most}
    ) AS its ORDER BY starts_at, created_at, id`;
  return rows.map((row) => ({ ...row, createdBy: actorIn(row.createdBy) }));
}

/** A page of freezes that ended or were deleted, newest first, and the first freezes of the previous and next page. */
export type PastPage = { freezes: FreezeRecord[]; newer: string | null; older: string | null };

/** A deleted freeze is over since its deletion, because an ended freeze cannot be deleted. */
const overAt = Prisma.sql`COALESCE(deleted_at, ends_at)`;

/**
 * A page of a repository's past freezes.
 * @param first the id of the first freeze of the page; null for the newest.
 * @returns null if there is no such past freeze.
 */
export async function pastFreezes(
  tx: Tx,
  repositoryId: bigint,
  now: Date,
  { first, size }: { first: string | null; size: number },
): Promise<PastPage | null> {
  const isPast = Prisma.sql`repository_id = ${repositoryId} AND (deleted_at IS NOT NULL OR ends_at <= ${now})`;
  const place = Prisma.sql`(SELECT ${overAt}, id FROM freezes WHERE ${isPast} AND id = ${first}::uuid)`;
  const [page, newer] = await Promise.all([
    tx.$queryRaw<{ id: string }[]>`
      SELECT id FROM freezes
      WHERE ${isPast} AND ${first === null ? Prisma.sql`true` : Prisma.sql`(${overAt}, id) <= ${place}`}
      ORDER BY ${overAt} DESC, id DESC LIMIT ${size + 1}`,
    tx.$queryRaw<{ id: string }[]>`
      SELECT id FROM freezes WHERE ${isPast} AND (${overAt}, id) > ${place}
      ORDER BY ${overAt}, id LIMIT ${size}`,
  ]);
  if (first !== null && page.length === 0) return null;
  const ids = page.slice(0, size).map(({ id }) => id);
  const records = (await tx.freeze.findMany({ where: { id: { in: ids } } })).map(recordOf);
  return {
    freezes: ids.flatMap((id) => records.find((record) => record.id === id) ?? []),
    newer: newer.at(-1)?.id ?? null,
    older: page[size]?.id ?? null,
  };
}

/**
 * Whether the open pull requests were checked since a freeze began, and since it was made. Before that, nobody knows what
 * it holds.
 */
export const isJudged = (
  { reconciledAt }: { reconciledAt: Date | null },
  { startsAt, createdAt }: Pick<FreezeRecord, 'startsAt' | 'createdAt'>,
): boolean => reconciledAt !== null && reconciledAt >= startsAt && reconciledAt >= createdAt;

/** Whether an ongoing freeze of merges is not judged yet. */
export async function hasUnjudged(
  db: Tx,
  repository: { id: bigint; reconciledAt: Date | null },
  now: Date,
): Promise<boolean> {
  const current = await currentFreezes(db, repository.id, now);
  return current.some(
    (freeze) => phaseOf(freeze, now) === 'ongoing' && holdsMerges(freeze) && !isJudged(repository, freeze),
  );
}

/** Whether any repository of an owner ever had a freeze. */
export const hasEverFrozen = async (db: Tx, accountId: bigint): Promise<boolean> =>
  (await db.freeze.count({ where: { repository: { accountId } }, take: 1 })) > 0;

/** The id of the repository that a freeze belongs to; null if there is no such freeze. */
export const repositoryIdOf = async (db: Tx, id: string): Promise<bigint | null> =>
  (await db.freeze.findUnique({ where: { id }, select: { repositoryId: true } }))?.repositoryId ?? null;
