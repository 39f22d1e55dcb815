import { html } from 'hono/html';
import { newWebhook, readNewWebhook, webhookChange } from '../../api/v1/webhooks.ts';
import { validate } from '../../api/read-request.ts';
import type { OutgoingDelivery, OutgoingWebhook } from '../../generated/prisma/client.ts';
import { ownerSettingsPath } from '../../installations/page-paths.ts';
import {
  createWebhook,
  deleteWebhook,
  peopleKind,
  requireWebhook,
  rotateSecret,
  updateWebhook,
} from '../../notices/manage-webhooks.ts';
import { replayDelivery, testWebhook } from '../../notices/manage-deliveries.ts';
import type { OwnerChange } from '../change.ts';
import { assertFresh, confirmation, hidden, textOf } from '../form.ts';
import type { Html } from '../layout.ts';
import { instant, type Times } from '../text.ts';
import { type Forms, type Section, secretPage } from './settings-form.ts';
import {
  editWebhookForm,
  newWebhookForm,
  nameOfKind,
  readWebhookForm,
  versionOfWebhook,
} from './webhook-form.ts';

type Shown = OutgoingWebhook & { deliveries: OutgoingDelivery[] };

/** How many deliveries of a webhook the page shows. The API and the command line have the others. */
const mostDeliveries = 10;

/** The outgoing webhooks of an owner, each with its last deliveries. */
export async function webhooksSection(section: Section): Promise<Html> {
  const { deps, account } = section;
  const webhooks = await deps.db.outgoingWebhook.findMany({
    where: { accountId: account.id, kind: { not: peopleKind } },
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
    ${webhooks.map((webhook) => webhookCard(section, webhook))} ${newWebhookForm(section)}`;
}

function webhookCard(section: Section, webhook: Shown): Html {
  const { action, times } = section;
  const { id, kind, shownUrl, isEnabled, description, deliveries } = webhook;
  const button = (does: string, label: string) => actButton(action, does, id, label);
  return html`<div class="card" id="webhook-${id}">
    <strong>${nameOfKind(kind)}</strong>
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
      ${editWebhookForm(section, webhook)}
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
  const when = lastAttemptAt ? html` ${instant(lastAttemptAt, times)}` : '';
  const after = attempts > 1 ? ` after ${attempts} attempts` : '';
  return html`${state}${when}${after}${why}
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
  const sent = { kind: form.get('kind'), ...readWebhookForm(form) };
  const wanted = readNewWebhook(validate(newWebhook, sent, 'body'));
  const { webhook, secret } = await createWebhook(deps, actor, account, wanted);
  if (secret !== null) return showSecret(change, secret, webhook.id);
  return context.redirect(`${ownerSettingsPath(account.login)}?said=saved#webhook-${webhook.id}`, 303);
}

async function updateWebhookByForm({ deps, context, actor, account, form }: OwnerChange): Promise<Response> {
  const id = textOf(form, 'id');
  const before = await requireWebhook(deps.db, account, id);
  assertFresh(form, versionOfWebhook(before), 'this webhook');
  const { public_text: publicText, ...change } = validate(webhookChange, readWebhookForm(form), 'body');
  await updateWebhook(deps, actor, account, id, { ...change, publicText: publicText ?? undefined });
  return context.redirect(`${ownerSettingsPath(account.login)}?said=saved#webhook-${id}`, 303);
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
  'update-webhook': updateWebhookByForm,
  'rotate-webhook': rotateWebhookByForm,
  'enable-webhook': setEnabled(true),
  'disable-webhook': setEnabled(false),
  'delete-webhook': ({ deps, actor, account, form }) =>
    deleteWebhook(deps, actor, account, textOf(form, 'id')),
  'test-webhook': ({ deps, account, form }) => testWebhook(deps, account, textOf(form, 'id')),
  'replay-delivery': ({ deps, account, form }) =>
    replayDelivery(deps, account, textOf(form, 'id'), textOf(form, 'delivery')),
};
