import { html } from 'hono/html';
import { freezeGroupsWithin } from '../../explanations/freeze-groups.ts';
import { holdsMerges, type StoredFreeze } from '../../freezes/freeze.ts';
import { freezePath } from '../../page-paths.ts';
import { type PlanReport, readPlanReport } from '../../reports/many-freezes.ts';
import { lengthOf, reportFigures } from '../freeze/freeze-report.ts';
import { countText } from '../freeze-now/plan-preview.ts';
import { blockedOf } from '../held.ts';
import type { Html } from '../html.ts';
import type { PlanVisit } from '../owner/open-owner.ts';
import { endsBetween, type SharedEnd } from '../../words/describe-fields.ts';
import { headings, instantText, type Times, untilTexts } from '../text.ts';

/** How long the past is shown, in milliseconds, and how many rows of it at most. */
const pastShown = 366 * 86_400_000;
const mostPast = 400;

/**
 * What the plan did in the repositories that the viewer can read: together, if something of it is over, and its freezes of
 * the last year, the newest first.
 */
export async function pastOf(visit: PlanVisit, times: Times): Promise<Html> {
  const { deps, plan, repositories, archived, isAdmin, ending } = visit;
  const readable = [...repositories, ...archived];
  const ids = readable.map(({ id }) => id);
  const inside = readable.filter((each) => isAdmin || each.private).map(({ id }) => id);
  const groups = await freezeGroupsWithin(
    deps.db,
    ids,
    inside,
    { from: new Date(times.now.getTime() - pastShown), to: times.now },
    mostPast,
    plan.id,
  );
  const isOver = ending !== null || groups.some(({ endsAt }) => endsAt && endsAt <= times.now);
  const report = isOver ? reportOf(visit, await readPlanReport(deps, plan.id, ids, inside), times) : '';
  if (groups.length === 0) return html`${report}`;
  return html`${report}
    <h2>Freezes of the last year</h2>
    <table>
      ${headings(['Start', 'End', 'Repositories'], ['Repositories'])}
      <tbody>
        ${groups.toReversed().map(
          ({ startsAt, firstEndsAt, endsAt, repositories: count }) =>
            html`<tr>
              <td>${instantText(startsAt, times, plan.timezone)}</td>
              <td>${endText(endsBetween(firstEndsAt, endsAt), times, plan.timezone)}</td>
              <td class="number">${count}</td>
            </tr>`,
        )}
      </tbody>
    </table>`;
}

/** The end of freezes in a column of ends. */
const endText = ([one, ...others]: SharedEnd[], times: Times, zone: string): Html | string =>
  others.length > 0
    ? untilTexts([one!, ...others], times, zone)
    : one!.at
      ? instantText(one!.at, times, zone)
      : 'None';

/** What the freezes of the plan did together that are over, with links to the reports of those that held something. */
function reportOf(visit: PlanVisit, { freezes, figures, newest, told }: PlanReport, times: Times): Html {
  const { account, repositories, archived, isAdmin, plan } = visit;
  if (freezes === 0) return html``;
  const readable = [...repositories, ...archived];
  const names = new Map(readable.map(({ id, name }) => [String(id), name]));
  const isInside = isAdmin || readable.every((each) => each.private);
  const hasDeployments = figures.deployments_held > 0;
  return html`<section aria-labelledby="report-heading">
    <h2 id="report-heading">Report</h2>
    <p class="muted">
      Over ${countText(freezes, 'freeze that is', 'freezes that are')} over. A pull request counts once for
      each freeze that blocked it.
    </p>
    ${reportFigures(figures, isInside)}
    ${
      newest.length === 0
        ? ''
        : html`<details ${told <= mostUnfoldedReports ? html`open` : ''}>
            <summary>Reports of ${countText(told, 'freeze')}</summary>
            <div class="scroll" tabindex="0" role="region" aria-label="Reports of freezes">
              <table>
                ${headings(['Repository', 'End', 'Blocked', 'Longest wait', ...(hasDeployments ? ['Deployments'] : [])], ['Blocked', 'Deployments'])}
                <tbody>
                  ${newest.map((each) => reportRow(each, { name: names.get(each.repositoryId)!, account }, plan.timezone, times, hasDeployments))}
                </tbody>
              </table>
            </div>
            ${told > newest.length ? html`<p class="muted">These are the newest ${newest.length}.</p>` : ''}
          </details>`
    }
  </section>`;
}

/** So few rows need no click. */
const mostUnfoldedReports = 12;

const reportRow = (
  { freezeId, endedAt, blocked, longest, deployments }: PlanReport['newest'][number],
  repository: Parameters<typeof freezePath>[0],
  zone: string,
  times: Times,
  hasDeployments: boolean,
): Html =>
  html`<tr>
    <th scope="row"><a href="${freezePath(repository, freezeId)}">${repository.name}</a></th>
    <td>${instantText(new Date(endedAt), times, zone)}</td>
    <td class="number">${blocked}</td>
    <td>${longest === null ? '–' : lengthOf(longest)}</td>
    ${hasDeployments ? html`<td class="number">${deployments}</td>` : ''}
  </tr>`;

/** How many repositories of a plan are named. */
export const mostMatchedNamed = 50;

/** Where the plan freezes now, as far as the viewer can read, and how many pull requests are blocked there. */
export function ongoingList({ plan, account, repositories }: PlanVisit, on: StoredFreeze[]): Html {
  const ids = new Map(on.map(({ repositoryId, id }) => [repositoryId, id]));
  const frozen = repositories.filter(({ id }) => ids.has(id));
  if (frozen.length === 0) return html``;
  const row = ({ id, name, ...counts }: PlanVisit['repositories'][number]) => {
    const link = html`<a href="${freezePath({ name, account }, ids.get(id)!)}">${name}</a>`;
    return html`<li>${link}${holdsMerges(plan) ? `: ${blockedOf(counts)}` : ''}</li>`;
  };
  return html`<h2>Ongoing freezes</h2>
    <ul>
      ${frozen.slice(0, mostMatchedNamed).map(row)}
      ${frozen.length > mostMatchedNamed ? html`<li>and ${frozen.length - mostMatchedNamed} more</li>` : ''}
    </ul>`;
}
