import type { Actor } from './actor.ts';
import type { Tx } from '../database/database.ts';
import type { Prisma, Product } from '../generated/prisma/client.ts';

/** A freeze in the audit log, by the names of the API. */
export type FreezeInEvent = { reason: string; [field: string]: unknown };

/** The settings of a repository or an owner in the audit log. */
type SettingsInEvent = Record<string, boolean | number | string | null | string[]>;
/** An exemption in the audit log. */
type ExemptionAttributes = {
  head_sha: string;
  any_head: boolean;
  /** Null for every freeze. */
  freeze_ids: string[] | null;
  reason: string;
  public_reason: string | null;
  expires_at: string;
  requested_by: Actor;
};

type OfFreeze = { scheduled_freeze_id: string; scheduled_freeze_attributes: FreezeInEvent };
type OfPlan = { freeze_plan_id: string; freeze_plan_attributes: object };
type OfRule = { oidc_rule_id: string; oidc_rule_attributes: object };
type OfKey = {
  key_id: string;
  key_name: string;
  key_scope: string;
  /** The revoked key that created this one, directly or through other keys. */
  revoked_with?: string;
};
type OfSettings = { settings_before: SettingsInEvent; settings_after: SettingsInEvent };
type OfExemption = {
  exemption_id: string;
  exemption_attributes: ExemptionAttributes;
  /** The reason for the decision. */
  reason?: string;
  /** What ended an expired exemption: `pushed`, `retargeted`, `time`, `freezes` or `merged`. */
  ended_by?: string;
  /** For an expired exemption: false if it was only requested. */
  was_approved?: boolean;
};

/** The metadata of each type of event, in the shapes that clients of the interface read. */
type Metadata = {
  'scheduled_freeze.create': OfFreeze;
  'scheduled_freeze.update': {
    scheduled_freeze_id: string;
    scheduled_freeze_attributes_before: FreezeInEvent;
    scheduled_freeze_attributes_after: FreezeInEvent;
  };
  'scheduled_freeze.delete': OfFreeze & { reason: string };
  'freeze_plan.create': OfPlan;
  'freeze_plan.update': {
    freeze_plan_id: string;
    freeze_plan_attributes_before: object;
    freeze_plan_attributes_after: object;
  };
  'freeze_plan.delete': OfPlan & { reason: string };
  'product.enabled': { product: Product };
  'product.disabled': { product: Product };
  'repository_settings.update': OfSettings;
  'owner_settings.update': OfSettings;
  'default_products.update': { products_before: Product[]; products_after: Product[] };
  'application_key.create': OfKey;
  'application_key.revoke': OfKey;
  'oidc_rule.create': OfRule;
  'oidc_rule.delete': OfRule;
  'freeze.bypassed': OfFreeze & {
    /** The state of our status on the head. `pending` means that it was not required, or that an admin bypassed it. */
    shown_state: string | null;
    head_sha: string;
    merged_at: string;
  };
  /** @property merge_state GitHub's: `CLEAN`, `UNSTABLE` or `HAS_HOOKS`. */
  'freeze.leaking': OfFreeze & { head_sha: string; merge_state: string };
  /** The freeze has no end and may be forgotten. */
  'freeze.still_on': OfFreeze & { on_since: string };
  /** `branches` did not require the status check `context` when the freeze was created. */
  'freeze.not_enforced': { scheduled_freeze_id: string; branches: string[]; context: string };
  'exemption.requested': OfExemption;
  'exemption.approved': OfExemption;
  'exemption.denied': OfExemption;
  'exemption.revoked': OfExemption;
  'exemption.expired': OfExemption;
  'exemption.used': OfExemption;
  'freeze_status.overwritten': { sha: string; state: string; description: string; expected_state: string };
  /** GitHub refused the holding status of a commit, and why, in GitHub's words. */
  'freeze_status.refused': { sha: string; state: string; description: string; why: string };
  /** Somebody overwrites our status more often than we repeat it. `state` and `description` are theirs. */
  'freeze_status.contested': {
    sha: string;
    state: string | null;
    description: string | null;
    expected_state: string;
    times_written: number;
  };
};

type AuditEventType = keyof Metadata;
export type AuditEvent = {
  [Type in AuditEventType]: { type: Type; metadata: Metadata[Type] };
}[AuditEventType];

type Kind = {
  /** The prefix of the metadata keys that say who acted and when. */
  done: string;
  /** Whether it happened on GitHub and bypassed us. */
  isAtGitHub?: true;
  /** Whether it prevents a freeze from holding. */
  isFailure?: true;
};

export const eventKinds: Record<AuditEventType, Kind> = {
  'scheduled_freeze.create': { done: 'created' },
  'scheduled_freeze.update': { done: 'updated' },
  'scheduled_freeze.delete': { done: 'deleted' },
  'freeze_plan.create': { done: 'created' },
  'freeze_plan.update': { done: 'updated' },
  'freeze_plan.delete': { done: 'deleted' },
  'product.enabled': { done: 'enabled' },
  'product.disabled': { done: 'disabled' },
  'repository_settings.update': { done: 'updated' },
  'owner_settings.update': { done: 'updated' },
  'default_products.update': { done: 'updated' },
  'application_key.create': { done: 'created' },
  'application_key.revoke': { done: 'revoked' },
  'oidc_rule.create': { done: 'created' },
  'oidc_rule.delete': { done: 'deleted' },
  'freeze.bypassed': { done: 'bypassed', isAtGitHub: true, isFailure: true },
  'freeze.leaking': { done: 'found', isAtGitHub: true, isFailure: true },
  'freeze.still_on': { done: 'found' },
  // The creator of the freeze, and when.
  'freeze.not_enforced': { done: 'created', isFailure: true },
  'exemption.requested': { done: 'requested' },
  'exemption.approved': { done: 'approved' },
  'exemption.denied': { done: 'denied' },
  'exemption.revoked': { done: 'revoked' },
  'exemption.expired': { done: 'expired' },
  'exemption.used': { done: 'used', isAtGitHub: true },
  'freeze_status.overwritten': { done: 'overwritten', isAtGitHub: true, isFailure: true },
  'freeze_status.refused': { done: 'refused', isAtGitHub: true, isFailure: true },
  'freeze_status.contested': { done: 'contested', isAtGitHub: true, isFailure: true },
};

export const auditEventTypes = Object.keys(eventKinds) as AuditEventType[];

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
  INSERT INTO audit_events (received_at, account_id, repository_id, repository, type, outcome, trigger, metadata)
  SELECT ${now}::timestamptz, r.account_id, r.id, a.login || '/' || r.name, '${type}', 'success', 'api',
    ${metadata} || ${stamp}::jsonb
  FROM ${from} JOIN repositories r ON r.id = changed.repository_id JOIN accounts a ON a.id = r.account_id`;
