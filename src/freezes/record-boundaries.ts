import { nowOf } from '../time/clock.ts';
import type { Tx } from '../database/database.ts';
import { type SqlRow, throughPrisma } from '../database/sql.ts';
import { ourselves } from '../events/actor.ts';
import { appendEvents, appendEvent, placeOf } from '../events/append-event.ts';
import type { FreezeInEvent } from '../events/audit-event.ts';
import { freezeProducts } from '../installations/product.ts';
import { defineTask, presentOf } from '../database/queue/define-task.ts';
import { jobs } from '../database/queue/jobs.ts';
import { attributesJson, fromRow } from './freeze-columns.ts';
import { boundariesSince, nextBoundary } from './freeze-window.ts';
import { fullName } from '../installations/find-repository.ts';
import { forgottenSince, freezeInEvent } from './freeze.ts';
import type { FreezeDeps } from './freeze-deps.ts';

/** How many freezes one transaction handles. */
const freezesAtOnce = 500;
/** Milliseconds after which we look again at freezes that somebody is changing. */
const lookAgainAfter = 1000;

/**
 * Writes an audit event where a freeze began or ended, or does so in an hour. Several replicas may run this at once: the
 * replica that locks a freeze writes its events. Nothing begins or ends where no freeze holds.
 * @param at the boundary that woke us. The database's clock decides when that is, and may be ahead of ours.
 */
export async function recordBoundaries(
  deps: Pick<FreezeDeps, 'db' | 'sql' | 'queue' | 'clock' | 'stopping'>,
  at?: string,
): Promise<void> {
  const now = new Date(Math.max(nowOf(deps.clock).getTime(), at ? Date.parse(at) : 0));
  for (;;) {
    const next = await nextOfAll(deps);
    if (!next) return;
    const isDone = next > now || deps.stopping.aborted;
    if (isDone || (await deps.db.$transaction((tx) => record(tx, now))) === 0) {
      const again = isDone ? next : new Date(now.getTime() + lookAgainAfter);
      return deps.queue.send([jobs.recordBoundaries(again)]);
    }
  }
}

async function nextOfAll({ sql }: Pick<FreezeDeps, 'sql'>): Promise<Date | null> {
  const [row] = await sql.read<{ at: Date | null }>(
    'next-boundary',
    'SELECT min(next_told_at) AS at FROM freezes WHERE deleted_at IS NULL',
  );
  return row!.at;
}

type Due = SqlRow & {
  id: string;
  plan_id: string | null;
  startsAt: Date;
  endsAt: Date | null;
  next_told_at: Date;
  attributes: FreezeInEvent;
  repository_id: bigint;
  repository: string;
  account_id: bigint;
  holds: boolean;
};

const due = `
  SELECT f.id::text, f.plan_id::text, f.starts_at AS "startsAt", f.ends_at AS "endsAt", f.next_told_at, ${attributesJson('f')} AS attributes,
    r.id AS repository_id, a.login || '/' || r.name AS repository, a.id AS account_id,
    NOT r.archived AND r.products::text[] && '{${freezeProducts}}' AND EXISTS (
      SELECT FROM installations i WHERE i.id = r.installation_id AND i.deleted_at IS NULL AND i.suspended_at IS NULL
    ) AS holds
  FROM freezes f JOIN repositories r ON r.id = f.repository_id JOIN accounts a ON a.id = r.account_id
  WHERE f.next_told_at <= $1::timestamptz AND f.deleted_at IS NULL
  ORDER BY f.next_told_at, f.id LIMIT ${freezesAtOnce} FOR UPDATE OF f SKIP LOCKED`;

const note = `
  UPDATE freezes SET next_told_at = told.next FROM jsonb_to_recordset($1::jsonb) AS told (id uuid, next timestamptz)
  WHERE freezes.id = told.id`;

/** @returns the number of freezes. */
async function record(tx: Tx, now: Date): Promise<number> {
  const rows = await throughPrisma(tx).query<Due>('due-boundaries', due, [now]);
  if (rows.length === 0) return 0;
  const told = rows.map((row) => ({ id: row.id, next: nextBoundary(row, now) }));
  await throughPrisma(tx).query('note-boundaries', note, [JSON.stringify(told)]);
  const happened = rows
    .filter(({ holds }) => holds)
    .flatMap((row) =>
      boundariesSince(row, row.next_told_at, now).map(({ type, at }) => ({
        at,
        place: { accountId: row.account_id, repository: { id: row.repository_id, name: row.repository } },
        event: {
          type,
          metadata: {
            scheduled_freeze_id: row.id,
            ...(row.plan_id !== null && { freeze_plan_id: row.plan_id }),
            scheduled_freeze_attributes: row.attributes,
            planned_at: at.toISOString(),
          },
        },
      })),
    )
    .sort((one, other) => one.at.getTime() - other.at.getTime());
  await appendEvents(tx, happened, ourselves, now);
  return rows.length;
}

export const recordBoundariesTask = defineTask(jobs.recordBoundaries, (deps: FreezeDeps, { at }) => {
  const planned = at === undefined ? null : new Date(at);
  return recordBoundaries(deps, presentOf(nowOf(deps.clock), planned).toISOString());
});

/** How many freezes one transaction reminds of. */
const mostReminders = 100;

/** The instant before which the last reminder must be to write another one: a week ago. */
const toldAgainSince = (now: Date): Date => new Date(now.getTime() - 7 * 86_400_000);

/**
 * Writes a weekly audit event about each freeze without an end that has been ongoing for two weeks. Several replicas may
 * run this at once: the replica that marks a freeze writes its event.
 */
export async function remindOfFreezes(deps: Pick<FreezeDeps, 'db' | 'clock' | 'log'>): Promise<void> {
  const now = nowOf(deps.clock);
  for (let told = mostReminders; told === mostReminders;)
    told = await deps.db.$transaction((tx) => remind(deps, tx, now));
}

/** @returns the number of events. */
async function remind({ log }: Pick<FreezeDeps, 'log'>, tx: Tx, now: Date): Promise<number> {
  const marked = await tx.$queryRaw<{ id: string }[]>`
    UPDATE freezes SET still_on_told_at = ${now} WHERE id IN (
      SELECT f.id FROM freezes f JOIN repositories r ON r.id = f.repository_id
      WHERE f.ends_at IS NULL AND f.deleted_at IS NULL AND f.starts_at <= ${forgottenSince(now)}
        AND (f.still_on_told_at IS NULL OR f.still_on_told_at <= ${toldAgainSince(now)})
        AND r.installation_id IS NOT NULL
      ORDER BY f.starts_at LIMIT ${mostReminders} FOR UPDATE OF f SKIP LOCKED)
    RETURNING id`;
  const rows = await tx.freeze.findMany({
    where: { id: { in: marked.map(({ id }) => id) } },
    include: { repository: { include: { account: true } } },
    orderBy: { startsAt: 'asc' },
  });
  for (const { repository, ...row } of rows) {
    const freeze = fromRow(row);
    const metadata = { ...freezeInEvent(freeze), on_since: freeze.startsAt.toISOString() };
    await appendEvent(tx, placeOf(repository), { type: 'freeze.still_on', metadata }, ourselves, now);
    log.info(
      { repository: fullName(repository), freeze: freeze.id },
      'a freeze without an end is still ongoing',
    );
  }
  return marked.length;
}

export const remindOfFreezesTask = defineTask(jobs.remindOfFreezes, remindOfFreezes);
