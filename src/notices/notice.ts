import type { Actor } from '../events/actor.ts';
import type { AuditEventType } from '../events/audit-event.ts';
import type { NoticeType } from '../events/notice-type.ts';

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
  /** The number of the pull request that it is about. */
  pullRequest: number | null;
  /** Null where a clock did it. */
  actor: Actor | null;
  /** The page about it. */
  url: string;
  /** The plan of the freeze, if it has one. */
  planId: string | null;
  /** The freeze, with the fields of the API and its `id`. */
  freeze: (Record<string, unknown> & { id: string; reason: string }) | null;
  /** The exemption, with the fields of the API. */
  exemption: (Record<string, unknown> & { id: string; reason: string; state: string }) | null;
  /** The other metadata of the audit event: `head_sha`, `merged_at`, `branches`, the reason of a deletion (`reason`). */
  details: Record<string, unknown>;
};

/** A row of the audit log, with the login of its account. */
export type TellingEvent = {
  id: bigint;
  type: AuditEventType;
  receivedAt: Date;
  owner: string;
  repository: string | null;
  pullRequest: number | null;
  metadata: Record<string, unknown>;
};
