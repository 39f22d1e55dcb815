import { html } from 'hono/html';
import type { Deps } from '../../deps.ts';
import { conflict, nullIf, isTooManyRequests, isUnavailable } from '../../errors.ts';
import { savedLock } from '../../github/app-credentials-store.ts';
import { askGitHub } from '../../github/ask-github.ts';
import { isGitHubStatus } from '../../github/github-error.ts';
import {
  assertMayMakeSecondApp,
  forgetSecondApp,
  ownerOfFirstApp,
  ownsFirstApp,
} from '../../github/second-app.ts';
import type { InstalledAccount } from '../../installations/find-account.ts';
import { ownerSettingsPath } from '../../page-paths.ts';
import type { OwnerChange } from '../change.ts';
import { confirmation, hiddenField, trimmedField } from '../form.ts';
import type { Html } from '../html.ts';
import { layout } from '../layout.ts';
import { newAppForm, beginLockApp } from './create-lock-app.ts';
import { instantText } from '../text.ts';
import type { Forms, SettingsSection } from './settings-form.ts';

/** Shows what will be made. The button of the page leads to GitHub. */
async function createLockAppByForm(change: OwnerChange): Promise<Response> {
  const { deps, context, viewer, account } = change;
  const owner = await assertMayMakeSecondApp(deps, account);
  if (await savedLock(deps.db)) throw conflict('There is a second App already. Forget that one first.');
  const back = ownerSettingsPath(account.login, 'instant-hold');
  const offer = await beginLockApp(deps, context, owner, back);
  const title = 'Create the second App';
  const body = html`<h1>${title}</h1>
    ${newAppForm(offer, html`<a class="button quiet" href="${back}">Back</a>`)}`;
  const crumbs = [{ name: 'Instant hold', href: back }, { name: 'Second App' }];
  return context.html(layout({ title, body, viewer, owner: account.login, tab: 'settings', crumbs }));
}

async function forgetLockAppByForm({ deps, actor, account, form }: OwnerChange): Promise<void> {
  await assertMayMakeSecondApp(deps, account);
  await forgetSecondApp(deps, { accountId: account.id, actor }, trimmedField(form, 'app'));
}

export const lockAppForms: Forms = {
  'create-lock-app': createLockAppByForm,
  'forget-lock-app': forgetLockAppByForm,
};

/** What GitHub says about the second App: null if it knows none with our key. */
type SeenLock = { name: string; url: string; owner: string; installed: Installed | null } | null;
type Installed = { url: string; isSuspended: boolean; isGranted: boolean };

/** @throws Refusal unavailable; too-many-requests. */
export async function seeLock(deps: Deps, { login }: InstalledAccount): Promise<SeenLock> {
  await deps.questions?.beforeInstallation();
  const absent = (error: unknown) => {
    if (isGitHubStatus(error, 401, 404)) return null;
    throw error;
  };
  return askGitHub(deps, 'App', `where the second App is installed`, async () => {
    const { rest } = await deps.github.lock.asApp();
    const app = await rest.apps.getAuthenticated().catch(absent);
    if (!app?.data) return null;
    const { name, html_url: url, owner } = app.data;
    const found = await rest.apps.getUserInstallation({ username: login }).catch(absent);
    const installed = found && {
      url: found.data.html_url,
      isSuspended: found.data.suspended_at !== null,
      isGranted: found.data.permissions.administration === 'write',
    };
    return { name, url, owner: 'login' in owner ? owner.login : (owner.name ?? ''), installed };
  });
}

/** The second App: whether there is one, whether it is installed on the owner, and what to do. */
export async function lockAppSection({ deps, account, action, times }: SettingsSection): Promise<Html> {
  const { lock, secretKey } = deps.config;
  const silent = (error: unknown) => {
    if (isUnavailable(error) || isTooManyRequests(error)) return 'silent' as const;
    throw error;
  };
  const saved = await savedLock(deps.db);
  const isThere = (await deps.github.lock.id()) !== null;
  const seen = isThere ? await seeLock(deps, account).catch(silent) : null;
  const owner = lock ? null : await ownerOfFirstApp(deps).catch(nullIf('unavailable', 'too-many-requests'));
  const mayMake = owner !== null && ownsFirstApp(account, owner);
  return html`<h2>Second App for instant holds</h2>
    <p>
      A second GitHub App makes freezes block at once, by a ruleset. One App serves all owners, and each owner
      decides whether to install it: see <a href="/help/instant-hold">Instant hold</a>.
    </p>
    ${isThere ? html`<div class="card">${shownLock(seen, account)}</div>` : ''}
    ${
      lock
        ? html`<p class="muted">It is set in the environment of this service (<code>LOCK_APP_ID</code>).</p>`
        : saved
          ? html`<p class="muted">
                <bdi>${saved.name}</bdi>, created ${instantText(saved.createdAt, times)}.
                ${isThere ? '' : 'Its key is encrypted with another SECRET_KEY: set SECRET_KEY_PREVIOUS to that one, or forget the App.'}
              </p>
              ${mayMake ? forget(action, saved) : ''}`
          : mayMake && secretKey !== null
            ? html`<form class="form" method="post" action="${action}">
                ${hiddenField('do', 'create-lock-app')}
                <div class="actions"><button type="submit" class="quiet">Create the second App</button></div>
              </form>`
            : html`<p>
                There is no second App.
                ${mayMake ? 'To create one here, set SECRET_KEY.' : `${owner ? `Admins of ${owner.login} can create it` : 'The people who run this service can set it up'}.`}
              </p>`
    }`;
}

function shownLock(seen: SeenLock | 'silent', { login }: InstalledAccount): Html {
  if (seen === 'silent')
    return html`GitHub does not say whether the second App is installed. Reload the page in a moment.`;
  if (seen === null)
    return html`GitHub does not know the second App: somebody deleted it or its key. Instant holds do not
      work. Forget it and create another one, or change <code>LOCK_APP_ID</code> and
      <code>LOCK_PRIVATE_KEY</code>.`;
  const { name, url, owner, installed } = seen;
  const app = html`<a href="${url}"
    ><strong><bdi>${name}</bdi></strong></a
  >`;
  if (!installed)
    return html`${app} is not installed on ${login}.
      ${owner.toLowerCase() === login.toLowerCase() ? '' : `It belongs to ${owner}. If GitHub does not let you install it, they must make it public.`}
      <p class="actions"><a class="button" href="${url}/installations/new">Install ${name}</a></p>`;
  if (installed.isSuspended)
    return html`${app} is suspended on ${login}. <a href="${installed.url}">Unsuspend it</a>.`;
  if (!installed.isGranted)
    return html`${app} lacks the permission Administration: write on ${login}.
      <a href="${installed.url}">Accept its permissions</a>.`;
  return html`${app} is installed on ${login}. Set the instant hold above.`;
}

const forget = (action: string, { appId, name }: { appId: bigint; name: string }): Html =>
  confirmation(
    'Forget…',
    action,
    html`${hiddenField('do', 'forget-lock-app')} ${hiddenField('app', String(appId))}
      <p>
        End freezes with an instant hold first: Holdfast cannot disable their rulesets afterwards. Delete the
        App at GitHub, too.
      </p>`,
    `Forget ${name}`,
  );
