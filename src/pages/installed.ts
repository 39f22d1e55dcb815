import { html } from 'hono/html';
import { signInSettings } from '../auth/sign-in/github-identity.ts';
import { nullIf } from '../errors.ts';
import { savedLock } from '../github/app-credentials-store.ts';
import { askGitHub } from '../github/ask-github.ts';
import type { AppPage } from '../github/github-app.ts';
import { accountsOf, type InstalledAccount } from '../installations/find-account.ts';
import { firstStepsPath, installedPath, ownerSettingsPath, signInPath } from '../page-paths.ts';
import type { Html } from './html.ts';
import { doneNotice, showPage } from './message-page.ts';
import type { PageDeps, Visit } from './reader.ts';
import { seeLock } from './settings/lock-app.ts';

/** About how many owners GitHub is asked. */
const mostOwnersAsked = 12;
/** How many the page lists. Each costs two questions about the second App. */
const mostOwners = 5;

/** The first App at GitHub; null while GitHub does not answer. */
export const appPage = (deps: PageDeps): Promise<AppPage | null> =>
  askGitHub(deps, 'App', 'what the App is called', () => deps.github.page()).catch(
    nullIf('unavailable', 'too-many-requests'),
  );

/** The button that leads to the installation of an App at GitHub. */
export const installLink = ({ name, url }: AppPage): Html =>
  html`<a class="button" href="${url}/installations/new">Install ${name}</a>`;

/**
 * `GET /installed`: where the setup ends, and where GitHub sends people back who installed an App. It says what is done,
 * and has the links for the rest until that is done too.
 */
export async function showInstalled(visit: Visit): Promise<Response> {
  const { deps, context, viewer } = visit;
  const { installation_id: given = '', signed } = context.req.query();
  const id = /^\d{1,18}$/.test(given) ? BigInt(given) : null;
  const isKnown = id === null || viewer?.installationIds.includes(id);
  // GitHub says at the sign-in what somebody can see, so one after the installation is needed.
  if (!isKnown && !signed && signInSettings(deps.config)) {
    const back = new URLSearchParams({ installation_id: given, signed: 'yes' });
    return context.redirect(signInPath(`${installedPath}?${back}`), 302);
  }
  // An installation without repositories is not among those that GitHub names.
  const ids = [...(viewer?.installationIds ?? []), ...(id === null ? [] : [id])];
  const owners: Owner[] = [];
  for (const account of viewer ? (await accountsOf(deps, ids)).slice(0, mostOwnersAsked) : []) {
    if (owners.length === mostOwners) break;
    const isTheirs = deps.permissions.isOwnerAdmin(deps, viewer!, account);
    // What GitHub does not say now hides nobody else.
    if (await isTheirs.catch(nullIf('unavailable', 'too-many-requests')))
      owners.push({ account, lock: await lockOn(deps, account) });
  }
  const first = await appPage(deps);
  const saved = await savedLock(deps.db);
  const lock =
    owners.find((owner) => owner.lock)?.lock?.app ?? (saved && { name: saved.name, url: saved.htmlUrl });
  const isDone = owners.length > 0;
  const title = isDone
    ? `Holdfast is installed on ${owners.map(({ account }) => account.login).join(', ')}`
    : 'Install Holdfast';
  const body = html`<h1>${title}</h1>
    ${lock && context.req.query('said') === 'second-app' ? doneNotice(`${lock.name} is connected.`) : ''}
    ${viewer || !signInSettings(deps.config) ? '' : html`<p>To see what is done, <a href="${signInPath(installedPath)}">sign in with GitHub</a>.</p>`}
    <ol class="steps">
      ${item(
        isDone,
        first?.name ?? 'Holdfast',
        isDone
          ? html`${owners.map(({ account }) => html`<p>It sees the repositories of ${account.login}.</p>`)}
            ${
              first
                ? html`<p>
                    GitHub installs a private App only on the account that owns it. For others, make it public
                    in the App’s settings on GitHub, then
                    <a href="${first.url}/installations/new">install it there</a>.
                  </p>`
                : ''
            }`
          : html`<p>Holdfast cannot see your repositories until you install it.</p>
              ${first ? html`<p>${installLink(first)}</p>` : html`<p>GitHub does not answer. Reload the page in a moment.</p>`}`,
      )}
      ${lock ? lockItem(lock, owners) : ''}
      ${owners.map(
        ({ account: { login } }) =>
          html`<li class="card">
            <h2 class="first">First steps for ${login}</h2>
            <p>Require the check, create a key, and freeze for the first time.</p>
            <p><a class="button" href="${firstStepsPath(login)}">Go on with the first steps</a></p>
          </li>`,
      )}
    </ol>`;
  return showPage({ context, viewer }, { title, body });
}

type Owner = { account: InstalledAccount; lock: { app: AppPage; isInstalled: boolean } | null };

/** The second App, and whether it is installed on an owner; null if there is none, or GitHub does not say. */
async function lockOn(deps: PageDeps, account: InstalledAccount): Promise<Owner['lock']> {
  if ((await deps.github.lock.id()) === null) return null;
  const seen = await seeLock(deps, account).catch(nullIf('unavailable', 'too-many-requests'));
  return seen && { app: { name: seen.name, url: seen.url }, isInstalled: seen.installed !== null };
}

/** The second App: to do until it is on every owner that the reader administers. */
function lockItem(app: AppPage, owners: Owner[]): Html {
  const missing = owners.filter(({ lock }) => !lock?.isInstalled);
  const isDone = owners.length > 0 && missing.length === 0;
  return item(
    isDone,
    app.name,
    isDone
      ? owners.map(
          ({ account: { login } }) =>
            html`<p>
              It is installed on ${login}. Now turn on the instant hold in the
              <a href="${ownerSettingsPath(login)}">settings of ${login}</a>.
            </p>`,
        )
      : html`<p>
            Freezes of the owners where it is installed can block at once: see
            <a href="/help/instant-hold">Instant hold</a>. Install it beside the first App.
          </p>
          <p>${installLink(app)}</p>`,
  );
}

const item = (isDone: boolean, title: string, content: Html | Html[]): Html =>
  html`<li class="card">
    <h2 class="first">
      <span class="badge ${isDone ? 'free' : 'past'}">${isDone ? 'Done' : 'To do'}</span> ${title}
    </h2>
    ${content}
  </li>`;
