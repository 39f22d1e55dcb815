import type { Actor } from '../events/actor.ts';
import { type AuditEventType, eventKinds, type FreezeInEvent, type Metadata } from '../events/audit-event.ts';
import { areTexts, changesInEvent, type Detail, fieldChangesOf, nameOfField } from './describe-fields.ts';

/** An event in words. */
export type DescribedEvent = {
  /** Null if the event does not say who acted. */
  actor: Actor | null;
  /** Follows the actor's name: `deleted a freeze`. */
  did: string;
  /** The freeze or plan that the event is about. */
  subject?: { kind: 'freeze' | 'plan'; id: string; name: string };
  details: Detail[];
  /** The freeze or plan as it was at the time. */
  attributes?: Detail[];
};

type Description = Omit<DescribedEvent, 'actor'>;

/** An event as the log has it, or as the API answers. */
type EventToTell = {
  type: string;
  metadata: unknown;
  /** A number, also a decimal one. */
  pull_request: { toFixed(): string } | null;
};

/**
 * An event of the audit log in words. A type or a shape that we do not know, which another version or a person wrote,
 * shows its raw details.
 */
export function describeEvent(event: EventToTell): DescribedEvent {
  const { type, metadata } = event;
  const known = kindOf(type);
  const stamp = known && (metadata as Record<string, unknown> | null)?.[`${eventKinds[known].done}_by`];
  const actor = stamp as Actor | null | undefined;
  const did = known ? `caused an event that Holdfast cannot read: ${type}` : type;
  const raw = { Details: JSON.stringify(metadata) };
  return { actor: typeof actor?.name === 'string' ? actor : null, ...(inWords(event) ?? tell(did, raw)) };
}

const kindOf = (type: string): AuditEventType | null =>
  Object.hasOwn(eventKinds, type) ? (type as AuditEventType) : null;

/** Whether we know the type of an event, and its metadata has the shape of that. */
export const isReadable = (event: EventToTell): boolean => inWords(event) !== null;

/** Null if we do not know the type, or the metadata has another shape. */
function inWords({ type, metadata, pull_request }: EventToTell): Description | null {
  const known = kindOf(type);
  const pullRequest = pull_request === null ? '' : `#${pull_request.toFixed()}`;
  try {
    const described = known && (tellers[known] as Tell<unknown>)(metadata, pullRequest, known);
    return described && isWhole(described) ? described : null;
  } catch {
    return null;
  }
}

const isWhole = ({ subject, details, attributes = [] }: Description): boolean =>
  [subject?.id ?? '', subject?.name ?? ''].every((text) => typeof text === 'string') &&
  areTexts([...details, ...attributes]);

/** Details by their names. */
type Details = Record<string, string | Omit<Detail, 'name'>>;

const listOf = (details: Details): Detail[] =>
  Object.entries(details).map(([name, of]) => ({ name, ...(typeof of === 'string' ? { text: of } : of) }));

const tell = (did: string, details: Details | Detail[] = []): Description => ({
  did,
  details: Array.isArray(details) ? details : listOf(details),
});

const time = (text: string) => ({ text, isTime: true });
const short = (sha: string): string => sha.slice(0, 7);

/** @param pullRequest its number, as people write it; empty for none. */
type Tell<Metadata> = (metadata: Metadata, pullRequest: string, type: AuditEventType) => Description;

