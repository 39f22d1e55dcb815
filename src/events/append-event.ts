import type { Actor } from './actor.ts';
import type { Tx } from '../database/database.ts';
import type { Prisma, Product } from '../generated/prisma/client.ts';

/** A freeze in the audit log, by the names of the API. */
export type FreezeInEvent = { reason: string; [field: string]: unknown };

/** The settings of a repository in the audit log. */
export type RepositorySettings = Record<string, boolean | number | string | null>;
/** An exemption in the audit log. */
export type ExemptionAttributes = {
  head_sha: string;
  any_head: boolean;
  /** Null for every freeze. */
  freeze_ids: string[] | null;
  reason: string;
  public_reason: string | null;
  expires_at: string;
  requested_by: Actor;
};

/** All events. `type` and `metadata` have the shapes that clients of the interface read. */
export type AuditEvent =
  | {
      type: 'scheduled_freeze.create';
      metadata: { scheduled_freeze_id: string; scheduled_freeze_attributes: FreezeInEvent };
    }
  | {
      type: 'scheduled_freeze.update';
      metadata: {
        scheduled_freeze_id: string;
        scheduled_freeze_attributes_before: FreezeInEvent;
        scheduled_freeze_attributes_after: FreezeInEvent;
      };
    }
  | {
      type: 'scheduled_freeze.delete';
      metadata: {
        scheduled_freeze_id: string;
        scheduled_freeze_attributes: FreezeInEvent;
        reason: string;
      };
    }
  | {
      type: 'freeze_plan.create';
      metadata: { freeze_plan_id: string; freeze_plan_attributes: object };
    }
  | {
      type: 'freeze_plan.update';
      metadata: {
        freeze_plan_id: string;
        freeze_plan_attributes_before: object;
        freeze_plan_attributes_after: object;
      };
    }
  | {
      type: 'freeze_plan.delete';
      metadata: { freeze_plan_id: string; freeze_plan_attributes: object; reason: string };
    }
  | { type: 'product.enabled' | 'product.disabled'; metadata: { product: Product } }
  | {
      type: 'repository_settings.update';
      metadata: { settings_before: RepositorySettings; settings_after: RepositorySettings };
    }
  | { type: 'default_products.update'; metadata: { products_before: Product[]; products_after: Product[] } }
  | {
      type: 'application_key.create' | 'application_key.revoke';
      metadata: {
        key_id: string;
        key_name: string;
        key_scope: string;
        /** The revoked key that created this one, directly or through other keys. */
        revoked_with?: string;
      };
    }
  | {
      type: 'oidc_rule.create' | 'oidc_rule.delete';
      metadata: { oidc_rule_id: string; oidc_rule_attributes: object };
    }
  | {
      type: 'freeze.bypassed';
      metadata: {
        scheduled_freeze_id: string;
        scheduled_freeze_attributes: FreezeInEvent;
        /** The state of our status on the head. `pending` means that it was not required, or that an admin bypassed it. */
        shown_state: string | null;
        head_sha: string;
        merged_at: string;
      };
    }
  | {
      /** The freeze has no end and may be forgotten. */
      type: 'freeze.still_on';
      metadata: {
        scheduled_freeze_id: string;
        scheduled_freeze_attributes: FreezeInEvent;
        on_since: string;
      };
    }
  | {
      type: 'freeze.leaking';
      metadata: {
        scheduled_freeze_id: string;
        scheduled_freeze_attributes: FreezeInEvent;
        head_sha: string;
        /** GitHub's merge state: `CLEAN`, `UNSTABLE` or `HAS_HOOKS`. */
        merge_state: string;
      };
    }
  | {
      type: 'freeze.not_enforced';
      /** `branches` did not require the status check `context` when the freeze was created. */
      metadata: { scheduled_freeze_id: string; branches: string[]; context: string };
    }
  | {
      type:
        | 'exemption.requested'
        | 'exemption.approved'
        | 'exemption.denied'
        | 'exemption.revoked'
        | 'exemption.expired'
        | 'exemption.used';
      metadata: {
        exemption_id: string;
        exemption_attributes: ExemptionAttributes;
        /** The reason for the decision. */
        reason?: string;
        /** What ended an expired exemption: `pushed`, `retargeted`, `time`, `freezes` or `merged`. */
        ended_by?: string;
        /** For an expired exemption: false if it was only requested. */
        was_approved?: boolean;
      };
    }
  | {
      type: 'freeze_status.overwritten';
      metadata: { sha: string; state: string; description: string; expected_state: string };
    }
  | {
      /** GitHub refused the holding status of a commit, and why, in GitHub's words. */
      type: 'freeze_status.refused';
      metadata: { sha: string; state: string; description: string; why: string };
    }
  | {
      /** Somebody overwrites our status more often than we repeat it. `state` and `description` are theirs. */
      type: 'freeze_status.contested';
      metadata: {
        sha: string;
        state: string | null;
        description: string | null;
        expected_state: string;
        times_written: number;
      };
    };

/** The prefixes of the metadata keys that say who acted and when. */
export const participles: Record<AuditEvent['type'], string> = {
  'scheduled_freeze.create': 'created',
  'scheduled_freeze.update': 'updated',
  'scheduled_freeze.delete': 'deleted',
  'freeze_plan.create': 'created',
  'freeze_plan.update': 'updated',
  'freeze_plan.delete': 'deleted',
  'product.enabled': 'enabled',
  'product.disabled': 'disabled',
  'repository_settings.update': 'updated',
  'default_products.update': 'updated',
  'application_key.create': 'created',
  'application_key.revoke': 'revoked',
  'oidc_rule.create': 'created',
  'oidc_rule.delete': 'deleted',
  'freeze.bypassed': 'bypassed',
  'freeze.leaking': 'found',
  'freeze.still_on': 'found',
  // The creator of the freeze, and when.
  'freeze.not_enforced': 'created',
  'exemption.requested': 'requested',
  'exemption.approved': 'approved',
  'exemption.denied': 'denied',
  'exemption.revoked': 'revoked',
  'exemption.expired': 'expired',
  'exemption.used': 'used',
  'freeze_status.overwritten': 'overwritten',
  'freeze_status.refused': 'refused',
  'freeze_status.contested': 'contested',
};

export const auditEventTypes = Object.keys(participles) as AuditEvent['type'][];

/** What happened on GitHub and bypassed us. */
const atGitHub = new Set<AuditEvent['type']>([
  'freeze.bypassed',
  'freeze.leaking',
  'exemption.used',
  'freeze_status.overwritten',
  'freeze_status.refused',
  'freeze_status.contested',
]);

/** What prevents a freeze from holding. */
const failures = new Set<AuditEvent['type']>([
  'freeze.bypassed',
  'freeze.leaking',
  'freeze.not_enforced',
  'freeze_status.overwritten',
  'freeze_status.refused',
  'freeze_status.contested',
]);

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
  const participle = participles[event.type];
  return {
    receivedAt: now,
    accountId: place.accountId,
    repositoryId: place.repository?.id,
    repository: place.repository?.name,
    pullRequest: place.pullRequest?.number,
    baseRef: place.pullRequest?.base,
    type: event.type,
    outcome: failures.has(event.type) ? ('failure' as const) : ('success' as const),
    trigger: atGitHub.has(event.type) ? ('github' as const) : ('api' as const),
    metadata: {
      ...event.metadata,
      [`${participle}_by`]: actor,
      [`${participle}_at`]: now.toISOString(),
      [`${participle}_by_staff`]: false,
    } as unknown as Prisma.InputJsonObject,
  };
}
