import { html } from 'hono/html';
import { conflict } from '../../errors.ts';
import { actorIn } from '../../events/actor.ts';
import type { SlackLink, SlackOffer } from '../../generated/prisma/client.ts';
import { slackAccountsPath } from '../../page-paths.ts';
import {
  connectedSlack,
  connectSlack,
  disconnectSlack,
  newAppUrl,
  ownersOfSlackApps,
} from '../../notices/slack/slack-apps.ts';
import {
  acceptOffer,
  findOffer,
  linksOf,
  setWantsMessages,
  unlink,
} from '../../notices/slack/slack-links.ts';
import { hearForPeople } from '../../notices/slack/tell-slack.ts';
import type { SentForm } from '../change.ts';
import { confirmation, type FormProblems, hiddenField, ifSent, textField, trimmedField } from '../form.ts';
import type { Html } from '../html.ts';
import { layout } from '../layout.ts';
import { saidMessage, messagePage } from '../message-page.ts';
import { signInFirst, readerTimes, type Visit } from '../reader.ts';
import { instantText, type Times } from '../text.ts';
import { foldedForm, type Forms, type SettingsSection } from './settings-form.ts';

const slackFields = ['bot_token', 'signing_secret', 'app_token'];

/** The Slack app of an owner: which workspace is connected, and how to connect one. Shows no secret again. */
export async function slackApp(section: SettingsSection): Promise<Html> {
  const { deps, account, action, problems, sent, times } = section;
  const connected = await connectedSlack(deps, account.id);
  const shared = deps.config.slack.app !== null;
  return html`${
    connected
      ? html`<div class="card">
          <strong><bdi>${connected.teamName}</bdi></strong>
          <span class="badge past">${connected.signingSecret === null ? 'Socket Mode' : 'HTTP'}</span>
          <p class="muted">
            Connected ${instantText(connected.createdAt, times)} by
            <bdi>${actorIn(connected.createdBy).name}</bdi>
          </p>
          ${confirmation(
            'Disconnect…',
            action,
            html`${hiddenField('do', 'disconnect-slack')}
              <p>Commands and buttons in Slack stop working, and people must link their accounts again.</p>`,
            'Disconnect Slack',
          )}
        </div>`
      : html`<p class="card">
          ${
            shared
              ? html`The Slack app of this service works for ${account.login}: write
                  <code>/holdfast help</code> in Slack. You can connect an app of your own instead.`
              : 'No Slack workspace is connected. Freeze, decide on exemptions and follow freezes in Slack.'
          }
        </p>`
  }
  ${foldedForm(
    section,
    {
      name: connected ? 'Connect again' : 'Connect Slack',
      does: 'connect-slack',
      fields: slackFields,
      act: 'Connect',
    },
    html`<ol>
        <li>
          Create the app:
          <a href="${newAppUrl(deps.config.publicUrl)}">for a service that Slack can reach</a>, or
          <a href="${newAppUrl(null)}">for a service behind a firewall (Socket Mode)</a>.
        </li>
        <li>
          Select <strong>Install to Workspace</strong>. Copy the bot token from
          <strong>OAuth &amp; Permissions</strong>.
        </li>
        <li>
          Copy the signing secret from <strong>Basic Information</strong>. For Socket Mode, create an
          app-level token with the scope <code>connections:write</code> there instead.
        </li>
      </ol>
      ${ifSent(sent, 'connect-slack') ? typeAgain : ''}
      ${secretField('bot_token', 'Bot token', 'Begins with xoxb-.', problems)}
      ${secretField('signing_secret', 'Signing secret', 'Leave it empty for Socket Mode.', problems)}
      ${secretField('app_token', 'App-level token', 'Begins with xapp-. For Socket Mode only.', problems)}`,
  )}`;
}

/** In a form that was refused, whose other fields keep what was typed. */
const typeAgain = html`<p class="notice" role="status">
  Type the tokens and the secret again: a page never shows secrets, also not the ones that you just typed.
</p>`;

const secretField = (name: string, label: string, hint: string, problems: FormProblems): Html =>
  textField(
    { name, label, hint, problems, attributes: html`autocomplete="off" spellcheck="false" maxlength="500"` },
    'password',
  );

export const slackForms: Forms = {
  'connect-slack': ({ deps, actor, account, form }) =>
    connectSlack(deps, actor, account, {
      botToken: trimmedField(form, 'bot_token'),
      signingSecret: trimmedField(form, 'signing_secret') || null,
      appToken: trimmedField(form, 'app_token') || null,
    }),
  'disconnect-slack': ({ deps, actor, account }) => disconnectSlack(deps, actor, account),
};

/**
 * `GET /slack/accounts`: asks to link the account of Slack that the link in the URL was made for (`token`), or shows the
 * linked accounts.
 */
