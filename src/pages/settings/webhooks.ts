import { html } from 'hono/html';
import { newWebhook, readNewWebhook } from '../../api/v1/webhooks.ts';
import { validate } from '../../api/read-request.ts';
import type { OutgoingDelivery, OutgoingWebhook } from '../../generated/prisma/client.ts';
import { ownerSettingsPath } from '../../installations/page-paths.ts';
import {
  createWebhook,
  deleteWebhook,
  rotateSecret,
  updateWebhook,
  type webhookKinds,
} from '../../notices/manage-webhooks.ts';
import { replayDelivery, testWebhook } from '../../notices/manage-deliveries.ts';
import { noticeTypes } from '../../notices/notice.ts';
import type { OwnerChange } from '../change.ts';
import { linesOf } from '../condition-fields.ts';
import { chips, confirmation, hidden, ifSent, textArea, textField, textOf, typedIn } from '../form.ts';
import type { Html } from '../layout.ts';
import { instant, type Times } from '../text.ts';
import { foldedForm, type Forms, type Section, secretPage } from './settings-form.ts';

type Kind = (typeof webhookKinds)[number];
type Shown = OutgoingWebhook & { deliveries: OutgoingDelivery[] };

/** How many deliveries of a webhook the page shows. The API and the command line have the others. */
const mostDeliveries = 10;

const kindNames: Record<Kind, string> = {
  slack: 'Slack',
  teams: 'Microsoft Teams',
  discord: 'Discord',
  google_chat: 'Google Chat',
  standard: 'Your own service',
};

const nameOf = (kind: string): string =>
  kind === 'slack_channel' ? 'Channel of the Slack app' : kindNames[kind as Kind];

