import type { SignedIn } from '../auth/sign-in/sessions.ts';
import { signInSettings } from '../auth/sign-in/github-identity.ts';
import { html } from 'hono/html';
import { isTooManyRequests, isUnavailable } from '../errors.ts';
import {
  ownerFormPath,
  ownerPath,
  pullRequestPath,
  repositoryPath,
  signInPath,
} from '../installations/page-paths.ts';
import { instant, quoted, type Times } from './text.ts';
import { actorName } from '../events/actor.ts';
import { type Html, layout } from './layout.ts';
import { messagePage } from './message-page.ts';
import {
  isNotEnforced,
  type RepositoryState,
  repositoryStates,
  withKnownEnforcement,
  stateOf,
} from '../explanations/repository-states.ts';
import { mayAs, type PageDeps, silentPage, timesOf, type Visit } from './reader.ts';
import { nowOf } from '../clock.ts';
import { type ExemptionRecord, waitingRequests } from '../exemptions/exemption-store.ts';
import { accountsOf } from '../installations/find-account.ts';
import { type FoundRepository, repositoriesOfIds } from '../installations/repository-rows.ts';
import { type OwnerVisit, seeOwner } from './owner/open-owner.ts';

/** `GET /`: what is frozen, what comes next and what waits for your decision. Visitors read what Holdfast is. */
export async function showHome(visit: Visit): Promise<Response> {
  const { deps, context, viewer } = visit;
  if (!viewer) return context.html(layout({ title: 'Home', body: forStrangers(deps), viewer: null }));
  try {
    const { owners, requests } = await loadHome(deps, viewer);
    const times = timesOf(visit);
    const body = owners.length > 0 ? atAGlance(owners, requests, times) : nothingYet;
    return context.html(layout({ title: 'Home', body, viewer, zone: times.zone }));
  } catch (error) {
    if (isTooManyRequests(error))
      return messagePage(context, { status: 429, title: 'Too many requests', text: error.message }, viewer);
    if (!isUnavailable(error)) throw error;
    return silentPage(visit);
  }
}

const forStrangers = (deps: PageDeps): Html =>
  html`<h1>Merge freezes that hold, and let go</h1>
    <p>
      Holdfast freezes merges on GitHub for a release, an incident or a holiday. While a freeze is on, GitHub
      refuses to merge the pull requests that it holds. The <code>holdfast/freeze</code> check of a pull
      request links to a page that explains why it is held and until when.
    </p>
    <p class="actions">
      ${signInSettings(deps.config) ? html`<a class="button" href="${signInPath('/')}">Sign in with GitHub</a>` : ''}
      <a class="button quiet" href="/help">Documentation</a>
      <a class="button quiet" href="/docs">API reference</a>
    </p>`;

const nothingYet = html`<h1>No repositories yet</h1>
  <p class="card">
    You cannot access any organization or account where Holdfast is installed. Install the GitHub App on an
    organization or on your account, then <a href="${signInPath('/')}">sign in again</a>.
  </p>`;

/** The owner's page has longer lists. */
const mostListed = 8;

type Placed = { owner: SeenOwner; repository: RepositoryState };

function atAGlance(owners: SeenOwner[], requests: Request[], times: Times): Html {
  const all = owners.flatMap((owner) => owner.repositories.map((repository) => ({ owner, repository })));
  const frozen = all.filter(({ repository }) => stateOf(repository) === 'frozen');
  const coming = all
    .filter(({ repository }) => repository.next !== null)
    .sort((one, other) => one.repository.next!.getTime() - other.repository.next!.getTime());
  return html`<h1>
      ${frozen.length === 0 ? 'Nothing is frozen' : `${frozen.length} of ${all.length} repositories are frozen`}
    </h1>
    ${owners.length === 1 ? actions(owners[0]!, frozen.length > 0) : ''}
    ${requests.length > 0 ? decisions(requests) : ''}
    ${
      frozen.length > 0
        ? html`<section aria-labelledby="frozen">
            <h2 id="frozen">Frozen now</h2>
            ${places(frozen, ({ repository }) => frozenWords(repository, times))}
          </section>`
        : ''
    }
    <section aria-labelledby="next">
      <h2 id="next">Next</h2>
      ${coming.length > 0 ? places(coming, ({ repository }) => html`<span class="badge scheduled">Scheduled</span> ${instant(repository.next!, times)}`) : html`<p class="muted">Nothing is scheduled.</p>`}
    </section>
    <section aria-labelledby="owners">
      <h2 id="owners">Owners</h2>
      ${owners.map((owner) => ownerCard(owner, owners.length === 1))}
      <p class="muted">
        If an owner is missing, install Holdfast there, then
        <a href="${signInPath('/')}">sign in again</a>.
      </p>
    </section>`;
}

/** If there are several owners, each card has its own buttons. */
const actions = ({ account: { login }, mayFreeze }: SeenOwner, isFrozen: boolean): Html =>
  html`<p class="actions">
    ${mayFreeze === true ? html`<a class="button" href="${ownerFormPath(login, 'freeze')}">Freeze now</a>` : ''}
    ${mayFreeze === true && isFrozen ? html`<a class="button quiet" href="${ownerFormPath(login, 'unfreeze')}">Unfreeze</a>` : ''}
    <a class="button quiet" href="${ownerPath(login)}">All repositories</a>
  </p>`;