export async function showSlackAccounts(visit: Visit): Promise<Response> {
  const { deps, context, viewer } = visit;
  if (!viewer) return signInFirst(visit);
  const token = context.req.query('token');
  if (token !== undefined) {
    const offer = await findOffer(deps, token);
    if (!offer) return over(visit);
    const owner = (await ownersOfSlackApps(deps, [offer.app])).get(offer.app);
    return slackPage(visit, 'Link your Slack account', confirm(offer, owner, token, viewer.login));
  }
  const links = await linksOf(deps, viewer);
  const owners = await ownersOfSlackApps(
    deps,
    links.map(({ app }) => app),
  );
  const times = readerTimes(visit);
  const body = html`${saidMessage(context)}
  ${links.length === 0 ? html`<p>No Slack account is linked. Write <code>/holdfast status</code> in Slack to link yours.</p>` : ''}
  ${links.map((link) => card(link, owners.get(link.app), times))}`;
  return slackPage(visit, 'Your Slack accounts', body);
}

const slackPage = (
  { context, viewer }: Visit,
  title: string,
  content: Html,
): Response | Promise<Response> => {
  const body = html`<h1>${title}</h1>
    ${content}`;
  return context.html(layout({ title, body, viewer }));
};

const over = ({ context, viewer }: Visit): Promise<Response> => {
  const text =
    'It works once, for 15 minutes, and a newer link replaces it. Write the command in Slack again to get another one.';
  return messagePage(context, { status: 404, title: 'This link is over', text }, viewer);
};

/** @param owner whose app it is; absent for the one of this service. */
const appOf = (owner: string | undefined): Html =>
  owner === undefined
    ? html`the Slack app of this service`
    : html`the Slack app of <strong>${owner}</strong>`;

/**
 * Names both accounts: whoever sent the link may not be who opened it. And whose app names the one at Slack: it can make
 * that up.
 */
const confirm = (
  { userName, userId, teamName, teamId }: SlackOffer,
  owner: string | undefined,
  token: string,
  login: string,
): Html =>
  html`<form class="card form" method="post" action="${slackAccountsPath}">
    <p>
      Link the Slack user <strong><bdi>${userName || userId}</bdi></strong> of the workspace
      <strong><bdi>${teamName || teamId}</bdi></strong> with the GitHub account <strong>${login}</strong>?
    </p>
    <p>
      These names come from ${appOf(owner)}.
      ${owner === undefined ? '' : html`Admins of ${owner} manage that app, and could use the link in your name, in ${owner} only.`}
    </p>
    <p>
      That Slack user can then do in Slack what ${login} can do with
      Holdfast${owner === undefined ? '' : html` in ${owner}`}. Link it only if it is you, and you wrote the
      command yourself. If somebody sent you this link, close the page.
    </p>
    ${hiddenField('do', 'link')} ${hiddenField('token', token)}
    <div class="actions">
      <button type="submit">Link ${userName || userId} with ${login}</button>
      <a class="button quiet" href="/">Cancel</a>
    </div>
  </form>`;

/** Names a link in a form. The person can only name their own. */
const slackFieldsOf = ({ app, teamId, userId }: SlackLink): Html =>
  html`${hiddenField('app', app)} ${hiddenField('team', teamId)} ${hiddenField('user', userId)}`;

const card = (link: SlackLink, owner: string | undefined, times: Times): Html =>
  html`<div class="card">
    <strong><bdi>${link.userName || link.userId}</bdi></strong> of <bdi>${link.teamName || link.teamId}</bdi>
    <p class="muted">Linked ${instantText(link.linkedAt, times)}, with ${appOf(owner)}</p>
    <form class="actions" method="post" action="${slackAccountsPath}">
      ${slackFieldsOf(link)} ${hiddenField('do', link.wantsMessages ? 'messages-off' : 'messages-on')}
      <button type="submit" class="quiet">
        ${link.wantsMessages ? 'Turn off messages about my pull requests' : 'Turn on messages about my pull requests'}
      </button>
    </form>
    ${confirmation('Unlink…', slackAccountsPath, html`${slackFieldsOf(link)} ${hiddenField('do', 'unlink')}`, 'Unlink')}
  </div>`;

/** `POST /slack/accounts`. */
export async function sendSlackAccounts(sent: SentForm): Promise<Response> {
  const { deps, context, viewer, form } = sent;
  const token = trimmedField(form, 'token');
  if (form.get('do') === 'link') {
    if (!(await acceptOffer(deps, token, viewer)))
      throw conflict('This link is over. Write the command in Slack again to get another one.');
    await hearForPeople(deps);
    deps.log.info({ by: viewer.login }, 'a Slack account was linked');
    return messagePage(
      context,
      {
        status: 200,
        title: 'Your Slack account is linked',
        text: 'Go back to Slack, and write the command again.',
        link: { href: slackAccountsPath, text: 'Show your Slack accounts' },
      },
      viewer,
    );
  }
  const user = {
    app: trimmedField(form, 'app'),
    teamId: trimmedField(form, 'team'),
    userId: trimmedField(form, 'user'),
  };
  const isOwn = (await linksOf(deps, viewer)).some(
    ({ app, teamId, userId }) => app === user.app && teamId === user.teamId && userId === user.userId,
  );
  if (isOwn && form.get('do') === 'unlink') await unlink(deps, user);
  if (isOwn && form.get('do') === 'messages-on') await setWantsMessages(deps, user, true);
  if (isOwn && form.get('do') === 'messages-off') await setWantsMessages(deps, user, false);
  return context.redirect(`${slackAccountsPath}?said=saved`, 303);
}
