import type { Actor } from './actor.ts';
import { type AuditEvent, participles } from './append-event.ts';

/**
 * SQL that writes one successful event for each of many rows with a `repository_id`, as part of the statement that
 * changes them.
 * @param from the rows, as `changed`. @param metadata SQL for the metadata besides the stamp.
 * @param now the parameter with the instant. @param stamp the parameter with the result of `stampOf`, as text.
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

/** The metadata that says who acted and when, as JSON. */
export function stampOf(type: AuditEvent['type'], by: Actor, now: Date): string {
  const did = participles[type];
  return JSON.stringify({
    [`${did}_by`]: by,
    [`${did}_at`]: now.toISOString(),
    [`${did}_by_staff`]: false,
  });
}
