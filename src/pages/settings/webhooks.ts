import { html } from 'hono/html';
import { newWebhook, readNewWebhook, webhookChange } from '../../api/v1/webhooks.ts';
import { validate } from '../../api/read-request.ts';
import { cutText } from '../../cut-text.ts';
import { actorIn } from '../../events/actor.ts';
import type { OutgoingDelivery, OutgoingWebhook } from '../../generated/prisma/client.ts';
import { ownerSettingsPath, webhookPath } from '../../page-paths.ts';
import {
  createWebhook,
  deleteWebhook,
  peopleKind,
  requireWebhook,
  rotateSecret,
  updateWebhook,
} from '../../notices/manage-webhooks.ts';
import { replayDelivery, testWebhook } from '../../notices/manage-deliveries.ts';
import { loadNotices, noticesOf } from '../../notices/notice.ts';
import { bodyOf } from '../../notices/post.ts';
import type { OwnerChange } from '../change.ts';
import { assertFresh, confirmation, hiddenField, idField } from '../form.ts';
import type { Html } from '../html.ts';
import { item, madeBy } from '../repository/freeze-list.ts';
import { instantText, type Times } from '../text.ts';
import { type Forms, type SettingsSection, secretPage } from './settings-form.ts';
import {
  editWebhookForm,
  newWebhookForm,
  nameOfKind,
  readWebhookForm,
  versionOfWebhook,
} from './webhook-form.ts';

type Shown = OutgoingWebhook & { deliveries: OutgoingDelivery[] };

/** How many deliveries the page of a webhook shows. The API and the command line have the others. */
const mostDeliveries = 20;

/** The outgoing webhooks of an owner that one sees, each with its last deliveries. */
const readWebhooks = (
  { deps, account }: SettingsSection,
  id: string | undefined,
  take: number,
): Promise<Shown[]> =>
  deps.db.outgoingWebhook.findMany({
    where: { id, accountId: account.id, kind: { not: peopleKind } },
    include: { deliveries: { orderBy: { serial: 'desc' }, take } },
    // With `join`, the default, Prisma can't read a list of BigInt, such as the ids of events.
    relationLoadStrategy: 'query',
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });

/** The outgoing webhooks of an owner, each with its last delivery. */
export async function webhooksSection(section: SettingsSection): Promise<Html> {
  const webhooks = await readWebhooks(section, undefined, 1);
  return html`<p>
      Send a message to a chat or to your own service when a freeze begins or somebody requests an exemption.
      <a href="/help/notices">How outgoing webhooks work</a>
    </p>
    ${
      webhooks.length === 0
        ? html`<p class="card">No outgoing webhooks.</p>`
        : html`<table class="stacked">
            <thead>
              <tr>
                <th scope="col">Webhook</th>
                <th scope="col">Told</th>
                <th scope="col">Last delivery</th>
              </tr>
            </thead>
            <tbody>
              ${webhooks.map((webhook) => webhookRow(section, webhook))}
            </tbody>
          </table>`
    }
    ${newWebhookForm(section)}`;
}

const webhookRow = ({ account, times }: SettingsSection, webhook: Shown): Html => {
  const [last] = webhook.deliveries;
  return html`<tr>
    <th scope="row">
      <a href="${webhookPath(account.login, webhook.id)}"><bdi>${nameOf(webhook)}</bdi></a>
      ${stateBadge(webhook)}
      ${webhook.description !== null && webhook.shownUrl !== '' ? html`<p class="muted">${webhook.shownUrl}</p>` : ''}
    </th>
    <td>${heard(webhook)}</td>
    <td>${last ? outcome(last, times) : 'None yet'}</td>
  </tr>`;
};

const stateBadge = ({ isEnabled }: OutgoingWebhook): Html =>
  html`<span class="badge ${isEnabled ? 'free' : 'past'}">${isEnabled ? 'enabled' : 'disabled'}</span>`;

