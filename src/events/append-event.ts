import { type Actor, actorKey, ourselves } from './actor.ts';
import type { Tx } from '../database/database.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { type AuditEvent, type AuditEventType, eventKinds } from './audit-event.ts';

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

/** What happened, and where. */
export type Happened = { place: EventPlace; event: AuditEvent };

/**
 * Writes an audit event in the transaction of the change, so that both happen or neither.
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
  await tx.auditEvent.createMany({ data: happened.map((each) => rowOf(each, actor, now)) });
}

function rowOf({ place, event }: Happened, actor: Actor | null, now: Date) {
  const { isFailure, isAtGitHub } = eventKinds[event.type];
  return {
    receivedAt: now,
    accountId: place.accountId,
    repositoryId: place.repository?.id,
    repository: place.repository?.name,
    pullRequest: place.pullRequest?.number,
    baseRef: place.pullRequest?.base,
    type: event.type,
    actorKey: actor && actorKey(actor),
    outcome: isFailure ? ('failure' as const) : ('success' as const),
    trigger: isAtGitHub ? ('github' as const) : ('api' as const),
    metadata: {
      ...event.metadata,
      ...stampOf(event.type, actor, now),
    } as unknown as Prisma.InputJsonObject,
  };
}

/** The metadata that says who acted and when. */
export function stampOf(type: AuditEventType, actor: Actor | null, now: Date) {
  const { done } = eventKinds[type];
  return { [`${done}_by`]: actor, [`${done}_at`]: now.toISOString(), [`${done}_by_staff`]: false };
}

/**
 * SQL that writes one successful event for each of many rows with a `repository_id`, as part of the statement that
 * changes them.
 * @param from the rows, as `changed`. @param metadata SQL for the metadata besides the stamp.
 * @param now the parameter with the instant. @param stamp the parameter with the result of `stampOf`, as JSON.
 */
export const insertEvents = (
  type: AuditEventType,
  from: string,
  metadata: string,
  { now, stamp }: { now: string; stamp: string },
): string => `
  INSERT INTO audit_events (received_at, account_id, repository_id, repository, type, actor_key, outcome, trigger, metadata)
  SELECT ${now}::timestamptz, r.account_id, r.id, a.login || '/' || r.name, '${type}',
    ${keyOfActor(`${stamp}::jsonb->'${eventKinds[type].done}_by'`, `(${metadata})->>'freeze_plan_id'`)}, 'success', 'api',
    ${metadata} || ${stamp}::jsonb
  FROM ${from} JOIN repositories r ON r.id = changed.repository_id JOIN accounts a ON a.id = r.account_id`;

/** SQL for `actorKey`. What Holdfast does for a plan has the plan's id. @param who SQL for the actor, as JSON. */
const keyOfActor = (who: string, plan: string): string => `
  CASE WHEN ${who}->>'type' = 'user' THEN '@' || lower(${who}->>'name')
    WHEN ${who}->>'id' = '${ourselves.id}' THEN coalesce(${plan}, '${ourselves.id}') ELSE ${who}->>'id' END`;
