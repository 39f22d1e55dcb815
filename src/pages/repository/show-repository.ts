import type { Context } from 'hono';
import { html } from 'hono/html';
import { nowOf } from '../../clock.ts';
import { recentEnforcement } from '../../explanations/enforcement/recent-enforcement.ts';
import { fullName } from '../../installations/find-repository.ts';
import { layout } from '../layout.ts';
import { ownerFormPath, ownerPath } from '../../installations/page-paths.ts';
import { mayAdminister, openRepositoryPage, type PageDeps } from '../reader.ts';
import { auditLog } from './audit-log.ts';
import { enforcement } from './enforcement.ts';
import { currentFreezeList, pastFreezeList } from './freeze-list.ts';
import { refuseOutsiders } from './insiders.ts';
import { loadPage } from './load-page.ts';
import { firstSteps, forgotten, summary } from './summary.ts';
import { timeline } from './timeline.ts';
import { readView } from './view.ts';
import { zoneChoice } from './zone-choice.ts';

/** `GET /repos/{owner}/{repository}`: the repository's freezes, whether they are enforced, and the audit log. */
export async function showRepository(deps: PageDeps, context: Context): Promise<Response> {
  const opened = await openRepositoryPage(deps, context);
  if (opened instanceof Response) return opened;
  const { repository, viewer } = opened;
  const { view, problems } = readView(context.req.query(), nowOf(deps.clock));
  const { pathname, search } = new URL(context.req.url);
  const refusal = await refuseOutsiders(deps, repository, viewer, pathname + search);
  const [page, report, mayChange] = await Promise.all([
    loadPage(deps, repository, view, refusal === null),
    refusal ? null : recentEnforcement(deps, repository),
    mayAdminister(deps, repository, viewer),
  ]);
  const isNew = page.current.length + page.past.freezes.length === 0;
  const { account, name } = repository;
  const freezeNow = `${ownerFormPath(account.login, 'freeze')}?${new URLSearchParams({ repository: name })}`;
  const body = html`<p class="muted"><a href="${ownerPath(account.login)}">${account.login}</a></p>
    <div class="headline">
      <h1>${fullName(repository)}</h1>
      ${mayChange ? html`<div class="actions"><a class="button" href="${freezeNow}">Freeze now</a></div>` : ''}
    </div>
    ${summary(page, report)}
    ${[...problems, ...page.problems].map((problem) => html`<p class="notice" role="status">${problem}</p>`)}
    ${forgotten(page)} ${isNew ? firstSteps(refusal === null, mayChange ? freezeNow : null) : ''}
    ${zoneChoice(view, page.zones)} ${isNew ? '' : currentFreezeList(page, report)} ${timeline(page)}
    ${refusal ?? enforcement(report, view.zone)} ${pastFreezeList(page)}
    ${page.log ? auditLog(page.log, view) : ''}`;
  return context.html(layout({ title: fullName(repository), body, viewer }));
}