const tellers: { [Type in AuditEventType]: Tell<Metadata[Type]> } = {
  'scheduled_freeze.create': (freeze) => aboutFreeze('created a freeze', freeze),
  'scheduled_freeze.update': (change) => {
    const { scheduled_freeze_attributes_before: before, scheduled_freeze_attributes_after: after } = change;
    const freeze = { ...change, scheduled_freeze_attributes: after };
    return aboutFreeze('changed a freeze', freeze, changesInEvent(before, after));
  },
  'scheduled_freeze.delete': (freeze) =>
    aboutFreeze('deleted a freeze', freeze, { 'Deletion reason': freeze.reason }),
  'scheduled_freeze.restore': (freeze) =>
    aboutFreeze('restored a freeze', freeze, { 'Ended at': time(freeze.ended_at) }),
  'freeze_plan.create': (plan) => aboutPlan('created a plan', plan),
  'freeze_plan.update': (change) => {
    const { freeze_plan_attributes_before: before, freeze_plan_attributes_after: after } = change;
    const plan = { ...change, freeze_plan_attributes: after };
    const { occurrence } = change;
    if (!occurrence) return aboutPlan('changed a plan', plan, changesInEvent(before, after));
    const { start, skip, to } = occurrence;
    const did = `${to ? 'moved' : skip ? 'skipped' : 'put back'} an occurrence of a plan`;
    return aboutPlan(did, plan, { Occurrence: start, ...(to && { 'Moved to': `${to.start} to ${to.end}` }) });
  },
  'freeze_plan.delete': (plan) => aboutPlan('deleted a plan', plan, { 'Deletion reason': plan.reason }),
  'freeze_plan.restore': (plan) => aboutPlan('restored a plan', plan),
  'freeze_plan.source_failed': (plan) =>
    aboutPlan('could not read the calendar of a plan', plan, { Address: plan.source_url, Error: plan.error }),
  'product.enabled': ({ product }) => tell(`enabled the product ${product}`),
  'product.disabled': ({ product }) => tell(`disabled the product ${product}`),
  'repository_settings.update': (change) => changedSettings('changed the settings', change),
  'owner_settings.update': (change) => changedSettings('changed the default settings', change),
  'freeze_templates.update': ({ templates_before: before, templates_after: after }) =>
    tell('changed the templates', { Templates: { before: namesOf(before), text: namesOf(after) } }),
  'default_products.update': ({ products_before: before, products_after: after }) =>
    tell('changed the products of new repositories', {
      Products: { before: before.join(', ') || 'none', text: after.join(', ') || 'none' },
    }),
  'application_key.create': (key) =>
    tell(`created the application key ${key.key_name}`, { Scope: key.key_scope }),
  'application_key.revoke': (key) =>
    tell(`revoked the application key ${key.key_name}`, { Scope: key.key_scope }),
  'slack_app.create': ({ slack_team }) => tell(`created Slack app ${slack_team}`),
  'slack_app.delete': ({ slack_team }) => tell(`deleted Slack app ${slack_team}`),
  'lock_app.create': ({ app_slug }) => tell(`created the second App ${app_slug}`),
  'lock_app.delete': ({ app_slug }) => tell(`deleted the second App ${app_slug}`),
  'oidc_rule.create': (rule) => aboutRule('created', rule),
  'oidc_rule.delete': (rule) => aboutRule('deleted', rule),
  'calendar.create': ({ calendar_attributes: of }) => tell('created a calendar', allFieldsOf(of)),
  'calendar.delete': ({ calendar_attributes: of }) => tell('deleted a calendar', allFieldsOf(of)),
  'webhook.update': ({ webhook_attributes_before: before, webhook_attributes_after: after }) =>
    tell('changed a webhook', changesInEvent(before, after, Object.keys(after))),
  'webhook.create': ({ webhook_attributes: of }) => tell('created a webhook', allFieldsOf(of)),
  'webhook.rotate_secret': ({ webhook_attributes: of }) =>
    tell('rotated the secret of a webhook', allFieldsOf(of)),
  'webhook.delete': ({ webhook_attributes: of }) => tell('deleted a webhook', allFieldsOf(of)),
  'webhook.disabled': ({ webhook_attributes: of, reason }) =>
    tell('disabled a webhook', [...listOf({ Reason: reason }), ...allFieldsOf(of)]),
  'freeze.starting_soon': (freeze) => byClock('recorded that a freeze starts in an hour', freeze),
  'freeze.started': (freeze) => byClock('recorded that a freeze started', freeze),
  'freeze.ending_soon': (freeze) => byClock('recorded that a freeze ends in an hour', freeze),
  'freeze.ended': (freeze) => byClock('recorded that a freeze ended', freeze),
  'freeze.bypassed': (freeze, pullRequest) =>
    aboutFreeze(`merged ${pullRequest} past a freeze`, freeze, {
      'Merged at': time(freeze.merged_at),
      Head: short(freeze.head_sha),
      'Holdfast status': freeze.shown_state ?? 'none',
    }),
  'freeze.leaking': (freeze, pullRequest) =>
    aboutFreeze(`found that GitHub would merge ${pullRequest} past a freeze`, freeze, {
      Head: short(freeze.head_sha),
      'Merge state': freeze.merge_state,
    }),
  'freeze.still_on': (freeze) =>
    aboutFreeze('found that a freeze without an end is still ongoing', freeze, {
      'Ongoing since': time(freeze.on_since),
    }),
  'freeze.not_enforced': ({ branches, context, why, renamed_to: name, scheduled_freeze_id: id }) => ({
    ...tell(`${name === undefined ? 'created' : 'found'} a freeze that is not enforced`, {
      'Missing check': context,
      Branches: branches.join(', '),
      ...(why !== undefined && { Why: why }),
    }),
    subject: { kind: 'freeze', id, name: '' },
  }),
  'exemption.requested': tellExemption,
  'exemption.approved': tellExemption,
  'exemption.denied': tellExemption,
  'exemption.revoked': tellExemption,
  'exemption.expired': tellExemption,
  'exemption.used': tellExemption,
  'deployment_exemption.requested': tellExemption,
  'deployment_exemption.approved': tellExemption,
  'deployment_exemption.denied': tellExemption,
  'deployment_exemption.revoked': tellExemption,
  'deployment_exemption.expired': tellExemption,
  'deployment_exemption.used': tellExemption,
  'deployment.held': (of) => aboutDeployment('held a deployment', of),
  'deployment.released': (of) => aboutDeployment('released a deployment', of),
  'deployment.rejected': (of) => aboutDeployment('rejected a deployment', of),
  'deployment.bypassed': (of) => aboutDeployment('deployed past a freeze', of),
  'ruleset.orphaned': (of) =>
    tell('disabled a ruleset that was active without a freeze', { Ruleset: rulesetText(of) }),
  'ruleset.repaired': (of) =>
    tell(`repaired the ruleset of an instant hold, which somebody had ${of.found ?? 'changed'}`, {
      Ruleset: rulesetText(of),
    }),
  'freeze_status.overwritten': ({ sha, state, description, expected_state: before }) =>
    tell(`overwrote the Holdfast status on ${short(sha)}`, {
      State: { before, text: state },
      Description: description,
    }),
  'freeze_status.refused': ({ sha, state, description, why }) =>
    tell(`could not hold ${short(sha)}: GitHub refused its status`, {
      State: state,
      Description: description,
      Reason: why,
    }),
  'freeze_status.contested': ({ sha, state, description, expected_state: before, times_written }) =>
    tell(`keeps overwriting the Holdfast status on ${short(sha)}, so it is not held`, {
      State: { before, text: state ?? 'unknown' },
      Description: description ?? 'unknown',
      Written: `${times_written} times`,
    }),
};

