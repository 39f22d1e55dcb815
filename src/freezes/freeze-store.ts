import type { Tx } from '../database/database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Need } from '../conditions/needs.ts';
import { fromRow } from './freeze-columns.ts';
import { nowOf } from '../time/clock.ts';
import { conflict, forbidden, notFound } from '../errors.ts';
import { type FoundRepository, fullName } from '../installations/find-repository.ts';
import type { Actor } from '../events/actor.ts';
import type { FreezeDeps } from './freeze-deps.ts';
import type { StoredFreeze } from './freeze.ts';

// Saves and finds single freezes. Plans write many at once. Observations, the sweep and lists read the table too.

export const notEnded = (now: Date) => ({ deletedAt: null, OR: [{ endsAt: null }, { endsAt: { gt: now } }] });

/** SQL for whether the end is in the future or missing. */
export const isAheadOf = (end: string, now: string): string =>
  `(${end} IS NULL OR ${end} > ${now}::timestamptz)`;

/** The SQL condition for `notEnded`. @param now the parameter with the instant. @param of the table name, with a dot. */
export const isNotEnded = (now: string, of = ''): string =>
  `${of}deleted_at IS NULL AND ${isAheadOf(`${of}ends_at`, now)}`;

/** The freezes of a repository that were ongoing at any time since an instant, including deleted ones. */
export async function freezesSince(
  tx: Tx,
  repositoryId: bigint,
  since: Date,
  now: Date,
): Promise<{ freeze: StoredFreeze; createdAt: Date; deletedAt: Date | null }[]> {
  const rows = await tx.freeze.findMany({
    where: {
      repositoryId,
      startsAt: { lte: now },
      AND: [
        { OR: [{ endsAt: null }, { endsAt: { gt: since } }] },
        { OR: [{ deletedAt: null }, { deletedAt: { gt: since } }] },
      ],
    },
  });
  return rows.map((row) => ({ freeze: fromRow(row), createdAt: row.createdAt, deletedAt: row.deletedAt }));
}

/** The freezes among these that are neither deleted nor ended. */
export async function notEndedAmong(
  tx: Tx,
  repositoryId: bigint,
  ids: string[],
  now: Date,
): Promise<Set<string>> {
  const where = { repositoryId, id: { in: ids }, ...notEnded(now) };
  const rows = ids.length === 0 ? [] : await tx.freeze.findMany({ where, select: { id: true } });
  return new Set(rows.map(({ id }) => id));
}

/** The freeze that pauses a repository's merge queue; null if it is not paused. */
export async function findPause(tx: Tx, repositoryId: bigint, now: Date): Promise<StoredFreeze | null> {
  const row = await tx.freeze.findFirst({ where: { repositoryId, isPause: true, ...notEnded(now) } });
  return row && fromRow(row);
}

/** How long before its start a freeze counts as begun, because the clock of a worker may be ahead. */
const clockMargin = 60_000;

/**
 * SQL for whether an ongoing freeze has conditions that read a fact, as in `repositoriesReading`.
 * @param repositoryId the parameter with the repository's id. @param now the parameter with the instant.
 */
export const isReadBy = (fact: Need, repositoryId: string, now: string): string => `
  EXISTS (SELECT FROM freezes WHERE repository_id = ${repositoryId} AND ${isNotEnded(`${now}::timestamptz`)}
    AND starts_at <= ${now}::timestamptz + interval '${clockMargin} milliseconds' AND '${fact}' = ANY (reads))`;

/** @property isToJudge whether a freeze reads it; else only people who decide on a request do. */
type ReadingRow = { repositoryId: bigint; isToJudge: boolean };

/**
 * The repositories where an ongoing freeze has conditions that read one of these facts, or where people who decide on a
 * request do: one repository, or those of an account.
 * @param where with a head, only requests about that one count.
 */
