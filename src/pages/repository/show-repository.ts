import type { Context } from 'hono';
import { html } from 'hono/html';
import { nowOf } from '../../clock.ts';
import { recentEnforcement } from '../../enforcement/recent-enforcement.ts';
import { fullName } from '../../installations/find-repository.ts';
import { layout } from '../layout.ts';
import { openRepositoryPage, type PageDeps } from '../reader.ts';
import { auditLog } from './audit-log.ts';
import { enforcement } from './enforcement.ts';
import { currentFreezeList, pastFreezeList } from './freeze-list.ts';
import { refuseOutsiders } from './insiders.ts';
import { loadPage } from './load-page.ts';
import { firstSteps, forgotten, summary } from './summary.ts';
import { timeline } from './timeline.ts';
import { readView } from './view.ts';
import { zoneChoice } from './zone-choice.ts';

/** `GET /repos/{owner}/{repository}`: what is frozen, its freezes, whether they are enforced, and its audit log. */
export async function showRepository(deps: PageDeps, context: Context): Promise<Response> {
  const opened = await openRepositoryPage(deps, context);
  if (opened instanceof Response) return opened;
  const { repository, viewer } = opened;
  const { view, problems } = readView(context.req.query(), nowOf(deps.clock));
  const { pathname, search } = new URL(context.req.url);
  const refusal = await refuseOutsiders(deps, repository, viewer, pathname + search);
  const [page, report] = await Promise.all([
    loadPage(deps, repository, view, refusal === null),
    refusal ? null : recentEnforcement(deps, repository),
  ]);
  const isNew = page.current.length + page.past.freezes.length === 0;
  const body = html`<h1>${fullName(repository)}</h1>
    ${summary(page, report)}
    ${[...problems, ...page.problems].map((problem) => html`<p class="notice" role="status">${problem}</p>`)}
    ${forgotten(page)} ${isNew ? firstSteps(refusal === null) : ''} ${zoneChoice(view, page.zones)}
    ${isNew ? '' : currentFreezeList(page, report)} ${timeline(page)}
    ${refusal ?? enforcement(report, view.zone)} ${pastFreezeList(page)}
    ${page.log ? auditLog(page.log, view) : ''}`;
  return context.html(layout({ title: fullName(repository), body, viewer }));
}