function aboutFreeze(
  did: string,
  of: { scheduled_freeze_id: string; scheduled_freeze_attributes: FreezeInEvent },
  details?: Details | Detail[],
): Description {
  const { scheduled_freeze_id: id, scheduled_freeze_attributes: freeze } = of;
  const subject = { kind: 'freeze', id, name: freeze.reason } as const;
  return { ...tell(did, details), subject, attributes: fieldChangesOf(freeze) };
}

const byClock = (did: string, freeze: Metadata['freeze.started']): Description =>
  aboutFreeze(did, freeze, { 'Planned for': time(freeze.planned_at) });

function aboutPlan(
  did: string,
  { freeze_plan_id: id, freeze_plan_attributes: plan }: Metadata['freeze_plan.create'],
  details?: Details | Detail[],
): Description {
  const { name = '' } = plan as { name?: string };
  return { ...tell(did, details), subject: { kind: 'plan', id, name }, attributes: fieldChangesOf(plan) };
}

const allFieldsOf = (attributes: object): Detail[] => fieldChangesOf(attributes, Object.keys(attributes));

const changedSettings = (
  did: string,
  { settings_before: before, settings_after: after, team_ids: ids }: Metadata['owner_settings.update'],
): Description =>
  ids
    ? tell('saved which teams the settings mean', { Teams: teamsText(ids) })
    : tell(did, changesInEvent(before, after, Object.keys(after)));

