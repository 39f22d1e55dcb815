import type { Actor } from './actor.ts';
import { type AuditEvent, eventKinds, type FreezeInEvent } from './audit-event.ts';
import { tellDeployment } from './describe-deployment.ts';
import { tellExemption } from './describe-exemption.ts';
import { changesIn, type Detail, fieldsOf } from './describe-fields.ts';

/** An event in words. */
export type DescribedEvent = {
  /** Null if the event does not say who acted. */
  actor: Actor | null;
  /** Follows the actor's name: `deleted a freeze`. */
  did: string;
  /** The freeze or plan that the event is about. */
  subject?: Subject;
  details: Detail[];
  /** The freeze or plan as it was at the time. */
  attributes?: Detail[];
};

type Subject = { kind: 'freeze' | 'plan'; id: string; name: string };

type Told = Omit<DescribedEvent, 'actor'>;

/** An event as the log has it, or as the API answers. */
type EventToTell = {
  type: string;
  metadata: unknown;
  /** A number, also a decimal one. */
  pull_request: { toFixed(): string } | null;
};

/** An event of the audit log in words. An unknown type, which a newer version wrote, shows its raw details. */
export function describeEvent({ type, metadata, pull_request }: EventToTell): DescribedEvent {
  const event = { type, metadata } as unknown as AuditEvent;
  const stamp = (metadata as Record<string, unknown>)[`${eventKinds[event.type]?.done ?? ''}_by`];
  const actor = stamp as Actor | null | undefined;
  return {
    actor: typeof actor?.name === 'string' ? actor : null,
    ...tell(event, pull_request === null ? '' : `#${pull_request.toFixed()}`),
  };
}

