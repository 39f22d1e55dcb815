import { messageOf } from '../message-page.ts';
import { html } from 'hono/html';
import { spansWithin } from '../../freezes/list-freezes.ts';
import { firstStepsPath, ownerFormPath } from '../../installations/page-paths.ts';
import { timesOf } from '../reader.ts';
import { type Html, layout } from '../layout.ts';
import { option } from '../repository/view.ts';
import { enforcedOf, withKnownEnforcement, askBehindPage } from '../../explanations/repository-states.ts';
import type { OwnerVisit } from './open-owner.ts';
import {
  chosenBy,
  filterNames,
  type OwnerView,
  ownerLink,
  readOwnerView,
  stateFilters,
} from './owner-view.ts';
import { loadOverview } from './load-overview.ts';
import { figures, overviewLists } from './overview.ts';
import { reasonsOf, repositoryTable } from './repository-table.ts';

/** Later than every freeze. */
const never = new Date('9999-12-31T00:00:00Z');

/** `GET /repos/{owner}`: an overview of an owner, a row for each freeze or plan; below it a row for each repository. */
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
  const seen = { ...visit, repositories };
  const [overview, spans, enforced] = await Promise.all([
    loadOverview(deps, viewer, [seen], now),
    spansWithin(
      deps.db,
      rows.map(({ id }) => id),
      { from: now, to: never },
      1,
      'of merges',
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
    ${figures([seen], '')} ${overviewLists(overview, times, false)}
    <section id="repositories" aria-labelledby="repositories-heading">
      <div class="headline">
        <h2 id="repositories-heading">Repositories</h2>
        ${filters(view)}
      </div>
      ${rows.length > 0 ? table : nothing(visit)} ${pages > 1 ? pageLinks(view, page, pages) : ''}
    </section>
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

const filters = (view: OwnerView): Html =>
  html`<form class="choice" method="get" action="#repositories" role="search" aria-label="Repositories">
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
    ? html`<p class="card">No repositories match. <a href="?#repositories">Show all</a></p>`
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
