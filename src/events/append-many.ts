import type { Actor } from './actor.ts';
import { type AuditEvent, participles } from './append-event.ts';

/**
 * SQL that writes one successful event for each of many rows that have a `repository_id`, to be a part of the
 * statement that changes them.
 * @param from the rows, as `changed`; @param metadata SQL for what the event has beside its stamp.
 * @param now the parameter that holds the instant; @param stamp the one that holds what `stampOf` gives, as text.
 */
export const insertEvents = (
  type: AuditEvent['type'],
  from: string,
  metadata: string,
  { now, stamp }: { now: string; stamp: string },
): string => `
  INSERT INTO audit_events (received_at, account_id, repository_id, repository, type, outcome, trigger, metadata)
  SELECT ${now}::timestamptz, r.account_id, r.id, a.login || '/' || r.name, '${type}', 'success', 'api',
    ${metadata} || ${stamp}::jsonb
  FROM ${from} JOIN repositories r ON r.id = changed.repository_id JOIN accounts a ON a.id = r.account_id`;

/** Who did it and when, as the metadata of an event says it; JSON. */
export function stampOf(type: AuditEvent['type'], by: Actor, now: Date): string {
  const did = participles[type];
  return JSON.stringify({
    [`${did}_by`]: by,
    [`${did}_at`]: now.toISOString(),
    [`${did}_by_staff`]: false,
  });
}