/** What people call it by. */
const nameOf = ({ kind, description, shownUrl }: OutgoingWebhook): string =>
  description ?? (shownUrl === '' ? nameOfKind(kind) : shownUrl);

/** A webhook of an owner for its page; null if there is none. */
export async function findShownWebhook(
  section: SettingsSection,
  id: string,
): Promise<(Shown & { name: string }) | null> {
  const [webhook] = await readWebhooks(section, id, mostDeliveries);
  return webhook ? { ...webhook, name: nameOf(webhook) } : null;
}

/** One webhook: what it is told, its form, and its deliveries. */
export async function webhookPage(section: SettingsSection, webhook: Shown): Promise<Html> {
  const { action, times, deps } = section;
  const { id, kind, shownUrl, isEnabled, createdAt, createdBy, deliveries } = webhook;
  const button = (does: string, label: string) => actButton(action, does, id, label);
  const bodies = await bodiesOf(deps, webhook, section.account.login);
  return html`<h1><bdi>${nameOf(webhook)}</bdi></h1>
    ${isEnabled ? '' : disabledNote(webhook, times)}
    <dl class="card">
      ${item('State', stateBadge(webhook))} ${item('Sends to', nameOfKind(kind))}
      ${shownUrl === '' ? '' : item('Address', html`<code>${shownUrl}</code>`)}
      ${item('Told', heard(webhook))}
      ${item('Created by', madeBy(actorIn(createdBy), instantText(createdAt, times)))}
    </dl>
    <div class="actions">
      ${isEnabled ? button('test-webhook', 'Send a test') : ''}
      ${isEnabled ? button('disable-webhook', 'Disable') : button('enable-webhook', 'Enable')}
      ${editWebhookForm(section, webhook)}
      ${
        kind === 'standard'
          ? confirmation(
              'Rotate secret…',
              action,
              html`${hiddenField('do', 'rotate-webhook')} ${hiddenField('id', id)}
                <p>For 24 hours, each message has a signature of both secrets.</p>`,
              'Rotate secret',
              'confirms',
            )
          : ''
      }
      ${confirmation(
        'Delete…',
        action,
        html`${hiddenField('do', 'delete-webhook')} ${hiddenField('id', id)}
          <p>Nothing is sent there any more, also not what still waits.</p>`,
        'Delete webhook',
      )}
    </div>
    <h2>Last deliveries</h2>
    ${
      deliveries.length === 0
        ? html`<p class="card">No deliveries yet. Send a test to see whether a message arrives.</p>`
        : html`<ul class="cards">
            ${deliveries.map((each, at) => deliveryCard(action, webhook, each, bodies[at]!, times))}
          </ul>`
    }`;
}

/** A form that is one button. @param more its other fields. */
const actButton = (action: string, does: string, id: string, label: string, more = html``): Html =>
  html`<form method="post" action="${action}">
    ${hiddenField('do', does)} ${hiddenField('id', id)} ${more}
    <button type="submit" class="quiet">${label}</button>
  </form>`;

