import type { Actor, SlackVia, Trigger } from './actor.ts';

// What the audit log can hold, as plain values: the service writes it, and pages and the command line describe it.

/** A freeze in the audit log, by the names of the API. */
export type FreezeInEvent = { reason: string; [field: string]: unknown };

/** The settings of a repository or an owner in the audit log. */
type SettingsInEvent = Record<string, boolean | number | string | null | string[]>;
/** An exemption in the audit log. */
type ExemptionAttributes = {
  pull_request: number;
  head_sha: string;
  any_head: boolean;
  /** Null for every freeze. */
  freeze_ids: string[] | null;
} & EveryExemption;
/** @property sha null for an exemption of a run. */
type DeploymentExemptionAttributes = {
  environment: string;
  sha: string | null;
  run_id: number | null;
} & EveryExemption;
type EveryExemption = {
  state: string;
  reason: string;
  public_reason: string | null;
  expires_at: string;
  requested_by: Actor;
  requested_at: string;
  decided_by: Actor | null;
  decided_at: string | null;
  decision_reason: string | null;
  used_at: string | null;
};

/** A template of the forms that freeze, in the audit log. */
type TemplateInEvent = { name: string; [field: string]: unknown };

type OfSettings = {
  settings_before: SettingsInEvent;
  settings_after: SettingsInEvent;
  /** Where Holdfast found out which teams the settings mean: GitHub's ids, null for a team that GitHub did not have. */
  team_ids?: Record<string, number | null>;
};
type OfFreeze = {
  scheduled_freeze_id: string;
  /** The plan that made it; absent if none did. */
  freeze_plan_id?: string;
  scheduled_freeze_attributes: FreezeInEvent;
};
/** Something that the clock did, or will do in an hour: when, by the freeze's window. */
type OfClock = OfFreeze & { planned_at: string };
type OfPlan = { freeze_plan_id: string; freeze_plan_attributes: object };
type OfSlackApp = { slack_team_id: string; slack_team: string };
type OfLockApp = { app_id: number; app_slug: string };
type OfRule = { oidc_rule_id: string; oidc_rule_attributes: object };
type OfCalendar = { calendar_id: string; calendar_attributes: object };
type OfKey = {
  key_id: string;
  key_name: string;
  key_scope: string;
  /** The revoked key that created this one, directly or through other keys. */
  revoked_with?: string;
};
/** An outgoing webhook in the audit log. Its secrets are in no event: the address of a chat is one. */
type OfWebhook = { webhook_id: string; webhook_attributes: object };
type OfRuleset = {
  ruleset_id: number;
  /** The name of the ruleset. */
  ruleset: string;
  /** What Holdfast found. */
  found?: 'changed' | 'deleted';
};
type OfExemption<Attributes = ExemptionAttributes> = {
  exemption_id: string;
  exemption_attributes: Attributes;
  /** The reason for the decision. */
  reason?: string;
  /** What ended an expired exemption: `pushed`, `retargeted`, `time`, `freezes` or `merged`. */
  ended_by?: string;
  /** For an expired exemption: false if it was only requested. */
  was_approved?: boolean;
};

type OfDeploymentExemption = OfExemption<DeploymentExemptionAttributes>;

type OfDeployment = {
  /** The page of the run at GitHub. */
  run_url: string;
  run_id: number;
  run_number: number;
  attempt: number;
  environment: string;
  workflow: string;
  ref: string;
  sha: string;
  /** The freezes that hold it, or did. */
  scheduled_freeze_ids: string[];
  /** How it ended: `superseded` is a rejection for a newer run. */
  state?: string;
  /** The exemption that it went out with, past the freezes. */
  deployment_exemption_id?: string;
};

