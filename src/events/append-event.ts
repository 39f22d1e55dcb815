// `events/` is the audit log: who did what, where, and by which road. The statement that writes an event also saves the
// deliveries to outgoing webhooks that tell it.
import { type Actor, actorKey, ourselves, roadOf } from './actor.ts';
import { changeOfAccount, changeOfRepository, tellOf } from '../database/changes.ts';
import type { Tx } from '../database/database.ts';
import { throughPrisma } from '../database/sql.ts';
import { datedBack, insertJobsOf } from '../database/queue/queue.ts';
import { jobs } from '../database/queue/jobs.ts';
import { type AuditEvent, type AuditEventType, eventKinds, ownTriggerOf } from './audit-event.ts';
import { noticeTypeOf } from './notice-type.ts';

type OfAccount = { id: bigint; name: string; accountId: bigint; account: { login: string } };

/** Where it happened: an account, and usually one of its repositories (named `owner/name`). */
export type EventPlace = {
  accountId: bigint;
  repository?: { id: bigint; name: string };
  pullRequest?: { number: number; base: string };
};

export const placeOf = (repository: OfAccount): EventPlace => ({
  accountId: repository.accountId,
  repository: { id: repository.id, name: `${repository.account.login}/${repository.name}` },
});

export type Happened = { place: EventPlace; event: AuditEvent };

/**
 * Writes an audit event in the transaction of the change, so that both happen or neither, and with it what the owner's
 * webhooks are told.
 * @param actor null if nobody did it or the actor is unknown.
 */
export async function appendEvent(
  tx: Tx,
  place: EventPlace,
  event: AuditEvent,
  actor: Actor | null,
  now: Date,
): Promise<void> {
  await appendEvents(tx, [{ place, event }], actor, now);
}

/** Writes several events with one statement. */
export async function appendEvents(
  tx: Tx,
  happened: Happened[],
  actor: Actor | null,
  now: Date,
): Promise<void> {
  if (happened.length === 0) return;
  const rows = JSON.stringify(happened.map((each) => rowOf(each, actor, now)));
  await throughPrisma(tx).query('append-events', append, [rows, now]);
}

function rowOf({ place, event }: Happened, actor: Actor | null, now: Date) {
  const road = roadOf(actor);
  return {
    account_id: String(place.accountId),
    repository_id: place.repository && String(place.repository.id),
    repository: place.repository?.name,
    pull_request: place.pullRequest?.number,
    base_ref: place.pullRequest?.base,
    type: event.type,
    actor_key: actor && actorKey(actor),
    outcome: eventKinds[event.type].isFailure ? 'failure' : 'success',
    trigger: road?.trigger ?? ownTriggerOf(event),
    metadata: {
      ...event.metadata,
      ...(road?.via && { via: road.via }),
      ...stampOf(event.type, actor, now),
    },
    notice: noticeTypeOf(event, now),
  };
}

/** The metadata that says who acted and when. */
export function stampOf(type: AuditEventType, actor: Actor | null, now: Date) {
  const { done } = eventKinds[type];
  return { [`${done}_by`]: actor, [`${done}_at`]: now.toISOString(), [`${done}_by_staff`]: false };
}

/** Milliseconds in which what a plan does to many repositories becomes one message of a chat. */
const gathering = 2000;

/**
 * SQL for the parts of a statement that save events, and deliveries to the webhooks that want them. A chat is told in one
 * message what a plan does to many repositories at one instant.
 * The job that sends has a key of this statement alone: nobody waits for it, and it waits for nobody.
 * @param rows SQL for the rows, with the columns of the audit log and `notice`, what people are told.
 * @param now the parameter with the instant.
 */
