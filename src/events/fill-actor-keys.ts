import { nowOf } from '../time/clock.ts';
import { defineTask } from '../database/queue/define-task.ts';
import { jobs } from '../database/queue/jobs.ts';
import { keyOfActor } from './append-event.ts';
import type { Ground } from '../database/ground.ts';

// Events of versions before the column lack who acted: it stands in their metadata, as `created_by`, `deleted_by`, …
// The migration that adds the column sends the first job. Until the last one, filters by a person find newer events only.

/** How many events one statement fills. It must not keep the embedded database for long. */
const eventsAtOnce = 500;
/** Milliseconds between two statements, so that a million events take minutes and nobody waits. */
const pause = 100;
/** Milliseconds after which we look for events that a process of the version before has written since. */
const lookForEventsEvery = 3_600_000;

const fill = `
  WITH next AS (
    SELECT id, account_id, actor_key, metadata FROM audit_events WHERE id > $1::bigint ORDER BY id LIMIT ${eventsAtOnce}
  ), filled AS (
    UPDATE audit_events AS event SET actor_key = ${keyOfActor('who', `event.metadata->>'freeze_plan_id'`)}
    FROM next CROSS JOIN LATERAL (
      SELECT who FROM jsonb_each(CASE WHEN jsonb_typeof(next.metadata) = 'object' THEN next.metadata END) AS each (field, who)
      WHERE field LIKE '%\\_by' AND jsonb_typeof(who) = 'object' LIMIT 1
    ) AS acted
    WHERE event.id = next.id AND next.actor_key IS NULL
  )
  SELECT max(id)::text AS last FROM next`;

/** Fills the next events. @param after the id of the last one before. @param isAgain whether all were filled once. */
export async function fillActorKeys(
  { sql, queue, clock }: Pick<Ground, 'sql' | 'queue' | 'clock'>,
  { after, isAgain }: { after: string; isAgain: boolean },
): Promise<void> {
  const [row] = await sql.query<{ last: string | null }>('fill-actor-keys', fill, [after]);
  const last = row!.last;
  if (last === null && isAgain) return;
  const at = new Date(nowOf(clock).getTime() + (last === null ? lookForEventsEvery : pause));
  await queue.send([jobs.fillActorKeys({ after: last ?? after, isAgain: isAgain || last === null }, at)]);
}

export const fillActorKeysTask = defineTask(jobs.fillActorKeys, fillActorKeys, {
  takers: 1,
  yields: true,
});
