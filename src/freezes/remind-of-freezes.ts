import { nowOf } from '../time/clock.ts';
import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { ourselves } from '../events/actor.ts';
import { appendEvent, placeOf } from '../events/append-event.ts';
import { fullName } from '../installations/find-repository.ts';
import { forgottenSince, freezeInEvent } from './freeze.ts';
import { fromRow } from './freeze-columns.ts';
import { defineTask } from '../database/queue/define-task.ts';
import { jobs } from '../database/queue/jobs.ts';

/** The instant before which the last reminder must be to write another one: a week ago. */
const toldAgainSince = (now: Date): Date => new Date(now.getTime() - 7 * 86_400_000);

/** How many freezes one transaction handles. */
const atOnce = 100;

/**
 * Writes a weekly audit event about each freeze without an end that has been ongoing for two weeks. Several replicas may
 * run this at once: the replica that marks a freeze writes its event.
 */
export async function remindOfFreezes(deps: Pick<Deps, 'db' | 'clock' | 'log'>): Promise<void> {
  const now = nowOf(deps.clock);
  for (let told = atOnce; told === atOnce;) told = await deps.db.$transaction((tx) => remind(deps, tx, now));
}

/** @returns the number of events. */
async function remind({ log }: Pick<Deps, 'log'>, tx: Tx, now: Date): Promise<number> {
  const marked = await tx.$queryRaw<{ id: string }[]>`
    UPDATE freezes SET still_on_told_at = ${now} WHERE id IN (
      SELECT f.id FROM freezes f JOIN repositories r ON r.id = f.repository_id
      WHERE f.ends_at IS NULL AND f.deleted_at IS NULL AND f.starts_at <= ${forgottenSince(now)}
        AND (f.still_on_told_at IS NULL OR f.still_on_told_at <= ${toldAgainSince(now)})
        AND r.installation_id IS NOT NULL
      ORDER BY f.starts_at LIMIT ${atOnce} FOR UPDATE OF f SKIP LOCKED)
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
