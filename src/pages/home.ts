import { html } from 'hono/html';
import type { Session } from '../auth/sign-in/sessions.ts';
import { signInSettings } from '../auth/sign-in/github-identity.ts';
import { isTooManyRequests, refusedIf, Refusal } from '../errors.ts';
import { badge } from './states.ts';
import type { Times } from './text.ts';
import type { Html } from './html.ts';
import { layout } from './layout.ts';
import { appPage, installLink } from './installed.ts';
import type { AppPage } from '../github/github-app.ts';
import { homeLivePath, installedPath, ownerFormPath, ownerPath, signInPath } from '../page-paths.ts';
import { concerns, follow, liveAt } from './live.ts';
import { messagePage, showPage } from './message-page.ts';
import { opensOfSeen } from './opens.ts';
import {
  areDeploymentsFrozen,
  askBehindPage,
  repositoryStates,
  repositoryStateOf,
  withKnownEnforcement,
} from '../explanations/repository-states.ts';
import { absentPage, type PageDeps, readerTimes, type Visit, waysWithoutGitHub } from './reader.ts';
import { accountsOf } from '../installations/find-account.ts';
import { countText } from './freeze-now/plan-preview.ts';
import { disabledNotices } from './owner/disabled-webhooks.ts';
import { countDeployments } from './owner/held-deployments.ts';
import { seeOwner, seesNothing } from './owner/open-owner.ts';
import { frozenIn, loadOverview, type Overview, type SeenOwner } from './owner/overview.ts';
import { overviewLists } from './owner/overview-lists.ts';
import { stateOfOwners } from './owner/state-of-owners.ts';

/** `GET /`: what is frozen, what comes next and what waits for your decision. Visitors read what Holdfast is. */
export async function showHome(visit: Visit): Promise<Response> {
  const { deps, context, viewer } = visit;
  // GitHub sends people here who installed an App that an earlier version made.
  if (context.req.query('setup_action') === 'install')
    return context.redirect(installedPath + new URL(context.req.url).search, 302);
  if (!viewer) return context.html(layout({ title: 'Home', body: forStrangers(deps), viewer }));
  try {
    const { owners, silent } = await ownersOf(deps, viewer);
    const times = readerTimes(visit);
    const [overview, notices] = await Promise.all([
      loadOverview(deps, viewer, owners, times),
      disabledNotices(deps, owners),
    ]);
    const glance = html`${notices} ${atAGlance(owners, silent, overview, times)}`;
    const body = owners.length + silent.length > 0 ? glance : nothingYet(await appPage(deps));
    const [only] = owners.length + silent.length === 1 ? owners : [];
    const frozen = frozenIn(overview);
    const page = { title: 'Home', body, frozen, live: liveAt(visit, homeLivePath) };
    const opensOf = (seen: SeenOwner) => opensOfSeen({ deps, viewer, ...seen });
    const all = [
      ...owners.map((seen) => ({ login: seen.account.login, opens: opensOf(seen) })),
      ...silent.map(({ login }) => ({ login, opens: [] })),
    ];
    if (!only) return await showPage(visit, all.length > 1 ? { ...page, owners: all } : page);
    // For a single owner it is one of the owner's pages.
    return await showPage(
      { deps, context, viewer: { ...viewer, opens: opensOf(only) } },
      { ...page, owner: only.account.login },
    );
  } catch (error) {
    if (!isTooManyRequests(error)) throw error;
    return messagePage(context, { status: 429, title: 'Too many requests', text: error.message }, viewer);
  }
}

/** `GET /owners/live`: tells when something changes that the home page shows. */
export async function followHome(visit: Visit): Promise<Response> {
  if (!visit.viewer) return absentPage(visit);
  return follow(visit, concerns((await ownersOf(visit.deps, visit.viewer)).owners));
}

const forStrangers = (deps: PageDeps): Html =>
  html`<h1>Merge freezes for GitHub</h1>
    <p>
      Holdfast freezes merges on GitHub for a release, an incident or a holiday. While a freeze is on, GitHub
      refuses to merge the pull requests that it holds. The <code>holdfast/freeze</code> check of a pull
      request links to a page that explains why it is blocked and until when.
    </p>
    <p class="actions">
      ${signInSettings(deps.config) ? html`<a class="button" href="${signInPath('/')}">Sign in with GitHub</a>` : ''}
      <a class="button quiet" href="/help">Documentation</a>
      <a class="button quiet" href="/docs">API reference</a>
    </p>`;

/** @param app null while GitHub does not answer. */
const nothingYet = (app: AppPage | null): Html =>
  html`<h1>No repositories yet</h1>
    <p class="card">
      You cannot access any organization or account where Holdfast is installed. Install the GitHub App on an
      organization or on your account, then <a href="${signInPath('/')}">sign in again</a>.
    </p>
    ${app ? html`<p class="actions">${installLink(app)}</p>` : ''}`;

