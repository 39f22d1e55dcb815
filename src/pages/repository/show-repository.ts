import type { Context } from 'hono';
import { html } from 'hono/html';
import { nowOf } from '../../clock.ts';
import { fullName } from '../../repositories/find-repository.ts';
import { type Html, layout } from '../layout.ts';
import { openRepositoryPage, type PageDeps } from '../reader.ts';
import { auditLog } from './audit-log.ts';
import { freezeList } from './freeze-list.ts';
import { stateOf } from './freeze-state.ts';
import { loadPage, type RepositoryPage } from './load-page.ts';
import { timeline } from './timeline.ts';
import { readView } from './view.ts';

/** `GET /repos/{owner}/{repository}`: its freezes and its audit log, to read. */
export async function showRepository(deps: PageDeps, context: Context): Promise<Response> {
  const opened = await openRepositoryPage(deps, context);
  if (opened instanceof Response) return opened;
  const { repository, viewer } = opened;
  const { view, problems } = readView(context.req.query(), nowOf(deps.clock));
  const page = await loadPage(deps, repository, view);
  const body = bodyOf({ ...page, problems: [...problems, ...page.problems] });
  return context.html(layout({ title: fullName(repository), body, viewer }));
}

const bodyOf = (page: RepositoryPage): Html =>
  html`<h1>${fullName(page.repository)}</h1>
    ${summary(page)} ${page.problems.map((problem) => html`<p class="notice" role="status">${problem}</p>`)}
    ${/* What src/enforcement finds goes here. */ ''} ${timeline(page)} ${freezeList(page)} ${auditLog(page)}`;

function summary({ current, held, now }: RepositoryPage): Html {
  const ongoing = current.filter((freeze) => stateOf(freeze, now) === 'ongoing');
  if (ongoing.length === 0) return html`<p><span class="badge free">No freeze is ongoing</span></p>`;
  const ids = new Set(ongoing.map(({ id }) => id));
  const count = held.filter(({ heldBy }) => heldBy.some((id) => ids.has(id))).length;
  const freezes = ongoing.length === 1 ? '1 freeze is ongoing' : `${ongoing.length} freezes are ongoing`;
  const pullRequests = count === 1 ? '1 pull request is held' : `${count} pull requests are held`;
  return html`<p><span class="badge held">${freezes}</span> <span>${pullRequests}.</span></p>`;
}