/** The metadata of each type of event, in the shapes that clients of the interface read. */
export type Metadata = {
  'scheduled_freeze.create': OfFreeze;
  'scheduled_freeze.update': {
    scheduled_freeze_id: string;
    freeze_plan_id?: string;
    scheduled_freeze_attributes_before: FreezeInEvent;
    scheduled_freeze_attributes_after: FreezeInEvent;
  };
  'scheduled_freeze.delete': OfFreeze & { reason: string };
  /** It is as it was before `ended_at`, when it was deleted or ended early. */
  'scheduled_freeze.restore': OfFreeze & { ended_at: string };
  'freeze_plan.create': OfPlan;
  'freeze_plan.update': {
    freeze_plan_id: string;
    freeze_plan_attributes_before: object;
    freeze_plan_attributes_after: object;
    /** The occurrence that was skipped, put back or moved, by its start. */
    occurrence?: { start: string; skip?: boolean; to?: { start: string; end: string } };
  };
  'freeze_plan.delete': OfPlan & { reason: string };
  'freeze_plan.restore': OfPlan;
  /** The calendar at the address that feeds the plan could not be read. */
  'freeze_plan.source_failed': OfPlan & { source_url: string; error: string };
  'product.enabled': { product: string };
  'product.disabled': { product: string };
  'repository_settings.update': OfSettings;
  'owner_settings.update': OfSettings;
  'default_products.update': { products_before: string[]; products_after: string[] };
  'freeze_templates.update': { templates_before: TemplateInEvent[]; templates_after: TemplateInEvent[] };
  'application_key.create': OfKey;
  'application_key.revoke': OfKey;
  'slack_app.create': OfSlackApp;
  'slack_app.delete': OfSlackApp;
  'lock_app.create': OfLockApp;
  'lock_app.delete': OfLockApp;
  'oidc_rule.create': OfRule;
  'oidc_rule.delete': OfRule;
  'calendar.create': OfCalendar;
  'calendar.delete': OfCalendar;
  'webhook.create': OfWebhook;
  'webhook.update': {
    webhook_id: string;
    webhook_attributes_before: object;
    webhook_attributes_after: object;
  };
  'webhook.rotate_secret': OfWebhook;
  'webhook.delete': OfWebhook;
  /** Holdfast sends nothing to it any more, and why. */
  'webhook.disabled': OfWebhook & { reason: string };
  'freeze.starting_soon': OfClock;
  'freeze.started': OfClock;
  'freeze.ending_soon': OfClock;
  'freeze.ended': OfClock;
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
  /**
   * `branches` do not require the status check `context`: found when the freeze was created, or when one was renamed.
   * `why` one of them cannot, if so. `renamed_to`: the new name.
   */
  'freeze.not_enforced': OfFreeze & {
    branches: string[];
    context: string;
    why?: string;
    renamed_to?: string;
  };
  /** A ruleset of ours was in force without a freeze, and was put out of force. */
  'ruleset.orphaned': OfRuleset;
  /** Somebody changed or deleted a ruleset of ours, and it was put right. */
  'ruleset.repaired': OfRuleset;
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
} & Record<`exemption.${StepOfExemption}`, OfExemption> &
  Record<`deployment_exemption.${StepOfExemption}`, OfDeploymentExemption> &
  /** A freeze holds a deployment, or held it until it went out, was rejected, or somebody went past us. */
  Record<`deployment.${'held' | 'released' | 'rejected' | 'bypassed'}`, OfDeployment>;

type StepOfExemption = 'requested' | 'approved' | 'denied' | 'revoked' | 'expired' | 'used';

export type AuditEventType = keyof Metadata;
export type AuditEvent = {
  [Type in AuditEventType]: { type: Type; metadata: Metadata[Type] };
}[AuditEventType];

/** Beside the metadata of any event that somebody caused in Slack: from which workspace, and through whose app. */
export type Via = { via?: SlackVia };

type Kind = {
  /** What people choose it by. */
  name: string;
  /** The prefix of the metadata keys that say who acted and when. */
  done: string;
  /** How it comes about where no caller does it; absent: only the clock would. */
  trigger?: Trigger;
  /** Whether it prevents a freeze from holding. */
  isFailure?: true;
};

const atGitHub = { trigger: 'github' } as const;
const pastUs = { ...atGitHub, isFailure: true } as const;