function atAGlance(owners: SeenOwner[], silent: SilentOwner[], overview: Overview, times: Times): Html {
  const [only] = owners.length === 1 ? owners : [];
  const list = only && silent.length === 0 ? ownerPath(only.account.login) : null;
  const { deploymentsIn } = overview;
  return html`${stateOfOwners(owners, { list, times, actions: actions(owners), deploymentsIn, silent: silent.length })}
    ${overviewLists(overview, times, !only)}
    <section aria-labelledby="owners">
      <h2 id="owners">Owners</h2>
      <table class="stacked">
        <tbody>
          ${owners.map((owner) => ownerRow(owner, deploymentsIn))}
          ${silent.map(({ login }) => silentRow(login))}
        </tbody>
      </table>
      ${whatWorks(silent, times)}
      <p class="muted">
        If an owner is missing, install Holdfast there, then
        <a href="${signInPath('/')}">sign in again</a>.
      </p>
    </section>`;
}

function actions(owners: SeenOwner[]): Html {
  const may = owners.filter(({ mayFreeze }) => mayFreeze === true);
  const isFrozen = ({ repositories }: SeenOwner) =>
    repositories.some((each) => repositoryStateOf(each) === 'frozen' || areDeploymentsFrozen(each));
  const [only] = owners.length === 1 ? owners : [];
  return html`<div class="actions">
    ${choose(may, 'freeze', 'Freeze now', 'freeze')}
    ${choose(may.filter(isFrozen), 'unfreeze', 'Unfreeze', 'danger')}
    ${only ? html`<a class="button quiet" href="${ownerPath(only.account.login)}">All repositories</a>` : ''}
  </div>`;
}

/** A button that leads to a form of an owner. If there are several owners it opens a menu of them. */
function choose(
  owners: SeenOwner[],
  form: 'freeze' | 'unfreeze',
  name: string,
  kind: 'freeze' | 'danger',
): Html | '' {
  const [first, ...others] = owners.map(({ account }) => account.login);
  if (first === undefined) return '';
  if (others.length === 0)
    return html`<a class="button ${kind}" href="${ownerFormPath(first, form)}">${name}</a>`;
  return html`<details class="menu">
    <summary class="button ${kind}">${name}</summary>
    <ul>
      ${[first, ...others].map(
        (login) =>
          html`<li>
            <a href="${ownerFormPath(login, form)}"><bdi>${login}</bdi></a>
          </li>`,
      )}
    </ul>
  </details>`;
}

const ownerRow = (
  { account: { login }, repositories }: SeenOwner,
  deploymentsIn: Overview['deploymentsIn'],
): Html => {
  const frozen = repositories.filter((each) => repositoryStateOf(each) === 'frozen').length;
  const counts = countDeployments(repositories.flatMap(({ id }) => deploymentsIn.get(id) ?? []));
  const ofDeployments = counts.frozen + counts.unknown;
  return html`<tr>
    <th scope="row">
      <a href="${ownerPath(login)}"><bdi>${login}</bdi></a>
    </th>
    <td>
      ${countText(repositories.length, 'repository', 'repositories')}
      ${frozen > 0 ? badge('frozen', `${frozen} frozen`) : ''}
      ${ofDeployments > 0 ? badge('frozen', `freeze of deployments in ${ofDeployments}`) : ''}
      ${counts.notEnforced > 0 ? badge('notEnforced', `freeze of deployments not enforced in ${counts.notEnforced}`) : ''}
      ${frozen + ofDeployments + counts.notEnforced === 0 ? badge('free', 'none frozen') : ''}
    </td>
  </tr>`;
};

const silentRow = (login: string): Html =>
  html`<tr>
    <th scope="row">
      <a href="${ownerPath(login)}"><bdi>${login}</bdi></a>
    </th>
    <td class="muted">GitHub does not say what you may see here.</td>
  </tr>`;

/** The ways that work for owners about whom GitHub answers nothing more in this hour. */
function whatWorks(silent: SilentOwner[], times: Times): Html | '' {
  const ends = silent.flatMap(({ why }) => why.limitedUntil?.getTime() ?? []);
  return ends.length === 0 ? '' : waysWithoutGitHub(new Date(Math.max(...ends)), times);
}

/** An owner about whom GitHub did not answer, and why. */
type SilentOwner = { login: string; why: Refusal };

/** How many owners the page shows. Each may cost a question to GitHub. */
const mostOwners = 12;

/**
 * The owners where a person can read something, and those that GitHub does not answer about. One owner never hides others.
 */
export async function ownersOf(
  deps: PageDeps,
  viewer: Session,
): Promise<{ owners: SeenOwner[]; silent: SilentOwner[] }> {
  const accounts = (await accountsOf(deps, viewer.installationIds)).slice(0, mostOwners);
  const states = await repositoryStates(
    deps,
    accounts.map(({ id }) => id),
  );
  const see = async (account: (typeof accounts)[number]) => {
    // Of several owners, GitHub is asked about no public repository.
    const asked = accounts.length > 1 ? { mostPublic: 0 } : {};
    const seen = await seeOwner({ deps, viewer, account }, states.get(account.id) ?? [], asked);
    if (!seen.isAdmin) return seen;
    const repositories = await withKnownEnforcement(deps, seen.repositories);
    askBehindPage(deps, account.id, repositories);
    return { ...seen, repositories };
  };
  const answers = await Promise.all(
    accounts.map((account) => see(account).catch(refusedIf('unavailable', 'too-many-requests'))),
  );
  const silent = answers.flatMap((why, index) =>
    why instanceof Refusal ? { login: accounts[index]!.login, why } : [],
  );
  const owners = answers.flatMap((seen) => (!(seen instanceof Refusal) && !seesNothing(seen) ? seen : []));
  return { owners, silent };
}
