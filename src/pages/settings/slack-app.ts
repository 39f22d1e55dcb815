import { html } from 'hono/html';
import type { Deps } from '../../deps.ts';
import type { Actor } from '../../events/actor.ts';
import type { InstalledAccount } from '../../installations/find-account.ts';
import { connectedSlack, connectSlack, disconnectSlack, newAppUrl } from '../../notices/slack/slack-apps.ts';
import type { OwnerChange } from '../change.ts';
import { confirmation, type FormProblems, hidden, textField, textOf } from '../form.ts';
import type { Html } from '../layout.ts';
import { instant, type Times } from '../text.ts';

const fields = ['bot_token', 'signing_secret', 'app_token'];

/** The Slack app of an owner: which workspace is connected, and how to connect one. Shows no secret again. */
export async function slackApp(
  deps: Deps,
  account: InstalledAccount,
  action: string,
  problems: FormProblems,
  times: Times,
): Promise<Html> {
  const connected = await connectedSlack(deps, account.id);
  const shared = deps.config.slack.app !== null;
  return html`<h2 id="slack">Slack</h2>
    ${
      connected
        ? html`<div class="card">
            <strong><bdi>${connected.teamName}</bdi></strong>
            <span class="badge past">${connected.signingSecret === null ? 'Socket Mode' : 'HTTP'}</span>
            <p class="muted">
              Connected ${instant(connected.createdAt, times)} by
              <bdi>${(connected.createdBy as Actor).name}</bdi>
            </p>
            ${confirmation(
              'Disconnect…',
              action,
              html`${hidden('do', 'disconnect-slack')}
                <p>
                  Commands and buttons in Slack stop working, and people must link their accounts again.
                </p>`,
              'Disconnect Slack',
            )}
          </div>`
        : html`<p>
            ${
              shared
                ? html`The Slack app of this service works for ${account.login}: write
                    <code>/holdfast help</code> in Slack. You can connect an app of your own instead.`
                : 'No Slack workspace is connected. Freeze, decide on exemptions and follow freezes in Slack.'
            }
          </p>`
    }
    <details ${fields.some((name) => problems.has(name)) ? html`open` : ''}>
      <summary class="button quiet">${connected ? 'Connect again' : 'Connect Slack'}</summary>
      <form class="card form" method="post" action="${action}">
        ${hidden('do', 'connect-slack')}
        <ol>
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
        ${secretField('bot_token', 'Bot token', 'Begins with xoxb-.', problems)}
        ${secretField('signing_secret', 'Signing secret', 'Leave it empty for Socket Mode.', problems)}
        ${secretField('app_token', 'App-level token', 'Begins with xapp-. For Socket Mode only.', problems)}
        <div class="actions"><button type="submit" class="quiet">Connect</button></div>
      </form>
    </details>`;
}

const secretField = (name: string, label: string, hint: string, problems: FormProblems): Html =>
  textField(
    { name, label, hint, problems, attributes: html`autocomplete="off" spellcheck="false" maxlength="500"` },
    'password',
  );

export async function connectSlackByForm({ deps, actor, account, form }: OwnerChange): Promise<void> {
  const orNull = (name: string) => textOf(form, name) || null;
  const tokens = {
    botToken: textOf(form, 'bot_token'),
    signingSecret: orNull('signing_secret'),
    appToken: orNull('app_token'),
  };
  await connectSlack(deps, actor, account, tokens);
}

export const disconnectSlackByForm = ({ deps, actor, account }: OwnerChange): Promise<void> =>
  disconnectSlack(deps, actor, account);