export const eventKinds: Record<AuditEventType, Kind> = {
  'scheduled_freeze.create': { name: 'Freeze created', done: 'created' },
  'scheduled_freeze.update': { name: 'Freeze changed', done: 'updated' },
  'scheduled_freeze.delete': { name: 'Freeze deleted', done: 'deleted' },
  'scheduled_freeze.restore': { name: 'Freeze restored', done: 'restored' },
  'freeze_plan.create': { name: 'Plan created', done: 'created' },
  'freeze_plan.update': { name: 'Plan changed', done: 'updated' },
  'freeze_plan.delete': { name: 'Plan deleted', done: 'deleted' },
  'freeze_plan.restore': { name: 'Plan restored', done: 'restored' },
  'freeze_plan.source_failed': {
    name: 'Calendar of a plan not read',
    done: 'found',
    trigger: 'plan',
    isFailure: true,
  },
  'product.enabled': { name: 'Product enabled', done: 'enabled' },
  'product.disabled': { name: 'Product disabled', done: 'disabled' },
  'repository_settings.update': { name: 'Settings changed', done: 'updated' },
  'owner_settings.update': { name: 'Default settings changed', done: 'updated' },
  'default_products.update': { name: 'Default products changed', done: 'updated' },
  'freeze_templates.update': { name: 'Templates changed', done: 'updated' },
  'application_key.create': { name: 'Application key created', done: 'created' },
  'application_key.revoke': { name: 'Application key revoked', done: 'revoked' },
  'slack_app.create': { name: 'Slack connected', done: 'created' },
  'slack_app.delete': { name: 'Slack disconnected', done: 'deleted' },
  'lock_app.create': { name: 'Second App created', done: 'created' },
  'lock_app.delete': { name: 'Second App forgotten', done: 'deleted' },
  'oidc_rule.create': { name: 'OIDC rule created', done: 'created' },
  'oidc_rule.delete': { name: 'OIDC rule deleted', done: 'deleted' },
  'calendar.create': { name: 'Calendar created', done: 'created' },
  'calendar.delete': { name: 'Calendar deleted', done: 'deleted' },
  'webhook.create': { name: 'Webhook created', done: 'created' },
  'webhook.update': { name: 'Webhook changed', done: 'updated' },
  'webhook.rotate_secret': { name: 'Secret of a webhook rotated', done: 'rotated' },
  'webhook.delete': { name: 'Webhook deleted', done: 'deleted' },
  'webhook.disabled': { name: 'Webhook disabled', done: 'disabled', isFailure: true },
  'freeze.starting_soon': { name: 'Freeze starts in an hour', done: 'recorded' },
  'freeze.started': { name: 'Freeze started', done: 'recorded' },
  'freeze.ending_soon': { name: 'Freeze ends in an hour', done: 'recorded' },
  'freeze.ended': { name: 'Freeze ended', done: 'recorded' },
  'freeze.bypassed': { name: 'Merged past a freeze', done: 'bypassed', ...pastUs },
  'freeze.leaking': { name: 'GitHub would merge past a freeze', done: 'found', ...pastUs },
  'freeze.still_on': { name: 'Freeze still ongoing', done: 'found' },
  // The creator of the freeze, and when; after a rename at GitHub, nobody.
  'freeze.not_enforced': { name: 'Freeze not enforced', done: 'created', ...pastUs },
  'exemption.requested': { name: 'Exemption requested', done: 'requested' },
  'exemption.approved': { name: 'Exemption approved', done: 'approved' },
  'exemption.denied': { name: 'Exemption denied', done: 'denied' },
  'exemption.revoked': { name: 'Exemption revoked', done: 'revoked' },
  'exemption.expired': { name: 'Exemption ended', done: 'expired' },
  'exemption.used': { name: 'Exemption used', done: 'used', ...atGitHub },
  'deployment_exemption.requested': { name: 'Exemption of a deployment requested', done: 'requested' },
  'deployment_exemption.approved': { name: 'Exemption of a deployment approved', done: 'approved' },
  'deployment_exemption.denied': { name: 'Exemption of a deployment denied', done: 'denied' },
  'deployment_exemption.revoked': { name: 'Exemption of a deployment revoked', done: 'revoked' },
  'deployment_exemption.expired': { name: 'Exemption of a deployment ended', done: 'expired' },
  'deployment_exemption.used': { name: 'Exemption of a deployment used', done: 'used', ...atGitHub },
  'deployment.held': { name: 'Deployment held', done: 'held', ...atGitHub },
  'deployment.released': { name: 'Deployment released', done: 'released' },
  'deployment.rejected': { name: 'Deployment rejected', done: 'rejected', ...atGitHub },
  'deployment.bypassed': { name: 'Deployed past a freeze', done: 'bypassed', ...pastUs },
  'ruleset.orphaned': { name: 'Ruleset without a freeze', done: 'found', ...pastUs },
  'ruleset.repaired': { name: 'Ruleset repaired', done: 'repaired', ...atGitHub },
  'freeze_status.overwritten': { name: 'Status overwritten', done: 'overwritten', ...pastUs },
  'freeze_status.refused': { name: 'Status refused', done: 'refused', ...pastUs },
  'freeze_status.contested': { name: 'Status contested', done: 'contested', ...pastUs },
};

export const auditEventTypes = Object.keys(eventKinds) as AuditEventType[];

/** How an event comes about that no caller caused. */
export function ownTriggerOf({ type, metadata }: AuditEvent): Trigger {
  const endedBy = 'ended_by' in metadata ? metadata.ended_by : undefined;
  if (endedBy !== undefined) return endedBy === 'time' || endedBy === 'freezes' ? 'clock' : 'github';
  return eventKinds[type].trigger ?? 'clock';
}
