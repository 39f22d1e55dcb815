import { html } from 'hono/html';
import { noticeTypes } from '../../events/notice-type.ts';
import { attributesOfWebhook, type webhookKinds } from '../../notices/manage-webhooks.ts';
import type { OutgoingWebhook } from '../../generated/prisma/client.ts';
import { linesOf } from '../condition-fields.ts';
import {
  chips,
  confirmation,
  digestOf,
  type FormProblems,
  hiddenField,
  ifSent,
  noProblems,
  textArea,
  textField,
  trimmedField,
  type Typed,
  typedIn,
  versionField,
} from '../form.ts';
import type { Html } from '../html.ts';
import { foldedForm, type SettingsSection } from './settings-form.ts';

// The form of a new webhook, and that which changes one. Both have the fields of the API.

type Kind = (typeof webhookKinds)[number];

const kindNames: Record<Kind, string> = {
  slack: 'Slack',
  teams: 'Microsoft Teams',
  discord: 'Discord',
  google_chat: 'Google Chat',
  standard: 'Your own service',
};

export const nameOfKind = (kind: string): string =>
  kind === 'slack_channel' ? 'Channel of the Slack app' : kindNames[kind as Kind];

export const newWebhookForm = (section: SettingsSection): Html => {
  const { sent } = section;
  const typed = typedIn(ifSent(sent, 'create-webhook'));
  const problems = ifSent(sent, 'create-webhook') ? section.problems : noProblems;
  return foldedForm(
    { ...section, problems },
    { name: 'New webhook', does: 'create-webhook', fields: [], act: 'Create webhook' },
    html`${chips(
      'radio',
      { name: 'kind', label: 'Send to', problems },
      Object.entries(kindNames).map(([value, label]) => ({ value, label })),
      [typed.text('kind', 'slack')],
    )}
    ${addressField(typed, problems, {
      hint: 'Copy it from the chat. The address is a secret: Holdfast does not show it again.',
      isRequired: true,
    })}
    ${otherFields(typed, problems)}`,
  );
};

/** Its secret stays, and so does the address of a chat unless another one is typed. */
export function editWebhookForm(
  { action, problems: all, sent }: SettingsSection,
  webhook: OutgoingWebhook,
): Html {
  const { id, kind, shownUrl } = webhook;
  const refused = ifSent(sent, 'update-webhook')?.get('id') === id ? sent : null;
  const problems = refused ? all : noProblems;
  const typed = typedIn(refused);
  const address =
    kind === 'slack_channel'
      ? ''
      : kind === 'standard'
        ? addressField(typed, problems, { id, stored: shownUrl, isRequired: true })
        : addressField(typed, problems, { id, hint: html`Leave empty to keep <code>${shownUrl}</code>.` });
  return confirmation(
    'Edit…',
    action,
    html`${hiddenField('do', 'update-webhook')} ${hiddenField('id', id)}
    ${versionField(versionOfWebhook(webhook))} ${address} ${otherFields(typed, problems, webhook)}`,
    'Save webhook',
    'confirms',
    refused !== null,
  );
}

/** Changes with what the form shows. */
export const versionOfWebhook = (webhook: OutgoingWebhook): string => digestOf(attributesOfWebhook(webhook));

type AddressField = { id?: string; stored?: string; hint?: Html | string; isRequired?: boolean };

const addressField = (
  typed: Typed,
  problems: FormProblems,
  { id, stored, hint, isRequired = false }: AddressField,
): Html =>
  textField(
    {
      ...{
        name: 'url',
        id: id && `url-${id}`,
        label: 'Address',
        value: typed.text('url', stored),
        problems,
        hint,
      },
      attributes: html`${isRequired ? html`required` : ''} maxlength="2000" autocomplete="off"
      spellcheck="false"`,
    },
    'url',
  );

/** @param webhook the one that they change; absent for a new one. */
function otherFields(typed: Typed, problems: FormProblems, webhook?: OutgoingWebhook): Html {
  const idOf = (name: string) => (webhook ? `${name}-${webhook.id}` : name);
  const events = typed.all('event', webhook?.events);
  return html`${textField({ name: 'description', id: idOf('webhook_description'), label: 'Description', value: typed.text('description', webhook?.description ?? ''), problems, attributes: html`maxlength="255"` })}
    ${textArea({
      ...{ name: 'webhook_repositories', id: idOf('webhook_repositories'), label: 'Repositories' },
      value: typed.text('webhook_repositories', webhook?.repositories.join('\n')),
      problems,
      hint: html`One name or pattern on each line, such as <code>api-*</code>. Leave empty for all.`,
      attributes: html`spellcheck="false" autocapitalize="none"`,
    })}
    <details ${problems.has('events') || events.length > 0 ? html`open` : ''}>
      <summary>Events: all, unless you select some</summary>
      <fieldset class="ticks">
        <legend class="said">Events</legend>
        ${noticeTypes.map((type) => html`<label><input type="checkbox" name="event" value="${type}" ${events.includes(type) ? html`checked` : ''} /> ${type}</label>`)}
      </fieldset>
    </details>
    ${chips('checkbox', { name: 'public_text', label: 'Texts' }, [{ value: 'true', label: 'Public reasons only' }], typed.all('public_text', webhook?.publicText ? ['true'] : []))}`;
}

/** The fields as the API takes them. An address that is left empty is absent. */
export function readWebhookForm(form: URLSearchParams) {
  const repositories = linesOf(form.get('webhook_repositories') ?? '');
  const events = form.getAll('event');
  return {
    url: trimmedField(form, 'url') || undefined,
    description: trimmedField(form, 'description') || null,
    repositories: repositories.length > 0 ? repositories : null,
    events: events.length > 0 ? events : null,
    public_text: form.get('public_text') === 'true',
  };
}