const saveEvents = (rows: string, now: string): string => `
  happened AS MATERIALIZED (
    SELECT nextval('audit_events_id_seq') AS event_id, each.* FROM (${rows}) AS each
  ), logged AS (
    INSERT INTO audit_events (id, received_at, account_id, repository_id, repository, pull_request, base_ref, type,
      actor_key, outcome, trigger, metadata)
    SELECT event_id, ${now}::timestamptz, account_id, repository_id, repository, pull_request, base_ref, type, actor_key,
      outcome, trigger, metadata FROM happened
    RETURNING ${tellOf(`CASE WHEN repository_id IS NULL THEN ${changeOfAccount('account_id')}
      ELSE ${changeOfRepository('repository_id', 'pull_request')} END`)}
  ), wanted AS (
    SELECT webhook.id AS webhook_id, event_id, notice,
      CASE WHEN webhook.kind <> 'standard' THEN plan END AS plan,
      coalesce(metadata->>'exemption_id', metadata->>'scheduled_freeze_id', metadata->>'webhook_id') AS about,
      coalesce(metadata->>'planned_at', ${now}::timestamptz::text) AS at
    FROM happened JOIN outgoing_webhooks webhook ON webhook.account_id = happened.account_id AND is_enabled
      AND (events = '{}' OR notice = ANY (events))
      AND (repository IS NULL OR repository_pattern IS NULL OR split_part(repository, '/', 2) ~* repository_pattern)
    CROSS JOIN LATERAL (SELECT CASE WHEN pull_request IS NULL THEN metadata->>'freeze_plan_id' END AS plan) AS made_by
    WHERE notice IS NOT NULL
    -- One that is being deleted is told nothing, and fails nobody.
    FOR KEY SHARE OF webhook
  ), delivered AS (
    INSERT INTO outgoing_deliveries AS waiting (id, webhook_id, event_ids, type, subject, group_key, state, created_at,
      next_attempt_at)
    SELECT gen_random_uuid(), webhook_id, array_agg(event_id ORDER BY event_id), notice, min(coalesce(plan, about)),
      plan || ' ' || at || ' ' || notice AS group_key, 'waiting', ${now}::timestamptz,
      ${now}::timestamptz + CASE WHEN plan IS NULL THEN interval '0' ELSE interval '${gathering} milliseconds' END
    FROM wanted GROUP BY webhook_id, notice, plan, at, CASE WHEN plan IS NULL THEN event_id END
    ORDER BY webhook_id, group_key, min(event_id)
    ON CONFLICT (webhook_id, group_key) WHERE state = 'waiting' AND attempts = 0
      DO UPDATE SET event_ids = waiting.event_ids || excluded.event_ids
    RETURNING webhook_id,
      CASE WHEN group_key IS NULL THEN next_attempt_at - interval '${datedBack} milliseconds' ELSE next_attempt_at END AS due_at
  ), woken AS (${insertJobsOf(`
    SELECT '${jobs.sendNotices.task}', (SELECT min(event_id) FROM happened) || '@' || due_at,
      md5(string_agg(DISTINCT webhook_id::text, ' ')), jsonb_build_object('webhookIds', jsonb_agg(DISTINCT webhook_id)), 0, due_at
    FROM delivered GROUP BY due_at ORDER BY 2`)})`;

const append = `
  WITH ${saveEvents(
    `SELECT * FROM jsonb_to_recordset($1::jsonb) AS event (account_id int8, repository_id int8, repository text,
      pull_request numeric, base_ref text, type text, actor_key text, outcome text, trigger text, metadata jsonb, notice text)`,
    '$2',
  )}
  SELECT count(*)::int AS told FROM happened`;

/**
 * SQL for the parts of a statement that write one successful event for each of many rows with a `repository_id`, as part
 * of the statement by which a plan changes them. A part is a name with `AS (…)`, and parts are separated by commas.
 * @param told SQL for what people are told: the type of notice.
 * @param from the rows, as `changed`. @param metadata SQL for the metadata besides the stamp.
 * @param now the parameter with the instant. @param stamp the parameter with the result of `stampOf`, as JSON.
 */
export const insertEvents = (
  type: AuditEventType,
  told: string,
  from: string,
  metadata: string,
  { now, stamp }: { now: string; stamp: string },
): string =>
  saveEvents(
    `SELECT r.account_id, r.id AS repository_id, a.login || '/' || r.name AS repository, NULL::numeric AS pull_request,
      NULL::text AS base_ref, '${type}'::text AS type,
      ${keyOfActor(`${stamp}::jsonb->'${eventKinds[type].done}_by'`, `about.metadata->>'freeze_plan_id'`)} AS actor_key,
      'success'::text AS outcome, 'plan'::text AS trigger, about.metadata || ${stamp}::jsonb AS metadata, ${told} AS notice
    FROM ${from} JOIN repositories r ON r.id = changed.repository_id JOIN accounts a ON a.id = r.account_id
    CROSS JOIN LATERAL (SELECT ${metadata} AS metadata) AS about`,
    now,
  );

/** SQL for `actorKey`. What Holdfast does for a plan has the plan's id. @param who SQL for the actor, as JSON. */
export const keyOfActor = (who: string, plan: string): string => `
  CASE WHEN ${who}->>'type' = 'user' THEN '@' || lower(${who}->>'name')
    WHEN ${who}->>'id' = '${ourselves.id}' THEN coalesce(${plan}, '${ourselves.id}') ELSE ${who}->>'id' END`;
