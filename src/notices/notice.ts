// `notices/` tells people: an event becomes a notice, a notice a message for each kind of chat or a signed body, and
// that is sent until it arrives. Whom to tell is decided where the event is written.
import { type Actor, ourselves } from '../events/actor.ts';
import { type AuditEvent, type AuditEventType, eventKinds } from '../events/audit-event.ts';
import { isReadable } from '../words/describe-event.ts';
import { type NoticeType, noticeTypeOf } from '../events/notice-type.ts';
import { freezePath, ownerSettingsPath, pullRequestPath, repositoryPath } from '../page-paths.ts';
import type { Ground } from '../database/ground.ts';

export { type NoticeType, noticeTypes } from '../events/notice-type.ts';

/** What a receiver gets at all: one of the types, or the test that somebody asked for. */
export type DeliveredType = NoticeType | 'webhook.test';

/** One thing that happened, as it was then. */
export type Notice = {
  /** The `webhook-id`: the same for every receiver, however often it is sent. */
  id: string;
  type: DeliveredType;
  /** When it happened; for what a clock did, its planned instant. */
  at: Date;
  /** Whether it is told more than 5 s after `at`. */
  late: boolean;
  /** The login of the owner. */
  owner: string;
  /** `owner/name`; null for what concerns the owner. */
  repository: string | null;
  pullRequest: number | null;
  /** Null where a clock did it. */
  actor: Actor | null;
  /** The page about it. */
  url: string;
  planId: string | null;
  /** The freeze, with the fields of the API and its `id`. */
  freeze: (Record<string, unknown> & { id: string; reason: string }) | null;
  /** The exemption, with the fields of the API. */
  exemption: (Record<string, unknown> & { id: string; reason: string; state: string }) | null;
  /** The other metadata of the audit event: `head_sha`, `merged_at`, `branches`, the reason of a deletion (`reason`), and the `webhook` that was disabled. */
  details: Record<string, unknown>;
};

/** A row of the audit log, with the login of its account. */
type TellingEvent = {
  id: bigint;
  type: AuditEventType;
  receivedAt: Date;
  owner: string;
  repository: string | null;
  pullRequest: number | null;
  metadata: Record<string, unknown>;
};

/** @param eventId of the audit log. */
const noticeId = (eventId: bigint): string => `evt_${eventId}`;

/** Milliseconds after which something is told late. */
const lateAfter = 5000;

/** What people are told of an event. @returns null for an event of which they are told nothing. */
function noticeOf(event: TellingEvent, publicUrl: string): Notice | null {
  const { id, receivedAt, owner, repository, pullRequest, metadata } = event;
  // One that nobody can read must not keep its receivers from what comes after it.
  if (!isReadable({ ...event, pull_request: pullRequest })) return null;
  const type = noticeTypeOf(event as unknown as AuditEvent, receivedAt);
  if (type === null) return null;
  const { done } = eventKinds[event.type];
  const {
    scheduled_freeze_id: freezeId,
    freeze_plan_id: planId = null,
    scheduled_freeze_attributes: attributes,
    scheduled_freeze_attributes_after: after = attributes,
    exemption_id: exemptionId,
    exemption_attributes: exemption,
    webhook_id: webhookId,
    webhook_attributes: webhook,
    planned_at: plannedAt,
    [`${done}_by`]: by,
    [`${done}_at`]: _at,
    [`${done}_by_staff`]: _staff,
    via: _via,
    ...details
  } = metadata as KnownNames & Record<string, unknown>;
  const actor = by as Actor | null | undefined;
  const known: KnownNames = details;
  const happenedAt = plannedAt ?? known.merged_at ?? endOfExemption(known, exemption);
  const at = happenedAt ? new Date(happenedAt) : receivedAt;
  const url = publicUrl + pageOfNotice({ owner, repository, pullRequest }, freezeId);
  return {
    id: noticeId(id),
    type,
    at,
    late: receivedAt.getTime() - at.getTime() > lateAfter,
    owner,
    repository,
    pullRequest,
    actor: actor && actor.id !== ourselves.id ? actor : null,
    url,
    planId,
    freeze:
      freezeId === undefined || after === undefined
        ? null
        : { id: freezeId, ...after, ...(planId !== null && { plan_id: planId }) },
    exemption:
      exemptionId === undefined || exemption === undefined ? null : { id: exemptionId, ...exemption, url },
    details: webhook ? { webhook: { id: webhookId, ...webhook }, ...details } : details,
  };
}

/** What noticeOf knows of the metadata. */
type KnownNames = {
  scheduled_freeze_id?: string;
  freeze_plan_id?: string;
  scheduled_freeze_attributes?: { reason: string };
  scheduled_freeze_attributes_after?: { reason: string };
  exemption_id?: string;
  exemption_attributes?: { reason: string; state: string; expires_at: string; used_at?: string | null };
  webhook_id?: string;
  webhook_attributes?: object;
  planned_at?: string;
  merged_at?: string;
  ended_by?: string;
};

/** When the clock or a merge ended an exemption. */
const endOfExemption = ({ ended_by }: KnownNames, exemption: KnownNames['exemption_attributes']) =>
  ended_by === 'time' ? exemption?.expires_at : exemption?.used_at;

function pageOfNotice(
  { owner, repository, pullRequest }: Pick<TellingEvent, 'owner' | 'repository' | 'pullRequest'>,
  freezeId: string | undefined,
): string {
  if (repository === null) return ownerSettingsPath(owner);
  const [login, name] = repository.split('/') as [string, string];
  const place = { name, account: { login } };
  if (pullRequest !== null) return pullRequestPath(place, pullRequest);
  return freezeId === undefined ? repositoryPath(place) : freezePath(place, freezeId);
}

const events = `
  SELECT e.id, e.type, e.received_at AS "receivedAt", a.login AS owner, e.repository, e.pull_request::int4 AS "pullRequest",
    e.metadata
  FROM audit_events e JOIN accounts a ON a.id = e.account_id WHERE e.id = ANY ($1::int8[]) ORDER BY e.id`;

/** What people are told of some events, in the order in which they happened. */
export async function loadNotices(
  { sql, config }: Pick<Ground, 'sql' | 'config'>,
  eventIds: bigint[],
): Promise<Notice[]> {
  const rows = await sql.read<TellingEvent>('notices', events, [eventIds]);
  return rows.flatMap((event) => noticeOf(event, config.publicUrl) ?? []);
}

/** What a webhook of an owner is told if somebody tests it. @param delivery the message itself: nothing happened. */
const testNotice = (
  { config }: Pick<Ground, 'config'>,
  owner: string,
  delivery: { id: string; createdAt: Date },
): Notice => ({
  id: `evt_${delivery.id}`,
  type: 'webhook.test',
  at: delivery.createdAt,
  late: false,
  owner,
  repository: null,
  pullRequest: null,
  actor: null,
  url: config.publicUrl + ownerSettingsPath(owner),
  planId: null,
  freeze: null,
  exemption: null,
  details: {},
});

/** What a delivery tells; null if the audit log has forgotten it. @param loaded the notices of its events, and maybe others. */
export function noticesOf(
  deps: Pick<Ground, 'config'>,
  owner: string,
  delivery: { id: string; type: string; eventIds: bigint[]; createdAt: Date },
  loaded: Notice[],
): [Notice, ...Notice[]] | null {
  if (delivery.type === 'webhook.test') return [testNotice(deps, owner, delivery)];
  const ids = new Set(delivery.eventIds.map(noticeId));
  const [first, ...others] = loaded.filter(({ id }) => ids.has(id));
  return first ? [first, ...others] : null;
}
