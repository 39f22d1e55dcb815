import { html } from 'hono/html';
import { saidMessage, showPage } from '../message-page.ts';
import { filterChoice, queryLink } from '../form.ts';
import { spansWithin, type FreezeSpan } from '../../freezes/list-freezes.ts';
import { firstStepsPath, ownerFormPath, ownerLivePath, repositoryPath } from '../../page-paths.ts';
import { readerTimes } from '../reader.ts';
import type { Html } from '../html.ts';
import { liveAt } from '../live.ts';
import { stillSo, undoEnding } from '../undo.ts';
import {
  enforcedOf,
  withKnownEnforcement,
  askBehindPage,
  isNotEnforced,
  isUnknown,
  type RepositoryState,
  type StateName,
  repositoryStateOf,
  type EnforcedWord,
} from '../../explanations/repository-states.ts';
import { disabledNotices } from './disabled-webhooks.ts';
import { firstStepsCard } from '../first-steps.ts';
import type { OwnerVisit } from './open-owner.ts';
import { latestActs } from './latest-acts.ts';
import { deploymentsBadge, type DeploymentsThere } from './held-deployments.ts';
import { frozenIn, loadOverview, type Overview } from './overview.ts';
import { overviewLists } from './overview-lists.ts';
import { stateOfOwners } from './state-of-owners.ts';
import { updating } from './updating.ts';
import { asPublic } from '../../freezes/freeze.ts';
import { countText } from '../freeze-now/plan-preview.ts';
import { shorten } from '../../words/event-words.ts';
import { badge } from '../states.ts';
import { instantText, type Times } from '../text.ts';

/** Later than every freeze. */
const never = new Date('9999-12-31T00:00:00Z');

/** `GET /repos/{owner}`: an overview of an owner, a row for each freeze or plan; below it a row for each repository. */
export async function showOwner(visit: OwnerVisit): Promise<Response> {
  const { deps, context, account, viewer, isAdmin, isPartial, mayFreeze } = visit;
  // Only insiders see whether freezes are enforced, even if the repository is public.
  const repositories = isAdmin ? await withKnownEnforcement(deps, visit.repositories) : visit.repositories;
  if (isAdmin) askBehindPage(deps, account.id, repositories);
  const view = readOwnerView(context.req.query());
  const times = readerTimes(visit);
  const { now } = times;
  const { rows, found, page, pages } = chosenBy(
    view,
    view.state === 'archived' ? visit.archived : repositories,
  );
  // Inside, the viewer sees reasons that are not public, and whether freezes are enforced.
  const inside = rows.filter((row) => isAdmin || row.private);
  const insideOf = new Set(inside.map(({ id }) => id));
  const seen = { ...visit, repositories };
  const [overview, spans, enforced, notices, steps, activity] = await Promise.all([
    loadOverview(deps, viewer, [seen], times),
    spansWithin(
      deps.db,
      rows.map(({ id }) => id),
      { from: now, to: never },
      1,
      'of merges',
    ),
    enforcedOf(deps, inside),
    disabledNotices(deps, [seen]),
    isAdmin ? firstStepsCard(deps, account, repositories) : '',
    isAdmin ? latestActs(deps, account, times) : '',
  ]);
  const { deploymentsIn } = overview;
  const read = (span: FreezeSpan) => (insideOf.has(span.repositoryId) ? span : asPublic(span));
  const reasons = new Map(spans.map((span) => [span.repositoryId, read(span).reason]));
  const { login } = account;
  const isTickable = mayFreeze === true;
  const table = repositoryTable({ login, rows, reasons, enforced, times, isTickable, deploymentsIn });
  const body = html`${saidMessage(context, undoEnding(visit), await stillSo(visit))}
    <form method="get" action="${ownerFormPath(login, 'freeze')}" id="chosen">
      ${stateOfOwners([seen], { list: '', times, deploymentsIn, actions: isTickable ? actions(login, overview.frozen.length > 0) : '' })}
    </form>
    ${notices} ${overviewLists(overview, times, false, { first: steps, last: activity })}
    <section id="repositories" aria-labelledby="repositories-heading">
      <div class="headline">
        <h2 id="repositories-heading">Repositories</h2>
        ${filters(view)}
      </div>
      ${rows.length > 0 ? table : nothing(visit)} ${pages > 1 ? pageLinks(view, page, pages) : ''}
    </section>
    <p class="muted">
      ${isAdmin && steps === '' ? html`<a href="${firstStepsPath(login)}">First steps</a>` : ''}
      ${found === repositories.length || view.state === 'archived' ? '' : html`${found} of ${repositories.length} repositories.`}
      ${mayFreeze === 'unknown' ? html`You can <a href="${ownerFormPath(login, 'freeze')}">freeze</a> the repositories that you are an admin of.` : ''}
      ${isPartial ? 'You aren’t an admin of this owner, so private repositories that you can read may be missing. Open their pages directly.' : ''}
    </p>`;
  const frozen = frozenIn(overview);
  const live = liveAt(visit, ownerLivePath(login));
  return showPage(visit, { title: login, body, owner: login, tab: 'overview', frozen, live });
}