/** The outgoing webhooks of an owner, each with its last deliveries. */
export async function webhooksSection(section: Section): Promise<Html> {
  const { deps, account, action, times } = section;
  const webhooks = await deps.db.outgoingWebhook.findMany({
    where: { accountId: account.id },
    include: { deliveries: { orderBy: { serial: 'desc' }, take: mostDeliveries } },
    // With `join`, the default, Prisma can't read a list of BigInt, such as the ids of events.
    relationLoadStrategy: 'query',
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  return html`<h2 id="webhooks">Outgoing webhooks</h2>
    <p>
      Send a message to a chat or to your own service when a freeze begins or somebody requests an exemption.
      <a href="/help/notices">How outgoing webhooks work</a>
    </p>
    ${webhooks.map((webhook) => webhookCard(action, webhook, times))} ${newWebhookForm(section)}`;
}

const fields = ['url', 'webhook_repositories', 'events', 'description', 'kind'];

const newWebhookForm = (section: Section): Html => {
  const { problems, sent } = section;
  const typed = typedIn(ifSent(sent, 'create-webhook'));
  const events = typed.all('event');
  return foldedForm(
    section,
    { name: 'New webhook', does: 'create-webhook', fields, act: 'Create webhook' },
    html`${chips(
        'radio',
        { name: 'kind', label: 'Send to', problems },
        Object.entries(kindNames).map(([value, label]) => ({ value, label })),
        [typed.text('kind', 'slack')],
      )}
      ${textField(
        {
          name: 'url',
          label: 'Address',
          value: typed.text('url'),
          problems,
          hint: 'Copy it from the chat. The address is a secret: Holdfast does not show it again.',
          attributes: html`required maxlength="2000" autocomplete="off" spellcheck="false"`,
        },
        'url',
      )}
      ${textField({ name: 'description', id: 'webhook_description', label: 'Description', value: typed.text('description'), problems, attributes: html`maxlength="255"` })}
      ${textArea({
        name: 'webhook_repositories',
        label: 'Repositories',
        value: typed.text('webhook_repositories'),
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
      ${chips('checkbox', { name: 'public_text', label: 'Texts' }, [{ value: 'true', label: 'Public reasons only' }], typed.all('public_text'))}`,
  );
};

function webhookCard(action: string, webhook: Shown, times: Times): Html {
  const { id, kind, shownUrl, isEnabled, description, deliveries } = webhook;
  const button = (does: string, label: string) => actButton(action, does, id, label);
  return html`<div class="card" id="webhook-${id}">
    <strong>${nameOf(kind)}</strong>
    <span class="badge ${isEnabled ? 'free' : 'past'}">${isEnabled ? 'enabled' : 'disabled'}</span>
    ${shownUrl === '' ? '' : html`<code>${shownUrl}</code>`}
    ${description === null ? '' : html`<p><bdi>${description}</bdi></p>`}
    ${isEnabled ? '' : disabledNote(webhook, times)}
    <p class="muted">
      ${heard(webhook)}.
      ${deliveries[0] ? html`Last delivery: ${outcome(deliveries[0], times)}` : 'No deliveries.'}
    </p>
    <div class="actions">
      ${isEnabled ? button('test-webhook', 'Send a test') : ''}
      ${isEnabled ? button('disable-webhook', 'Disable') : button('enable-webhook', 'Enable')}
      ${
        kind === 'standard'
          ? confirmation(
              'Rotate secret…',
              action,
              html`${hidden('do', 'rotate-webhook')} ${hidden('id', id)}
                <p>For 24 hours, each message has a signature of both secrets.</p>`,
              'Rotate secret',
              'confirms',
            )
          : ''
      }
      ${confirmation(
        'Delete…',
        action,
        html`${hidden('do', 'delete-webhook')} ${hidden('id', id)}
          <p>Nothing is sent there any more, also not what still waits.</p>`,
        'Delete webhook',
      )}
    </div>
    ${deliveries.length === 0 ? '' : deliveryTable(action, webhook, times)}
  </div>`;
}

/** A form that is one button. @param more its other fields. */
const actButton = (action: string, does: string, id: string, label: string, more = html``): Html =>
  html`<form method="post" action="${action}">
    ${hidden('do', does)} ${hidden('id', id)} ${more}
    <button type="submit" class="quiet">${label}</button>
  </form>`;

const disabledNote = ({ disabledAt, disabledWhy }: OutgoingWebhook, times: Times): Html =>
  html`<p class="notice ${disabledWhy === null ? '' : 'wrong'}">
    ${disabledWhy === null ? 'Somebody disabled it' : 'Holdfast disabled it'}
    ${disabledAt ? instant(disabledAt, times) : ''}.
    ${disabledWhy === null ? 'It gets no messages.' : html`${disabledWhy} Correct the address, then enable it.`}
  </p>`;

const heard = ({ events, repositories, publicText }: OutgoingWebhook): string =>
  [
    `Repositories: ${repositories.join(', ') || 'all'}`,
    `events: ${events.join(', ') || 'all'}`,
    ...(publicText ? ['public reasons only'] : []),
  ].join('; ');

/** What became of a delivery, with the last answer. */
function outcome(delivery: OutgoingDelivery, times: Times): Html {
  const { state, status, error, attempts, lastAttemptAt, nextAttemptAt } = delivery;
  const why = state === 'delivered' ? (status === null ? '' : `, answered ${status}`) : error && `: ${error}`;
  return html`${state} ${lastAttemptAt ? instant(lastAttemptAt, times) : ''}
  ${attempts > 1 ? `after ${attempts} attempts` : ''}${why}
  ${lastAttemptAt && nextAttemptAt ? html`Next attempt ${instant(nextAttemptAt, times)}.` : ''}`;
}

const deliveryTable = (action: string, { id, isEnabled, deliveries }: Shown, times: Times): Html =>
  html`<details>
    <summary>Last deliveries</summary>
    <table class="stacked">
      <tbody>
        ${deliveries.map(
          (delivery) =>
            html`<tr>
              <th scope="row">${delivery.type}</th>
              <td>${outcome(delivery, times)}</td>
              <td>
                ${isEnabled && delivery.state !== 'waiting' ? actButton(action, 'replay-delivery', id, 'Send again', hidden('delivery', delivery.id)) : ''}
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
  </details>`;

/** Shows the secret of a webhook for one's own service, once. A chat has none. */
async function createWebhookByForm(change: OwnerChange): Promise<Response> {
  const { deps, context, actor, account, form } = change;
  const repositories = linesOf(form.get('webhook_repositories') ?? '');
  const events = form.getAll('event');
  const sent = {
    kind: form.get('kind'),
    url: textOf(form, 'url'),
    description: textOf(form, 'description') || null,
    repositories: repositories.length > 0 ? repositories : null,
    events: events.length > 0 ? events : null,
    public_text: form.get('public_text') === 'true',
  };
  const wanted = readNewWebhook(validate(newWebhook, sent, 'body'));
  const { webhook, secret } = await createWebhook(deps, actor, account, wanted);
  if (secret !== null) return showSecret(change, secret, webhook.id);
  return context.redirect(`${ownerSettingsPath(account.login)}?said=saved#webhook-${webhook.id}`, 303);
}

async function rotateWebhookByForm(change: OwnerChange): Promise<Response> {
  const { deps, actor, account, form } = change;
  const { secret } = await rotateSecret(deps, actor, account, textOf(form, 'id'));
  return showSecret(change, secret!, textOf(form, 'id'));
}

const showSecret = (change: OwnerChange, secret: string, id: string): Response | Promise<Response> =>
  secretPage(change, {
    title: 'Secret of the webhook',
    notice: 'Copy the secret now. Holdfast does not show it again. Verify each message with it.',
    secret,
    anchor: `webhook-${id}`,
  });

const setEnabled =
  (enabled: boolean) =>
  async ({ deps, actor, account, form }: OwnerChange): Promise<void> => {
    await updateWebhook(deps, actor, account, textOf(form, 'id'), { enabled });
  };

export const webhookForms: Forms = {
  'create-webhook': createWebhookByForm,
  'rotate-webhook': rotateWebhookByForm,
  'enable-webhook': setEnabled(true),
  'disable-webhook': setEnabled(false),
  'delete-webhook': ({ deps, actor, account, form }) =>
    deleteWebhook(deps, actor, account, textOf(form, 'id')),
  'test-webhook': ({ deps, account, form }) => testWebhook(deps, account, textOf(form, 'id')),
  'replay-delivery': ({ deps, account, form }) =>
    replayDelivery(deps, account, textOf(form, 'id'), textOf(form, 'delivery')),
};
