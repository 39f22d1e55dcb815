import type { Context } from 'hono';
import { html } from 'hono/html';
import { nowOf } from '../../clock.ts';
import { fullName } from '../../repositories/find-repository.ts';
import { type Html, layout } from '../layout.ts';
import { openRepositoryPage, type PageDeps } from '../reader.ts';
import { auditLog } from './audit-log.ts';
import { enforcement } from './enforcement.ts';
import { freezeList } from './freeze-list.ts';
import { stateOf } from './freeze-state.ts';
import { refuseOutsiders } from './insiders.ts';
import { loadPage, type RepositoryPage } from './load-page.ts';
import { timeline } from './timeline.ts';
import { readView } from './view.ts';

/** `GET /repos/{owner}/{repository}`: its freezes, whether they are enforced, and its audit log, to read. */
export async function showRepository(deps: PageDeps, context: Context): Promise<Response> {
  const opened = await openRepositoryPage(deps, context);
  if (opened instanceof Response) return opened;
  const { repository, viewer } = opened;
  const { view, problems } = readView(context.req.query(), nowOf(deps.clock));
  const { pathname, search } = new URL(context.req.url);
  const refusal = await refuseOutsiders(deps, repository, viewer, pathname + search);
  const [page, report] = await Promise.all([
    loadPage(deps, repository, view, refusal === null),
    refusal ? null : deps.enforcement.get(deps, repository),
  ]);
  const body = html`<h1>${fullName(repository)}</h1>
    ${summary(page)}
    ${[...problems, ...page.problems].map((problem) => html`<p class="notice" role="status">${problem}</p>`)}
    ${refusal ?? enforcement(report, view.zone)} ${timeline(page)} ${freezeList(page)}
    ${page.log ? auditLog(page.log, view) : ''}`;
  return context.html(layout({ title: fullName(repository), body, viewer }));
}

function summary({ current, held, now }: RepositoryPage): Html {
  const ongoing = current.filter((freeze) => stateOf(freeze, now) === 'ongoing');
  if (ongoing.length === 0) return html`<p><span class="badge free">No freeze is ongoing</span></p>`;
  const ids = new Set(ongoing.map(({ id }) => id));
  const count = held.filter(({ heldBy }) => heldBy.some((id) => ids.has(id))).length;
  const freezes = ongoing.length === 1 ? '1 freeze is ongoing' : `${ongoing.length} freezes are ongoing`;
  const pullRequests = count === 1 ? '1 pull request is held' : `${count} pull requests are held`;
  return html`<p><span class="badge held">${freezes}</span> <span>${pullRequests}.</span></p>`;
}
