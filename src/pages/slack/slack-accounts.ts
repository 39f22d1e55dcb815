import { html } from 'hono/html';
import { conflict } from '../../errors.ts';
import type { SlackLink, SlackOffer } from '../../generated/prisma/client.ts';
import { slackAccountsPath } from '../../installations/page-paths.ts';
import {
  acceptOffer,
  findOffer,
  linksOf,
  setWantsMessages,
  unlink,
} from '../../notices/slack/slack-links.ts';
import { hearForPeople } from '../../notices/slack/tell-slack.ts';
import type { Sent } from '../change.ts';
import { confirmation, hidden, textOf } from '../form.ts';
import { type Html, layout } from '../layout.ts';
import { messageOf, messagePage } from '../message-page.ts';
import { signInFirst, timesOf, type Visit } from '../reader.ts';
import { instant, type Times } from '../text.ts';

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
    return offer ? page(visit, 'Link your Slack account', confirm(offer, token, viewer.login)) : over(visit);
  }
  const links = await linksOf(deps, viewer);
  const times = timesOf(visit);
  const body = html`${messageOf(context)}
  ${links.length === 0 ? html`<p>No Slack account is linked. Write <code>/holdfast status</code> in Slack to link yours.</p>` : ''}
  ${links.map((link) => card(link, times))}`;
  return page(visit, 'Your Slack accounts', body);
}

const page = async ({ context, viewer }: Visit, title: string, body: Html): Promise<Response> =>
  context.html(
    await layout({
      title,
      body: html`<h1>${title}</h1>
        ${body}`,
      viewer,
    }),
  );

const over = ({ context, viewer }: Visit): Promise<Response> => {
  const text =
    'It works once, for 15 minutes, and a newer link replaces it. Write the command in Slack again to get another one.';
  return messagePage(context, { status: 404, title: 'This link is over', text }, viewer);
};

/** Names both accounts: whoever sent the link may not be who opened it. */
const confirm = ({ userName, userId, teamName, teamId }: SlackOffer, token: string, login: string): Html =>
  html`<form class="card form" method="post" action="${slackAccountsPath}">
    <p>
      Link the Slack user <strong><bdi>${userName || userId}</bdi></strong> of the workspace
      <strong><bdi>${teamName || teamId}</bdi></strong> with the GitHub account <strong>${login}</strong>?
    </p>
    <p>
      That Slack user can then do in Slack what ${login} can do with Holdfast. Link it only if it is you, and
      you wrote the command yourself. If somebody sent you this link, close the page.
    </p>
    ${hidden('do', 'link')} ${hidden('token', token)}
    <div class="actions">
      <button type="submit">Link ${userName || userId} with ${login}</button>
      <a class="button quiet" href="/">Cancel</a>
    </div>
  </form>`;

/** Names a link in a form. The person can only name their own. */
const fieldsOf = ({ app, teamId, userId }: SlackLink): Html =>
  html`${hidden('app', app)} ${hidden('team', teamId)} ${hidden('user', userId)}`;

const card = (link: SlackLink, times: Times): Html =>
  html`<div class="card">
    <strong><bdi>${link.userName || link.userId}</bdi></strong> of <bdi>${link.teamName || link.teamId}</bdi>
    <p class="muted">Linked ${instant(link.linkedAt, times)}</p>
    <form class="actions" method="post" action="${slackAccountsPath}">
      ${fieldsOf(link)} ${hidden('do', link.wantsMessages ? 'messages-off' : 'messages-on')}
      <button type="submit" class="quiet">
        ${link.wantsMessages ? 'Turn off messages about my pull requests' : 'Turn on messages about my pull requests'}
      </button>
    </form>
    ${confirmation('Unlink…', slackAccountsPath, html`${fieldsOf(link)} ${hidden('do', 'unlink')}`, 'Unlink')}
  </div>`;

/** `POST /slack/accounts`. */
export async function sendSlackAccounts(sent: Sent): Promise<Response> {
  const { deps, context, viewer, form } = sent;
  const token = textOf(form, 'token');
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
  const user = { app: textOf(form, 'app'), teamId: textOf(form, 'team'), userId: textOf(form, 'user') };
  const isOwn = (await linksOf(deps, viewer)).some(
    ({ app, teamId, userId }) => app === user.app && teamId === user.teamId && userId === user.userId,
  );
  if (isOwn && form.get('do') === 'unlink') await unlink(deps, user);
  if (isOwn && form.get('do') === 'messages-on') await setWantsMessages(deps, user, true);
  if (isOwn && form.get('do') === 'messages-off') await setWantsMessages(deps, user, false);
  return context.redirect(`${slackAccountsPath}?said=saved`, 303);
}