const teamsText = (ids: Record<string, number | null>): string =>
  Object.entries(ids)
    .map(([team, id]) => (id === null ? `${team} is not on GitHub` : `${team} has the id ${id}`))
    .join(', ');

const namesOf = (templates: { name: string }[]): string =>
  templates.map(({ name }) => name).join(', ') || 'none';

function aboutRule(did: string, { oidc_rule_attributes: of }: Metadata['oidc_rule.create']): Description {
  const { name = '', ...rule } = of as { name?: string };
  return tell(`${did} the OIDC rule ${name}`, allFieldsOf(rule));
}

const rulesetText = ({ ruleset, ruleset_id }: Metadata['ruleset.orphaned']): string =>
  `${ruleset} (${ruleset_id})`;

function aboutDeployment(did: string, of: Metadata['deployment.held']): Description {
  const { environment, workflow, run_number, attempt, ref, sha, state, scheduled_freeze_ids: ids } = of;
  return tell(`${did} to ${environment}`, [
    ...listOf({
      Run: `${workflow} ${run_number}${attempt > 1 ? `, attempt ${attempt}` : ''}`,
      Commit: `${short(sha)} of ${ref}`,
      Freezes: { text: String(ids.length), freezes: ids.map(String) },
    }),
    ...(state === 'superseded' ? listOf({ Because: 'a newer run went out' }) : []),
    ...(of.deployment_exemption_id === undefined ? [] : listOf({ Because: 'it has an exemption' })),
  ]);
}

const didWithExemption = {
  requested: 'requested an exemption for',
  approved: 'approved the exemption for',
  denied: 'denied an exemption for',
  revoked: 'revoked the exemption for',
  expired: 'ended the exemption for',
};

function tellExemption(
  of: Metadata['exemption.used'] | Metadata['deployment_exemption.used'],
  pullRequest: string,
  type: AuditEventType,
): Description {
  const { exemption_attributes: exemption, was_approved, reason, ended_by } = of;
  const state = type.split('.')[1] as keyof typeof didWithExemption | 'used';
  const isOfDeployment = 'environment' in exemption;
  const what = isOfDeployment ? `a deployment to ${exemption.environment}` : pullRequest;
  const used = `${isOfDeployment ? 'let go' : 'merged'}, with an exemption,`;
  const isRequest = state === 'expired' && was_approved === false;
  const did = state === 'used' ? used : didWithExemption[state];
  return tell(`${isRequest ? 'ended the exemption request for' : did} ${what}`, {
    [nameOfField('reason')]: exemption.reason,
    ...(exemption.public_reason !== null && { [nameOfField('public_reason')]: exemption.public_reason }),
    ...(isOfDeployment
      ? {
          ...(exemption.sha !== null && { Commit: short(exemption.sha) }),
          ...(exemption.run_id !== null && { Run: { text: String(exemption.run_id), isRun: true } }),
        }
      : {
          // The log of the API has their ids, which say nothing to people.
          Freezes: exemption.freeze_ids ? String(exemption.freeze_ids.length) : 'all',
          Head: exemption.any_head ? 'any' : short(exemption.head_sha),
        }),
    [nameOfField('end')]: time(exemption.expires_at),
    ...(reason !== undefined && { 'Decision reason': reason }),
    ...(ended_by !== undefined && { 'Ended by': ended_by }),
  });
}