export function repositoriesReading(
  tx: Tx,
  where: { repositoryId: bigint; sha?: string } | { accountId: bigint },
  facts: readonly Need[],
  now: Date,
): Promise<ReadingRow[]> {
  const isThere =
    'accountId' in where
      ? Prisma.sql`repository_id IN (SELECT id FROM repositories WHERE account_id = ${where.accountId})`
      : Prisma.sql`repository_id = ${where.repositoryId}`;
  const ofFreezes = Prisma.sql`
    SELECT repository_id, true AS is_to_judge FROM freezes
    WHERE ${isThere} AND deleted_at IS NULL AND (ends_at IS NULL OR ends_at > ${now})
      AND starts_at <= ${new Date(now.getTime() + clockMargin)} AND reads && ${[...facts]}::text[]`;
  const sha = 'sha' in where ? where.sha : undefined;
  const isOfHead =
    sha === undefined
      ? Prisma.empty
      : Prisma.sql`AND EXISTS (SELECT FROM open_pull_requests p WHERE p.repository_id = e.repository_id
          AND p.number = e.number AND p.head_sha = ${sha})`;
  const ofRequests = Prisma.sql`UNION ALL
    SELECT repository_id, false FROM exemptions e
    WHERE ${isThere} AND environment IS NULL AND ended_at IS NULL AND state = 'requested' AND expires_at > ${now} ${isOfHead}`;
  return tx.$queryRaw<ReadingRow[]>`
    SELECT repository_id AS "repositoryId", bool_or(is_to_judge) AS "isToJudge"
    FROM (${ofFreezes} ${facts.includes('check-counts') ? ofRequests : Prisma.empty}) AS each GROUP BY repository_id`;
}

/**
 * Changes a freeze that nobody changed or deleted after it was read. If a plan created it, that detaches it: the plan no
 * longer changes it.
 * @param columns if the change ends it: what restoring it writes back.
 * @throws Refusal conflict.
 */
export async function changeFreezeRow(
  tx: Tx,
  { id, version, planId }: StoredFreeze,
  change: Prisma.FreezeUpdateManyMutationInput,
  columns: object | null = null,
): Promise<void> {
  // Of most freezes it is known: no plan made them.
  const followed =
    columns && planId !== undefined && (await tx.freeze.findFirst({ where: { id, detached: false } }));
  const restores = columns && { ...columns, detached: planId !== undefined && !followed };
  const { count } = await tx.freeze.updateMany({
    where: { id, version, deletedAt: null },
    data: {
      ...change,
      restores: restores ?? Prisma.DbNull,
      detached: planId !== undefined,
      version: { increment: 1 },
    },
  });
  if (count === 0) throw conflict('A concurrent change of this freeze won. List the freezes and try again.');
}

/**
 * The freeze of this id, while it is scheduled or ongoing.
 * @throws Refusal not-found.
 */
export async function requireFreeze(
  deps: Pick<FreezeDeps, 'db' | 'clock'>,
  repository: FoundRepository,
  id: string,
): Promise<StoredFreeze> {
  const where = { id, repositoryId: repository.id, ...notEnded(nowOf(deps.clock)) };
  const row = await deps.db.freeze.findFirst({ where });
  if (row) return fromRow(row);
  throw notFound(
    `${fullName(repository)} has no scheduled or ongoing freeze ${id}. It may have ended or been deleted.`,
  );
}

/**
 * Holds for people and keys; and for a job where the rule that let it in also let in the job that made the freeze.
 * @throws Refusal forbidden.
 */
export async function assertOwnFreeze(tx: Tx, actor: Actor, id: string): Promise<void> {
  if (actor.type === 'user' || actor.run === undefined) return;
  const { createdBy } = await tx.freeze.findUniqueOrThrow({ where: { id }, select: { createdBy: true } });
  if ((createdBy as Actor).id === actor.id) return;
  throw forbidden(
    `${actor.name} may change and end the freezes that jobs under its OIDC rule made, and freeze ${id} is none of them. Ask an admin of the repository.`,
  );
}
