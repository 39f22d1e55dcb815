import { html } from 'hono/html';
import { actorIn, actorName } from '../../events/actor.ts';
import type { FreezeReport } from '../../reports/freeze-report.ts';
import type { ReportFigures } from '../../reports/many-freezes.ts';
import { pullRequestPath } from '../../page-paths.ts';
import { describeLength } from '../../time/duration.ts';
import { countText } from '../freeze-now/plan-preview.ts';
import type { Html } from '../html.ts';
import { headings, instantText, longText, type Times } from '../text.ts';

/**
 * The numbers of a report. Blocked is what GitHub refused, as on the pages of what is ongoing.
 * @param isInside whether the viewer may see who did what, and what is not enforced. @param longest what stands behind the
 * longest wait.
 */
export function reportFigures(
  { pull_requests: held, thaw, ...report }: ReportFigures,
  isInside: boolean,
  longest: Html | '' = '',
): Html {
  const blocked = held.held - held.not_known;
  const unclear = held.not_known + (isInside ? 0 : held.not_enforced);
  return html`<dl class="card figures">
      ${figure('Pull requests blocked', blocked)}
      ${held.not_enforced > 0 && isInside ? figure('Not enforced', countText(held.not_enforced, 'pull request')) : ''}
      ${unclear > 0 ? figure('Not known', countText(unclear, 'pull request')) : ''}
      ${
        held.median_wait_seconds === null || blocked === 0
          ? ''
          : html`${figure('Median wait', lengthOf(held.median_wait_seconds))}
            ${figure('Longest wait', html`${lengthOf(held.longest_wait_seconds ?? 0)}${longest}`)}`
      }
      ${figure('Deployments held', report.deployments_held)}
      ${isInside ? figure('Exemptions', report.exemptions_count) : ''}
      ${isInside ? figure('Past the freeze', report.bypasses_count) : ''}
    </dl>
    <p>${thawed(thaw)}</p>`;
}

type Place = Parameters<typeof pullRequestPath>[0];

/**
 * What a freeze did and what it cost, once it is over.
 * @param isInside whether the viewer may see who did what.
 */
export function freezeReport(repository: Place, report: FreezeReport, isInside: boolean, times: Times): Html {
  const { exemptions, exemptions_count: exemptionCount, bypasses, bypasses_count: bypassCount } = report;
  const link = (number: number) => html`<a href="${pullRequestPath(repository, number)}">#${number}</a>`;
  const { longest } = report.pull_requests;
  return html`<section aria-labelledby="report-heading">
    <h2 id="report-heading">Report</h2>
    ${reportFigures(report, isInside, longest === null ? '' : html` (${link(longest)})`)}
    ${
      isInside
        ? html`${listed(
            ['Exemptions', exemptionCount],
            ['What', 'Why', 'Who', 'Approved'],
            exemptions.map((each) => [
              what(each, link),
              longText(each.reason),
              each.approved_by === null || nameOf(each.approved_by) === nameOf(each.requested_by)
                ? nameOf(each.requested_by)
                : `${nameOf(each.requested_by)}, approved by ${nameOf(each.approved_by)}`,
              html`${instantText(new Date(each.approved_at), times)}${each.used_at === null ? ', not used' : ''}`,
            ]),
          )}
          ${listed(
            ['Merged or deployed past the freeze', bypassCount],
            ['What', 'Who', 'When'],
            bypasses.map((each) => [
              what(each, link),
              each.by === null ? 'not known' : nameOf(each.by),
              instantText(new Date(each.at), times),
            ]),
          )}`
        : ''
    }
  </section>`;
}

type Cell = Html | string;

/** A table of what a report lists, the newest; nothing if there is nothing. @param rows each begins with what it is about. */
const listed = (
  [caption, count]: [string, number],
  columns: string[],
  rows: [Cell, ...Cell[]][],
): Html | '' =>
  rows.length === 0
    ? ''
    : html`<table class="stacked">
        <caption>
          ${caption}${count > rows.length ? `: the newest ${rows.length}` : ''}
        </caption>
        ${headings(columns)}
        <tbody>
          ${rows.map(
            ([first, ...cells]) =>
              html`<tr>
                <th scope="row">${first}</th>
                ${cells.map((cell) => html`<td>${cell}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>`;

const figure = (name: string, value: Html | string | number): Html =>
  html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;

/** `2 h`. */
export const lengthOf = (seconds: number): string => describeLength(seconds * 1000);
const nameOf = (actor: unknown): string => actorName(actorIn(actor));

const what = (
  {
    pull_request: number,
    environment,
  }: FreezeReport['bypasses'][number] | FreezeReport['exemptions'][number],
  link: (number: number) => Html,
): Html => (number === null ? html`Deployment to <bdi>${environment}</bdi>` : link(number));

/** How fast what waited went in. */
function thawed({
  waiting,
  closed,
  median_seconds: median,
  last_seconds: last,
}: FreezeReport['thaw']): string {
  if (waiting === 0) return 'No pull request waited until the end.';
  const waited = `${waiting === 1 ? '1 pull request' : `${waiting} pull requests`} waited until the end.`;
  if (closed === 0 || median === null || last === null)
    return `${waited} Since then, none of them was merged or closed while no freeze held it.`;
  if (closed === 1) return `${waited} 1 was merged or closed since, ${lengthOf(last)} after the end.`;
  return `${waited} ${closed} were merged or closed since: half of them within ${lengthOf(median)}, the last one ${lengthOf(last)} after the end.`;
}