function tell(event: AuditEvent, pullRequest: string): Told {
  switch (event.type) {
    case 'scheduled_freeze.create':
      return aboutFreeze('created a freeze', event.metadata);
    case 'scheduled_freeze.update': {
      const { scheduled_freeze_attributes_before: before, scheduled_freeze_attributes_after: after } =
        event.metadata;
      const freeze = { ...event.metadata, scheduled_freeze_attributes: after };
      return aboutFreeze('changed a freeze', freeze, changesIn(before, after));
    }
    case 'scheduled_freeze.delete':
      return aboutFreeze('deleted a freeze', event.metadata, [
        { name: 'Deletion reason', text: event.metadata.reason },
      ]);
    case 'freeze_plan.create':
      return aboutPlan('created a plan', event.metadata);
    case 'freeze_plan.update': {
      const { freeze_plan_attributes_before: before, freeze_plan_attributes_after: after } = event.metadata;
      const plan = { ...event.metadata, freeze_plan_attributes: after };
      return aboutPlan('changed a plan', plan, changesIn(before, after));
    }
    case 'freeze_plan.delete':
      return aboutPlan('deleted a plan', event.metadata, [
        { name: 'Deletion reason', text: event.metadata.reason },
      ]);
    case 'freeze_plan.source_failed':
      return aboutPlan('could not read the calendar of a plan', event.metadata, [
        { name: 'Address', text: event.metadata.source_url },
        { name: 'Error', text: event.metadata.error },
      ]);
    case 'product.enabled':
    case 'product.disabled':
      return { did: `${eventKinds[event.type].done} the product ${event.metadata.product}`, details: [] };
    case 'repository_settings.update':
    case 'owner_settings.update': {
      const { settings_before: before, settings_after: after } = event.metadata;
      const did =
        event.type === 'owner_settings.update' ? 'changed the default settings' : 'changed the settings';
      return { did, details: changesIn(before, after, Object.keys(after)) };
    }
    case 'freeze_templates.update': {
      const { templates_before: before, templates_after: after } = event.metadata;
      const namesOf = (templates: { name: string }[]) =>
        templates.map(({ name }) => name).join(', ') || 'none';
      return {
        did: 'changed the templates',
        details: [{ name: 'Templates', before: namesOf(before), text: namesOf(after) }],
      };
    }
    case 'default_products.update': {
      const { products_before: before, products_after: after } = event.metadata;
      const products = (list: string[]) => list.join(', ') || 'none';
      return {
        did: 'changed the products of new repositories',
        details: [{ name: 'Products', before: products(before), text: products(after) }],
      };
    }
    case 'application_key.create':
    case 'application_key.revoke': {
      const { key_name, key_scope } = event.metadata;
      const did = event.type === 'application_key.create' ? 'created' : 'revoked';
      return { did: `${did} the application key ${key_name}`, details: [{ name: 'Scope', text: key_scope }] };
    }
    case 'slack_app.create':
    case 'slack_app.delete':
      return { did: `${eventKinds[event.type].done} Slack app ${event.metadata.slack_team}`, details: [] };
    case 'lock_app.create':
    case 'lock_app.delete':
      return { did: `${eventKinds[event.type].done} the second App ${event.metadata.app_slug}`, details: [] };
    case 'oidc_rule.create':
    case 'oidc_rule.delete': {
      const { name, ...rule } = event.metadata.oidc_rule_attributes as { name?: string };
      const did = event.type === 'oidc_rule.create' ? 'created' : 'deleted';
      return { did: `${did} the OIDC rule ${name ?? ''}`, details: fieldsOf(rule, Object.keys(rule)) };
    }
    case 'calendar.create':
    case 'calendar.delete': {
      const calendar = event.metadata.calendar_attributes;
      const did = event.type === 'calendar.create' ? 'created a calendar' : 'deleted a calendar';
      return { did, details: fieldsOf(calendar, Object.keys(calendar)) };
    }
    case 'webhook.update': {
      const { webhook_attributes_before: before, webhook_attributes_after: after } = event.metadata;
      return { did: 'changed a webhook', details: changesIn(before, after, Object.keys(after)) };
    }
    case 'webhook.create':
    case 'webhook.rotate_secret':
    case 'webhook.delete':
    case 'webhook.disabled': {
      const { webhook_attributes: webhook, ...about } = event.metadata;
      const why = 'reason' in about ? [{ name: 'Reason', text: about.reason }] : [];
      const did = `${eventKinds[event.type].done}${event.type === 'webhook.rotate_secret' ? ' the secret of' : ''}`;
      return { did: `${did} a webhook`, details: [...why, ...fieldsOf(webhook, Object.keys(webhook))] };
    }
    case 'freeze.starting_soon':
    case 'freeze.started':
    case 'freeze.ending_soon':
    case 'freeze.ended':
      return aboutFreeze(didByClock[event.type], event.metadata, [
        { name: 'Planned for', text: event.metadata.planned_at, isTime: true },
      ]);
    case 'freeze.bypassed': {
      const { shown_state, head_sha, merged_at } = event.metadata;
      return aboutFreeze(`merged ${pullRequest} past a freeze`, event.metadata, [
        { name: 'Merged at', text: merged_at, isTime: true },
        { name: 'Head', text: head_sha.slice(0, 7) },
        { name: 'Holdfast status', text: shown_state ?? 'none' },
      ]);
    }
    case 'freeze.leaking': {
      const { head_sha, merge_state } = event.metadata;
      return aboutFreeze(`found that GitHub would merge ${pullRequest} past a freeze`, event.metadata, [
        { name: 'Head', text: head_sha.slice(0, 7) },
        { name: 'Merge state', text: merge_state },
      ]);
    }
    case 'freeze.still_on':
      return aboutFreeze('found that a freeze without an end is still ongoing', event.metadata, [
        { name: 'Ongoing since', text: event.metadata.on_since, isTime: true },
      ]);
    case 'freeze.not_enforced': {
      const { branches, context, scheduled_freeze_id: id } = event.metadata;
      return {
        did: 'created a freeze that is not enforced',
        subject: { kind: 'freeze', id, name: '' },
        details: [
          { name: 'Missing check', text: context },
          { name: 'Branches', text: branches.join(', ') },
        ],
      };
    }
    case 'exemption.requested':
    case 'exemption.approved':
    case 'exemption.denied':
    case 'exemption.revoked':
    case 'exemption.expired':
    case 'exemption.used':
    case 'deployment_exemption.requested':
    case 'deployment_exemption.approved':
    case 'deployment_exemption.denied':
    case 'deployment_exemption.revoked':
    case 'deployment_exemption.expired':
    case 'deployment_exemption.used':
      return tellExemption(event, pullRequest);
    case 'deployment.held':
    case 'deployment.released':
    case 'deployment.rejected':
    case 'deployment.bypassed':
      return tellDeployment(event);
    case 'ruleset.orphaned':
      return {
        did: 'disabled a ruleset that was active without a freeze',
        details: [{ name: 'Ruleset', text: rulesetText(event.metadata) }],
      };
    case 'ruleset.repaired':
      return {
        did: `repaired the ruleset of an instant hold, which somebody had ${event.metadata.found ?? 'changed'}`,
        details: [{ name: 'Ruleset', text: rulesetText(event.metadata) }],
      };
    case 'freeze_status.overwritten': {
      const { sha, state, description, expected_state } = event.metadata;
      return {
        did: `overwrote the Holdfast status on ${sha.slice(0, 7)}`,
        details: [
          { name: 'State', before: expected_state, text: state },
          { name: 'Description', text: description },
        ],
      };
    }
    case 'freeze_status.refused': {
      const { sha, state, description, why } = event.metadata;
      return {
        did: `could not hold ${sha.slice(0, 7)}: GitHub refused its status`,
        details: [
          { name: 'State', text: state },
          { name: 'Description', text: description },
          { name: 'Reason', text: why },
        ],
      };
    }
    case 'freeze_status.contested': {
      const { sha, state, description, expected_state, times_written } = event.metadata;
      return {
        did: `keeps overwriting the Holdfast status on ${sha.slice(0, 7)}, so it is not held`,
        details: [
          { name: 'State', before: expected_state, text: state ?? 'unknown' },
          { name: 'Description', text: description ?? 'unknown' },
          { name: 'Written', text: `${times_written} times` },
        ],
      };
    }
    default: {
      const { type, metadata } = event as { type: string; metadata: unknown };
      return { did: type, details: [{ name: 'Details', text: JSON.stringify(metadata) }] };
    }
  }
}