/** The checkboxes of the table belong to this form: it freezes or unfreezes the selected repositories. */
const actions = (login: string, isFrozen: boolean): Html =>
  html`<div class="actions">
    <button type="submit" class="freeze">Freeze now</button>
    ${isFrozen ? html`<button type="submit" class="danger" formaction="${ownerFormPath(login, 'unfreeze')}">Unfreeze</button>` : ''}
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
    ${filterChoice('state', 'State', 'All', filterNames, view.state)}
    <button type="submit" class="quiet">Show</button>
  </form>`;

const nothing = ({ repositories, archived, account }: OwnerVisit): Html =>
  repositories.length + archived.length > 0
    ? html`<p class="card">No repositories match. <a href="?#repositories">Show all</a></p>`
    : html`<p class="card">
        Holdfast cannot see any repositories of ${account.login} yet. Select repositories in the settings of
        the GitHub App on ${account.login}.
      </p>`;

const pageLinks = (view: OwnerView, page: number, pages: number): Html =>
  html`<nav class="bar-of-links" aria-label="Pages">
    ${page > 1 ? html`<a rel="prev" href="${linkToPage(view, page - 1)}">Previous</a>` : ''}
    <span>Page ${page} of ${pages}</span>
    ${page < pages ? html`<a rel="next" href="${linkToPage(view, page + 1)}">Next</a>` : ''}
  </nav>`;

/** What the URL of an owner's page asks for. */
type OwnerView = {
  /** A part of a name, in any letter case; empty for all. */
  q: string;
  state: StateFilter | null;
  /** Counted from 1. */
  page: number;
};

const filterNames = {
  trouble: 'Not enforced',
  unknown: 'Not known to be enforced',
  frozen: 'Frozen',
  scheduled: 'Scheduled',
  free: 'Free',
  archived: 'Archived',
};
type StateFilter = keyof typeof filterNames;

const ownerRowsPerPage = 50;

/** Reads the query of a URL. Ignores what it does not understand. */
function readOwnerView(query: Record<string, string>): OwnerView {
  const { q = '', state = '', page = '1' } = query;
  return {
    q: q.trim().slice(0, 100),
    state: Object.hasOwn(filterNames, state) ? (state as StateFilter) : null,
    page: /^[1-9]\d{0,4}$/.test(page) ? Number(page) : 1,
  };
}

/** The repositories that match a view, and the ones on its page. */
function chosenBy({ q, state, page }: OwnerView, all: RepositoryState[]) {
  const part = q.toLowerCase();
  const fits = (each: RepositoryState) =>
    each.name.toLowerCase().includes(part) && (state === null || isIn(each, state));
  const found = all.filter(fits);
  const pages = Math.max(1, Math.ceil(found.length / ownerRowsPerPage));
  const shown = Math.min(page, pages);
  return {
    found: found.length,
    pages,
    page: shown,
    rows: found.slice((shown - 1) * ownerRowsPerPage, shown * ownerRowsPerPage),
  };
}

function isIn(each: RepositoryState, state: StateFilter): boolean {
  if (state === 'trouble') return isNotEnforced(each);
  return state === 'unknown' ? isUnknown(each) : repositoryStateOf(each) === (state satisfies StateName);
}

/** The relative URL of another page of a view. */
const linkToPage = ({ q, state }: OwnerView, page: number): string =>
  `${queryLink({ q: q || null, state, page: page > 1 ? page : null })}#repositories`;

