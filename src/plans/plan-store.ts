import type { Tx } from '../database/database.ts';
import type { SqlTx } from '../database/sql.ts';
import { type Actor, actorIn } from '../events/actor.ts';
import { type FreezePlan as PlanRow, type Account, Prisma } from '../generated/prisma/client.ts';
import { eachField, type FreezeFields } from '../freezes/freeze.ts';
import type { OccurrenceChanges } from './changed-occurrences.ts';
import type { Schedule } from './occurrences.ts';
import type { Plan, Source } from './plan.ts';
import { nowOf } from '../time/clock.ts';
import { notFound } from '../errors.ts';
import type { FreezeDeps } from '../freezes/freeze-deps.ts';
import { minute } from '../time/units.ts';

// Saves and finds plans. The code that creates freezes and the sweep read the table too.

/** A stored plan with its creator. @property version grows with each change. */
export type StoredPlan = Plan & { createdBy: Actor; createdAt: Date; updatedAt: Date; version: number };

const fromRow = (row: PlanRow): StoredPlan => ({
  id: row.id,
  accountId: row.accountId,
  name: row.name,
  ...eachField<Required<FreezeFields>>((field) => row[field]),
  repositories: { include: row.include, exclude: row.exclude },
  recurrence: row.rule === null ? null : { rule: row.rule, except: row.except, until: row.until },
  source: row.source as Source | null,
  changes: row.changes as OccurrenceChanges,
  createdBy: actorIn(row.createdBy),
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
  version: row.version,
});

const planColumns = ({
  id: _id,
  accountId: _account,
  repositories,
  recurrence,
  source,
  changes,
  ...plan
}: Plan) => ({
  ...plan,
  ...repositories,
  rule: recurrence?.rule ?? null,
  except: recurrence?.except ?? [],
  until: recurrence?.until ?? null,
  source: source ?? Prisma.DbNull,
  changes: changes ?? Prisma.DbNull,
});

/** Plans that are neither deleted nor over. */
const current = (now: Date) => ({
  deletedAt: null,
  OR: [{ overAt: null }, { overAt: { gt: now } }, { source: { not: Prisma.DbNull } }],
});

/** SQL for whether a plan may make freezes again and again: it repeats or follows a calendar, and is not over. */
const isRepeating = (now: string): string => `(rule IS NOT NULL OR source IS NOT NULL) AND deleted_at IS NULL
  AND (over_at IS NULL OR over_at > ${now}::timestamptz OR source IS NOT NULL)`;

/** The plans of an owner that are not over, oldest first. */
export async function listPlans(tx: Tx, accountId: bigint, now: Date): Promise<StoredPlan[]> {
  const orderBy = [{ createdAt: 'asc' as const }, { id: 'asc' as const }];
  return (await tx.freezePlan.findMany({ where: { accountId, ...current(now) }, orderBy })).map(fromRow);
}

/** What decides which freezes a repeating plan will create. */
export type RepeatingPlan = Pick<
  Plan,
  keyof Schedule | 'repositories' | 'matchingConditions' | 'excludeConditions' | 'holds' | 'environments'
> & {
  /** The keys of occurrences that have a freeze in the repository, including deleted freezes. */
  made: string[];
};

/** The repeating plans of an owner that are not over. @param repositoryId the repository of `made`. */
export async function repeatingPlans(
  sql: SqlTx,
  accountId: bigint,
  repositoryId: bigint,
  now: Date,
): Promise<RepeatingPlan[]> {
  const text = `
    SELECT json_agg(json_build_object('repositories', json_build_object('include', include, 'exclude', exclude),
      'start', start, 'end', "end", 'timezone', timezone,
      'recurrence', CASE WHEN rule IS NOT NULL THEN json_build_object('rule', rule, 'except', "except", 'until', until) END,
      'source', source, 'changes', changes,
      'matchingConditions', matching_conditions, 'excludeConditions', exclude_conditions, 'holds', holds,
      'environments', environments,
      'made', ARRAY(SELECT occurrence FROM freezes WHERE plan_id = p.id AND repository_id = $3
        AND (occurrence >= $4 OR source IS NOT NULL OR jsonb_exists(changes, occurrence))))) AS plans
    FROM freeze_plans p
    WHERE account_id = $1 AND ${isRepeating('$2')}`;
  // Local dates differ from UTC dates by one day at most.
  const yesterday = new Date(now.getTime() - 86_400_000).toISOString().slice(0, 10);
  const values = [accountId, now, repositoryId, yesterday];
  const [row] = await sql.query<{ plans: RepeatingPlan[] | null }>('repeating-plans', text, values);
  return row!.plans ?? [];
}

/** A plan that is neither deleted nor over; null for any other. */
export async function findPlan(
  tx: Tx,
  where: { id: string; accountId?: bigint },
  now: Date,
): Promise<StoredPlan | null> {
  const row = await tx.freezePlan.findFirst({ where: { ...where, ...current(now) } });
  return row && fromRow(row);
}

/** When a plan ended, and if somebody ended or deleted it, who did and why. */
export type PlanEnding = { at: Date; by: Actor | null; reason: string | null };

