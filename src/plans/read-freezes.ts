import type { Tx } from '../database/database.ts';
import { throughPrisma } from '../database/sql.ts';
import { fromRow, type StoredFreeze } from '../freezes/freeze-columns.ts';
import { isNotEnded, notEnded } from '../freezes/freeze-store.ts';

// Reads the freezes of a plan. Freezes that were changed or deleted separately no longer belong to it.

const own = `NOT detached AND deleted_at IS NULL`;

/** When the last freeze of a plan ends; null if one has no end. */
export async function lastEnd(tx: Tx, planId: string, now: Date): Promise<Date | null> {
  const [row] = await throughPrisma(tx).query<{ last: Date | null }>(
    'last-end',
    `SELECT CASE WHEN bool_or(ends_at IS NULL) THEN NULL ELSE coalesce(max(ends_at), $1::timestamptz) END AS last
     FROM freezes WHERE plan_id = $2::uuid AND NOT detached AND ${isNotEnded('$1::timestamptz')}`,
    [now, planId],
  );
  return row!.last;
}

/** The names of the owner's repositories with an ongoing freeze of the plan. */
export async function repositoriesFrozen(
  tx: Tx,
  { id, accountId }: { id: string; accountId: bigint },
  now: Date,
): Promise<string[]> {
  const isOn = { planId: id, detached: false, startsAt: { lte: now }, ...notEnded(now) };
  const rows = await tx.repository.findMany({
    where: { accountId, freezes: { some: isOn } },
    select: { name: true },
  });
  return rows.map(({ name }) => name);
}

/** The ongoing freezes of a plan in its owner's repositories, including separately changed ones. */
export async function ongoingFreezes(
  tx: Tx,
  { id, accountId }: { id: string; accountId: bigint },
  now: Date,
): Promise<StoredFreeze[]> {
  const where = { planId: id, repository: { accountId }, startsAt: { lte: now }, ...notEnded(now) };
  return (await tx.freeze.findMany({ where, orderBy: { id: 'asc' } })).map(fromRow);
}

/** A freeze of a plan that was changed or deleted separately and is not over. */
export type Detached = { repository: string; freezeId: string; start: string };

export async function detachedFreezes(tx: Tx, planId: string, now: Date): Promise<Detached[]> {
  const rows = await tx.freeze.findMany({
    where: { planId, detached: true, OR: [{ endsAt: null }, { endsAt: { gt: now } }] },
    select: {
      id: true,
      start: true,
      repository: { select: { name: true, account: { select: { login: true } } } },
    },
    orderBy: [{ startsAt: 'asc' }, { repositoryId: 'asc' }],
  });
  return rows.map(({ id, start, repository }) => ({
    repository: `${repository.account.login}/${repository.name}`,
    freezeId: id,
    start,
  }));
}

/** An end that repositories gave to their freezes of a plan without an end. */
type GivenEnd = { end: string; count: number; names: string[] };

/** The ends of a plan's freezes that are not over, earliest first. @param most how many names to list for each. */
export async function givenEnds(tx: Tx, planId: string, now: Date, most: number): Promise<GivenEnd[]> {
  return throughPrisma(tx).query<GivenEnd>(
    'given-ends',
    `SELECT f."end", count(*)::int AS count, (array_agg(r.name ORDER BY r.name_key))[1:$3::int] AS names
     FROM freezes f JOIN repositories r ON r.id = f.repository_id
     WHERE f.plan_id = $2::uuid AND ${own} AND f.ends_at > $1::timestamptz
     GROUP BY f."end" ORDER BY min(f.ends_at)`,
    [now, planId, most],
  );
}