type Table = {
  login: string;
  rows: RepositoryState[];
  /** Why each is frozen, or will be next, as the viewer may read it. */
  reasons: Map<bigint, string>;
  enforced: Map<bigint, EnforcedWord>;
  times: Times;
  /** Whether rows have checkboxes, to freeze or unfreeze repositories. */
  isTickable: boolean;
} & Pick<Overview, 'deploymentsIn'>;

/** One row for each repository. */
function repositoryTable(table: Table): Html {
  const { rows, isTickable } = table;
  return html`<table class="repositories">
    <caption class="said">
      Repositories, the most important first
    </caption>
    <thead>
      <tr>
        ${isTickable ? html`<th class="tick-box"><span class="said">Select</span></th>` : ''}
        <th>Repository</th>
        <th>Now</th>
        <th class="number">Blocked</th>
        <th>Enforced</th>
      </tr>
    </thead>
    <tbody>
      ${rows.map((row) => rowOf(table, row))}
    </tbody>
  </table>`;
}

function rowOf(
  { login, reasons, enforced, times, isTickable, deploymentsIn }: Table,
  row: RepositoryState,
): Html {
  const reason = reasons.get(row.id);
  return html`<tr>
    ${
      isTickable
        ? html`<td class="tick-box">
            <input
              type="checkbox"
              form="chosen"
              name="repository"
              value="${row.name}"
              aria-label="${row.name}"
              ${row.isFreezable ? '' : html`disabled`}
            />
          </td>`
        : ''
    }
    <th scope="row">
      <a href="${repositoryPath({ name: row.name, account: { login } })}">${row.name}</a>
      ${row.private ? html`<span class="muted">private</span>` : ''}
      ${reason === undefined ? '' : html`<span class="reason"><bdi>${shorten(reason, 90)}</bdi></span>`}
    </th>
    <td>${nowOf(row, times, deploymentsIn.get(row.id))}</td>
    <td class="number of-held">${heldOf(row)}</td>
    <td class="of-enforced">${enforcedWord(row, enforced.get(row.id))}</td>
  </tr>`;
}

/** @param there what freezes of deployments do there; undefined where none is ongoing. */
function nowOf(row: RepositoryState, times: Times, there: DeploymentsThere | undefined): Html {
  const { until, next, requests } = row;
  const state = repositoryStateOf(row);
  const deployments = there ? deploymentsBadge(there) : '';
  const waiting = requests > 0 ? badge('waiting', countText(requests, 'request')) : '';
  if (state === 'archived') return html`<span class="badge past">Archived</span>`;
  if (state === 'free') return html`${deployments || badge('free')} ${waiting}`;
  // What is on is the state; what comes is said beside it.
  if (state === 'scheduled' && deployments)
    return html`${deployments} ${waiting} <span class="when">merges from ${instantText(next!, times)}</span>`;
  const when =
    state === 'scheduled'
      ? instantText(next!, times)
      : until
        ? html`until ${instantText(until, times)}`
        : 'until removed';
  return html`${badge(state)} ${deployments} ${waiting} <span class="when">${when}</span>`;
}

/** How many of the pull requests that should be held are held, and in red how many GitHub would merge. */
function heldOf(row: RepositoryState): Html {
  const { archived, held, waiting, leaking, unsaid, releasing } = row;
  const all = held + waiting + leaking + unsaid;
  if (archived) return html`<span class="muted none">–</span>`;
  if (all + releasing === 0) return html`<span class="muted none">–</span> ${updating([row])}`;
  return html`${all === 0 ? '' : held === all ? held : html`${held} of ${all}`} ${updating([row])}
  ${leaking > 0 ? html`<span class="leaking">${leaking} not blocked</span>` : ''}
  ${unsaid > 0 ? html`<span class="muted">${unsaid} not known</span>` : ''}`;
}

function enforcedWord(row: RepositoryState, enforced: EnforcedWord | undefined): Html {
  if (isNotEnforced(row) || enforced === false) return html`<strong class="leaking">No</strong>`;
  if (enforced === undefined) return html`<span class="muted none">–</span>`;
  if (enforced === null) return html`<span class="muted">Checking</span>`;
  return enforced === true ? html`Yes` : html`Unknown`;
}
