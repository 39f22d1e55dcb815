import { currentPlans } from '../plan/list-plans.ts';
import { messageOf } from '../message-page.ts';
import { html } from 'hono/html';
import { spansWithin } from '../../freezes/list-freezes.ts';
import { firstStepsPath, ownerFormPath } from '../../installations/page-paths.ts';
import { timesOf } from '../reader.ts';
import { instant, type Times } from '../text.ts';
import { type Html, layout } from '../layout.ts';
import { option } from '../repository/view.ts';
import {
  enforcedOf,
  withKnownEnforcement,
  askBehindPage,
  isNotEnforced,
  isUnknown,
  type RepositoryState,
  stateOf,
} from '../../explanations/repository-states.ts';
import type { OwnerVisit } from './open-owner.ts';
import {
  chosenBy,
  filterNames,
  type OwnerView,
  ownerLink,
  readOwnerView,
  stateFilters,
} from './owner-view.ts';
import { reasonsOf, repositoryTable } from './repository-table.ts';

/** Later than every freeze. */
const never = new Date('9999-12-31T00:00:00Z');

/** `GET /repos/{owner}`: an overview of an owner's repositories. */
export async function showOwner(visit: OwnerVisit): Promise<Response> {
  const { deps, context, account, viewer, isAdmin, isPartial, mayFreeze } = visit;
  // Only insiders see whether freezes are enforced, even if the repository is public.
  const repositories = isAdmin ? await withKnownEnforcement(deps, visit.repositories) : visit.repositories;
  if (isAdmin) askBehindPage(deps, account.id, repositories);
  const view = readOwnerView(context.req.query());
  const times = timesOf(visit);
  const { now } = times;
  const { rows, found, page, pages } = chosenBy(view, repositories);
  const insideOf = new Set(rows.filter((row) => isAdmin || row.private).map(({ id }) => id));
  const isInside = (id: bigint) => insideOf.has(id);
  const [spans, enforced] = await Promise.all([
    spansWithin(
      deps.db,
      rows.map(({ id }) => id),
      { from: now, to: never },
      1,
    ),
    enforcedOf(
      deps,
      rows.filter(({ id }) => isInside(id)),
    ),
  ]);
  const reasons = reasonsOf(spans, isInside);
  const { login } = account;
  const isTickable = mayFreeze === true;
  const table = repositoryTable({ login, rows, reasons, enforced, times, isTickable });
  const body = html`${messageOf(context)}
    <form method="get" action="${ownerFormPath(login, 'freeze')}" id="chosen">
      <div class="headline">
        <h1>${login}</h1>
        ${isTickable ? actions(login) : ''}
      </div>
    </form>
    ${figures(repositories, times, isAdmin)} ${filters(view)} ${rows.length > 0 ? table : nothing(visit)}
    ${pages > 1 ? pageLinks(view, page, pages) : ''} ${await currentPlans(visit)}
    <p class="muted">
      ${isAdmin ? html`<a href="${firstStepsPath(login)}">First steps</a>` : ''}
      ${found === repositories.length ? '' : html`${found} of ${repositories.length} repositories.`}
      ${mayFreeze === 'unknown' ? html`You can <a href="${ownerFormPath(login, 'freeze')}">freeze</a> the repositories that you are an admin of.` : ''}
      ${isPartial ? 'You aren’t an admin of this owner, so private repositories that you can read may be missing. Open their pages directly.' : ''}
    </p>`;
  return context.html(
    layout({ title: login, body, viewer, owner: login, tab: 'overview', zone: times.zone }),
  );
}

/** The checkboxes of the table belong to this form: it freezes or unfreezes the selected repositories. */
const actions = (login: string): Html =>
  html`<div class="actions">
    <button type="submit">Freeze now</button>
    <button type="submit" class="quiet" formaction="${ownerFormPath(login, 'unfreeze')}">Unfreeze</button>
    <button type="submit" class="quiet" formaction="${ownerFormPath(login, 'plans/new')}">New plan</button>
  </div>`;

function figures(all: RepositoryState[], times: Times, isAdmin: boolean): Html {
  const frozen = all.filter((each) => stateOf(each) === 'frozen');
  const sum = (of: (each: RepositoryState) => number) => all.reduce((total, each) => total + of(each), 0);
  const [held, toHold] = [sum((each) => each.held), sum((each) => each.held + each.waiting + each.leaking)];
  const leaking = sum((each) => each.leaking);
  const trouble = all.filter(isNotEnforced).length;
  const unknown = isAdmin ? all.filter(isUnknown).length : 0;
  const requests = sum((each) => each.requests);
  const [next] = all
    .filter((each) => each.next)
    .sort((one, other) => one.next!.getTime() - other.next!.getTime());
  return html`<dl class="figures">
    ${figure('Frozen', html`<span class="${frozen.length > 0 ? 'held' : 'free'}">${frozen.length} of ${all.length}</span>`)}
    ${figure('Pull requests held', html`${held === toHold ? held : `${held} of ${toHold}`}`)}
    ${leaking > 0 ? figure('Not held', html`<span class="leaking">${leaking}</span>`) : ''}
    ${trouble > 0 ? figure('Not enforced', html`<a class="leaking" href="?state=trouble">${trouble}</a>`) : ''}
    ${unknown > 0 ? figure('Not known to be enforced', html`<a href="?state=unknown">${unknown}</a>`) : ''}
    ${requests > 0 ? figure('To decide', html`${requests}`) : ''}
    ${next ? figure('Next', html`${next.name}, ${instant(next.next!, times)}`) : ''}
  </dl>`;
}

const figure = (name: string, value: Html): Html =>
  html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;

const filters = (view: OwnerView): Html =>
  html`<form class="choice" method="get" role="search" aria-label="Repositories">
    <input
      type="search"
      name="q"
      value="${view.q}"
      placeholder="Name"
      aria-label="Name contains"
      maxlength="100"
    />
    <select name="state" aria-label="State">
      ${option('', 'All', view.state === null)}
      ${stateFilters.map((state) => option(state, filterNames[state], state === view.state))}
    </select>
    <button type="submit" class="quiet">Show</button>
  </form>`;

const nothing = ({ repositories, account }: OwnerVisit): Html =>
  repositories.length > 0
    ? html`<p class="card">No repositories match. <a href="?">Show all</a></p>`
    : html`<p class="card">
        Holdfast cannot see any repositories of ${account.login} yet. Select repositories in the settings of
        the GitHub App on ${account.login}.
      </p>`;

const pageLinks = (view: OwnerView, page: number, pages: number): Html =>
  html`<nav class="bar-of-links" aria-label="Pages">
    ${page > 1 ? html`<a rel="prev" href="${ownerLink(view, { page: page - 1 })}">Previous</a>` : ''}
    <span>Page ${page} of ${pages}</span>
    ${page < pages ? html`<a rel="next" href="${ownerLink(view, { page: page + 1 })}">Next</a>` : ''}
  </nav>`;