const decisions = (requests: Request[]): Html =>
  html`<section aria-labelledby="decide">
    <h2 id="decide">Waiting for your decision</h2>
    <ul class="log">
      ${requests.map(
        ({ exemption, repository }) =>
          html`<li>
            <a href="${pullRequestPath(repository, exemption.pullRequest)}"
              >${repository.account.login}/${repository.name} #${exemption.pullRequest}</a
            >
            <bdi>${actorName(exemption.requestedBy)}</bdi> requests an exemption: ${quoted(exemption.reason)}
          </li>`,
      )}
    </ul>
  </section>`;

function places(all: Placed[], words: (placed: Placed) => Html): Html {
  const [first, ...others] = [...new Set(all.slice(mostListed).map(({ owner }) => owner.account.login))];
  return html`<table class="stacked">
      <tbody>
        ${all.slice(0, mostListed).map(
          (placed) =>
            html`<tr>
              <th scope="row">${link(placed)}</th>
              <td>${words(placed)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
    ${
      first === undefined
        ? ''
        : html`<p>
            And ${all.length - mostListed} more:
            ${[first, ...others].map((login, index) => html`${index > 0 ? ', ' : ''}<a href="${ownerPath(login)}">${login}</a>`)}
          </p>`
    }`;
}

const link = ({ owner: { account }, repository: { name } }: Placed): Html =>
  html`<a href="${repositoryPath({ account, name })}">${account.login}/${name}</a>`;

function frozenWords(repository: RepositoryState, times: Times): Html {
  const { until, held, waiting, leaking } = repository;
  const all = held + waiting + leaking;
  return html`<span class="badge held">Frozen</span>
    ${until ? html`until ${instant(until, times)}` : 'until removed'},
    ${held === all ? held : `${held} of ${all}`} held
    ${isNotEnforced(repository) ? html`<strong class="leaking">not enforced</strong>` : ''}`;
}

function ownerCard({ account: { login }, repositories, mayFreeze }: SeenOwner, isAlone: boolean): Html {
  const frozen = repositories.filter((each) => stateOf(each) === 'frozen').length;
  const count = repositories.length === 1 ? '1 repository' : `${repositories.length} repositories`;
  return html`<div class="card headline">
    <div>
      <h3><a href="${ownerPath(login)}">${login}</a></h3>
      <span
        >${count},
        ${frozen === 0 ? html`<span class="badge free">none frozen</span>` : html`<span class="badge held">${frozen} frozen</span>`}</span
      >
    </div>
    ${isAlone || mayFreeze !== true ? '' : html`<a class="button" href="${ownerFormPath(login, 'freeze')}">Freeze now</a>`}
  </div>`;
}

/** An owner, with its repositories that the viewer can read. */
type SeenOwner = Pick<OwnerVisit, 'account' | 'isAdmin' | 'repositories' | 'mayFreeze'>;

/** A request that the viewer may decide on. */
export type Request = { exemption: ExemptionRecord; repository: FoundRepository };

/** How many owners the page shows. Each may cost a question to GitHub. */
const mostOwners = 12;
const mostRequests = 20;
/** For how many repositories of other owners GitHub is asked whether the viewer is an admin. */
const mostAsked = 5;

/** What a person who is signed in sees first: every owner where they can read something. */
async function loadHome(
  deps: PageDeps,
  viewer: SignedIn,
): Promise<{ owners: SeenOwner[]; requests: Request[] }> {
  const accounts = (await accountsOf(deps, viewer.installationIds)).slice(0, mostOwners);
  const states = await repositoryStates(
    deps,
    accounts.map(({ id }) => id),
  );
  const owners = await Promise.all(
    accounts.map(async (account) => {
      const seen = await seeOwner({ deps, viewer, account }, states.get(account.id) ?? [], 0);
      const { repositories, isAdmin } = seen;
      return isAdmin ? { ...seen, repositories: await withKnownEnforcement(deps, repositories) } : seen;
    }),
  );
  const shown = owners.filter(({ isAdmin, repositories }) => isAdmin || repositories.length > 0);
  return { owners: shown, requests: await requestsFor(deps, viewer, shown) };
}

async function requestsFor(deps: PageDeps, viewer: SignedIn, owners: SeenOwner[]): Promise<Request[]> {
  const withRequests = (owner: SeenOwner) => owner.repositories.filter(({ requests }) => requests > 0);
  const ids = (of: SeenOwner[]) => of.flatMap(withRequests).map(({ id }) => id);
  const own = ids(owners.filter(({ isAdmin }) => isAdmin));
  const others = ids(owners.filter(({ isAdmin }) => !isAdmin)).slice(0, mostAsked);
  if (own.length + others.length === 0) return [];
  const repositories = await repositoriesOfIds(deps.sql, [...own, ...others]);
  const decided = await Promise.all(
    repositories.map(
      async (each) => own.includes(each.id) || (await mayAs({ deps, viewer, repository: each }, 'approver')),
    ),
  );
  const theirs = repositories.filter((_, index) => decided[index]);
  const exemptions = await waitingRequests(
    deps.db,
    theirs.map(({ id }) => id),
    viewer.id,
    nowOf(deps.clock),
    mostRequests,
  );
  return exemptions.map((exemption) => ({
    exemption,
    repository: theirs.find(({ id }) => id === exemption.repositoryId)!,
  }));
}