const rulesetText = ({ ruleset, ruleset_id }: { ruleset: string; ruleset_id: number }): string =>
  `${ruleset} (${ruleset_id})`;

function aboutFreeze(
  did: string,
  of: { scheduled_freeze_id: string; scheduled_freeze_attributes: FreezeInEvent },
  details: Detail[] = [],
): Told {
  const { scheduled_freeze_id: id, scheduled_freeze_attributes: freeze } = of;
  const subject = { kind: 'freeze', id, name: freeze.reason } as const;
  return { did, subject, details, attributes: fieldsOf(freeze) };
}

function aboutPlan(
  did: string,
  {
    freeze_plan_id: id,
    freeze_plan_attributes: plan,
  }: { freeze_plan_id: string; freeze_plan_attributes: object },
  details: Detail[] = [],
): Told {
  const { name = '' } = plan as { name?: string };
  return { did, subject: { kind: 'plan', id, name }, details, attributes: fieldsOf(plan) };
}

/** Follows Holdfast's name. */
const didByClock = {
  'freeze.starting_soon': 'recorded that a freeze starts in an hour',
  'freeze.started': 'recorded that a freeze started',
  'freeze.ending_soon': 'recorded that a freeze ends in an hour',
  'freeze.ended': 'recorded that a freeze ended',
} as const;