const disabledNote = ({ disabledAt, disabledWhy }: OutgoingWebhook, times: Times): Html =>
  html`<p class="notice ${disabledWhy === null ? '' : 'wrong'}">
    ${disabledWhy === null ? 'Somebody disabled it' : 'Holdfast disabled it'}
    ${disabledAt ? instantText(disabledAt, times) : ''}.
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
  const when = lastAttemptAt ? html` ${instantText(lastAttemptAt, times)}` : '';
  const after = attempts > 1 ? ` after ${attempts} attempts` : '';
  return html`${state}${when}${after}${why}
  ${lastAttemptAt && nextAttemptAt ? html`Next attempt ${instantText(nextAttemptAt, times)}.` : ''}`;
}

/** What the body of each delivery says, as it would be sent now: the events are stored, and what they became is not. */
async function bodiesOf(
  deps: SettingsSection['deps'],
  webhook: Shown,
  owner: string,
): Promise<(string | null)[]> {
  const notices = await loadNotices(
    deps,
    webhook.deliveries.flatMap(({ eventIds }) => eventIds),
  );
  return webhook.deliveries.map((delivery) => {
    const its = noticesOf(deps, owner, delivery, notices);
    const body = its && bodyOf(webhook, its);
    return body === null ? null : cutText(JSON.stringify(JSON.parse(body), null, 2), longestBody);
  });
}

/** Characters of a body that the page shows. */
const longestBody = 2_000;

const deliveryCard = (
  action: string,
  { id, isEnabled }: Shown,
  delivery: OutgoingDelivery,
  body: string | null,
  times: Times,
): Html =>
  html`<li class="card">
    <div class="headline">
      <p>
        <strong>${delivery.type}</strong>, saved ${instantText(delivery.createdAt, times)}<br />
        ${outcome(delivery, times)}
      </p>
      ${isEnabled && delivery.state !== 'waiting' ? actButton(action, 'replay-delivery', id, 'Send again', hiddenField('delivery', delivery.id)) : ''}
    </div>
    <details>
      <summary>Request and answer</summary>
      <dl>
        ${item('ID', html`<code class="id">${delivery.id}</code>`)}
        ${item('Answer', delivery.status === null ? (delivery.error ?? 'None yet') : `HTTP status ${delivery.status}`)}
        ${item('Body', body === null ? 'Its events are no longer in the audit log.' : html`<pre>${body}</pre>`)}
      </dl>
    </details>
  </li>`;

/** Shows the secret of a webhook for one's own service. A chat has none. */
async function createWebhookByForm(change: OwnerChange): Promise<Response | string> {
  const { deps, actor, account, form } = change;
  const sent = { kind: form.get('kind'), ...readWebhookForm(form) };
  const wanted = readNewWebhook(validate(newWebhook, sent, 'body'));
  const { webhook, secret } = await createWebhook(deps, actor, account, wanted);
  return secret === null ? webhookPath(account.login, webhook.id) : showSecret(change, secret, webhook.id);
}

async function updateWebhookByForm({ deps, actor, account, form }: OwnerChange): Promise<string> {
  const id = idField(form, 'id');
  const before = await requireWebhook(deps.db, account, id);
  assertFresh(form, versionOfWebhook(before), 'this webhook');
  const { public_text: publicText, ...change } = validate(webhookChange, readWebhookForm(form), 'body');
  await updateWebhook(deps, actor, account, id, { ...change, publicText: publicText ?? undefined });
  return webhookPath(account.login, id);
}

async function rotateWebhookByForm(change: OwnerChange): Promise<Response> {
  const { deps, actor, account, form } = change;
  const { secret } = await rotateSecret(deps, actor, account, idField(form, 'id'));
  return showSecret(change, secret!, idField(form, 'id'));
}

const showSecret = (change: OwnerChange, secret: string, id: string): Response | Promise<Response> =>
  secretPage(change, {
    title: 'Secret of the webhook',
    notice: 'Copy the secret now. Verify each message with it.',
    secret,
    back: webhookPath(change.account.login, id),
  });

const setEnabled =
  (enabled: boolean) =>
  async ({ deps, actor, account, form }: OwnerChange): Promise<void> => {
    await updateWebhook(deps, actor, account, idField(form, 'id'), { enabled });
  };

export const webhookForms: Forms = {
  'create-webhook': createWebhookByForm,
  'update-webhook': updateWebhookByForm,
  'rotate-webhook': rotateWebhookByForm,
  'enable-webhook': setEnabled(true),
  'disable-webhook': setEnabled(false),
  async 'delete-webhook'({ deps, actor, account, form }) {
    await deleteWebhook(deps, actor, account, idField(form, 'id'));
    return ownerSettingsPath(account.login, 'webhooks');
  },
  'test-webhook': ({ deps, account, form }) => testWebhook(deps, account, idField(form, 'id')),
  'replay-delivery': ({ deps, account, form }) =>
    replayDelivery(deps, account, idField(form, 'id'), idField(form, 'delivery')),
};