/** A plan, even if it is over or deleted; null if it never existed. */
export async function knownPlan(
  tx: Tx,
  where: { id: string; accountId: bigint },
  now: Date,
): Promise<{ plan: StoredPlan; ending: PlanEnding | null } | null> {
  const row = await tx.freezePlan.findFirst({ where });
  return row && { plan: fromRow(row), ending: endingOf(row, now) };
}

/** The plans of an owner that are over or deleted, the last one first. */
export async function pastPlans(
  tx: Tx,
  accountId: bigint,
  now: Date,
  most: number,
): Promise<{ plan: StoredPlan; ending: PlanEnding }[]> {
  const rows = await tx.freezePlan.findMany({
    where: { accountId, NOT: current(now) },
    orderBy: [{ updatedAt: 'desc' }, { id: 'asc' }],
    take: most,
  });
  return rows
    .map((row) => ({ plan: fromRow(row), ending: endingOf(row, now)! }))
    .toSorted((one, other) => other.ending.at.getTime() - one.ending.at.getTime());
}

function endingOf(
  { deletedAt, overAt, source, deletedBy, deleteReason }: PlanRow,
  now: Date,
): PlanEnding | null {
  const at = deletedAt ?? (overAt && overAt <= now && source === null ? overAt : null);
  return at && { at, by: deletedBy === null ? null : actorIn(deletedBy), reason: deleteReason };
}

/** Locks the plan, so that other changes and the keeping of its freezes wait until the transaction ends. */
export async function lockPlan(tx: Tx, id: string): Promise<void> {
  await tx.$queryRaw`SELECT 1 FROM freeze_plans WHERE id = ${id}::uuid FOR UPDATE`;
}

export async function insertPlan(tx: Tx, plan: Plan, by: Actor, now: Date): Promise<void> {
  const { id, accountId } = plan;
  const stamps = { createdAt: now, createdBy: by, updatedAt: now, updatedBy: by, keptAt: now };
  const ofSource = plan.source && { overAt: now, sourceDueAt: nextReading(now) };
  await tx.freezePlan.create({ data: { id, accountId, ...planColumns(plan), ...stamps, ...ofSource } });
}

export async function savePlan(tx: Tx, plan: StoredPlan, by: Actor, now: Date): Promise<void> {
  const { createdBy: _by, createdAt: _at, updatedAt: _then, version: _version, ...rest } = plan;
  await tx.freezePlan.update({
    where: { id: plan.id },
    data: { ...planColumns(rest), version: { increment: 1 }, updatedAt: now, updatedBy: by },
  });
}

/** Notes that the future freezes of a plan exist. @param overAt when its last freeze ends; undefined to leave it. */
export async function noteKept(
  tx: Tx,
  id: string,
  overAt: Date | null | undefined,
  now: Date,
): Promise<void> {
  await tx.freezePlan.update({
    where: { id },
    data: { keptAt: now, ...(overAt !== undefined && { overAt }) },
  });
}

/** How often a calendar is read, in milliseconds. */
const readEvery = 15 * minute;

/** When a calendar that was read now is read again. */
const nextReading = (now: Date): Date => new Date(now.getTime() + readEvery);

/** Notes what a calendar said, and when it is read again. The plan itself did not change. */
export async function noteRead(tx: Tx, id: string, source: Source, now: Date): Promise<void> {
  await tx.freezePlan.update({ where: { id }, data: { source, sourceDueAt: nextReading(now) } });
}

/** Notes that the plan changed, though nobody changed it. */
export async function touchPlan(tx: Tx, id: string, now: Date): Promise<void> {
  await tx.freezePlan.update({ where: { id }, data: { version: { increment: 1 }, updatedAt: now } });
}

/** The plans whose calendars are to be read. */
export async function plansToRead(tx: Tx, now: Date): Promise<string[]> {
  const where = { sourceDueAt: { lte: now }, deletedAt: null };
  return (await tx.freezePlan.findMany({ where, select: { id: true } })).map(({ id }) => id);
}

/** Marks a plan as deleted, with who, when and why. */
export async function markPlanDeleted(tx: Tx, id: string, by: Actor, why: string, now: Date): Promise<void> {
  await tx.freezePlan.update({
    where: { id },
    data: { deletedAt: now, deletedBy: by, deleteReason: why },
  });
}

/** Takes the deletion of a plan back. */
export async function markPlanRestored(tx: Tx, id: string, by: Actor, now: Date): Promise<void> {
  await tx.freezePlan.update({
    where: { id },
    data: {
      ...{ deletedAt: null, deletedBy: Prisma.DbNull, deleteReason: null },
      ...{ version: { increment: 1 }, updatedAt: now, updatedBy: by },
    },
  });
}

/**
 * The plan of this id, while it is not over.
 * @throws Refusal not-found.
 */
export async function requirePlan(
  tx: Tx,
  { clock }: Pick<FreezeDeps, 'clock'>,
  account: Pick<Account, 'id' | 'login'>,
  id: string,
): Promise<StoredPlan> {
  const plan = await findPlan(tx, { id, accountId: account.id }, nowOf(clock));
  if (plan) return plan;
  throw notFound(`${account.login} has no freeze plan ${id}. It may be over or deleted.`);
}
