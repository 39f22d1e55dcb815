import type { Context } from 'hono';
import { html } from 'hono/html';
import { nowOf } from '../../clock.ts';
import type { EnforcementReport } from '../../enforcement/check-enforcement.ts';
import { isFreezeEnforced } from '../../enforcement/finding.ts';
import { recentEnforcement } from '../../enforcement/recent-enforcement.ts';
import { isForgotten } from '../../freezes/forgotten.ts';
import { holdsMerges } from '../../freezes/freeze.ts';
import { fullName } from '../../installations/find-repository.ts';
import { countsOf } from '../held.ts';
import { instant } from '../instant.ts';
import { type Html, layout } from '../layout.ts';
import { shorten } from '../long-text.ts';
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
    refusal ? null : recentEnforcement(deps, repository),
  ]);
  const body = html`<h1>${fullName(repository)}</h1>
    ${summary(page, report)}
    ${[...problems, ...page.problems].map((problem) => html`<p class="notice" role="status">${problem}</p>`)}
    ${forgotten(page)} ${refusal ?? enforcement(report, view.zone)} ${timeline(page)}
    ${freezeList(page, report)} ${page.log ? auditLog(page.log, view) : ''}`;
  return context.html(layout({ title: fullName(repository), body, viewer }));
}

/** Reminds of freezes that somebody may have forgotten. */
const forgotten = ({ current, now, view }: RepositoryPage): Html[] =>
  current
    .filter((freeze) => isForgotten(freeze, now))
    .map(
      ({ id, reason, startsAt, timezone }) =>
        html`<p class="notice" role="status">
          <a href="#freeze-${id}">${shorten(reason, 120)}</a> has been on since
          ${instant(startsAt, timezone, view.zone)}, without an end. If nobody needs it any more, an admin
          deletes it or gives it an end.
        </p>`,
    );

function summary({ current, held, now }: RepositoryPage, report: EnforcementReport | null): Html {
  const all = current.filter((freeze) => stateOf(freeze, now) === 'ongoing');
  const ongoing = all.filter(holdsMerges);
  if (ongoing.length === 0) {
    const what = all.length > 0 ? 'No freeze of merges is ongoing' : 'No freeze is ongoing';
    return html`<p><span class="badge free">${what}</span></p>`;
  }
  const of = (freeze: { id: string }) => held.filter(({ heldBy }) => heldBy.includes(freeze.id));
  const isLoose = ongoing.some(
    (freeze) => report && isFreezeEnforced(report.findings, freeze, of(freeze)) === false,
  );
  const ids = new Set(ongoing.map(({ id }) => id));
  const heldByThem = held.filter(({ heldBy }) => heldBy.some((id) => ids.has(id)));
  const freezes = ongoing.length === 1 ? '1 freeze is ongoing' : `${ongoing.length} freezes are ongoing`;
  return html`<p>
    <span class="badge held">${freezes}</span>
    ${isLoose ? html`<a class="badge leaking" href="#enforcement">Not enforced</a>` : ''}
    <span>${countsOf(heldByThem)}</span>
  </p>`;
}
