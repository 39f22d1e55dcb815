import { html } from 'hono/html';
import { csvLine } from '../../words/event-words.ts';
import { type Figures, readFigures } from '../../reports/many-freezes.ts';
import { auditPath } from '../../page-paths.ts';
import { dayOf, monthName, startOfWindow } from '../calendar/calendar-window.ts';
import { notForThem } from '../audit/show-audit.ts';
import type { Html } from '../html.ts';
import { showPage } from '../message-page.ts';
import { insideOf, type OwnerVisit } from '../owner/open-owner.ts';
import { absentOrSignIn, readerTimes } from '../reader.ts';
import { headings } from '../text.ts';

/** How many months the page shows, with this one. */
const shownMonths = 12;

type Month = { day: ReturnType<typeof dayOf>; figures: Figures };

/** What the page shows of a month, by the name of its column in the download. */
const measures: { column: string; name: string; of: (figures: Figures) => number; isChart?: true }[] = [
  {
    column: 'hours_frozen',
    name: 'Hours frozen',
    of: ({ hours }) => Math.round(hours * 10) / 10,
    isChart: true,
  },
  { column: 'freezes', name: 'Freezes', of: ({ freezes }) => freezes },
  { column: 'pull_requests_held', name: 'Pull requests held', of: ({ held }) => held, isChart: true },
  { column: 'pull_requests_not_known', name: 'Of these not known', of: ({ notKnown }) => notKnown },
  { column: 'exemptions', name: 'Exemptions', of: ({ exemptions }) => exemptions, isChart: true },
  { column: 'bypasses', name: 'Past a freeze', of: ({ bypasses }) => bypasses, isChart: true },
  { column: 'deployments_held', name: 'Deployments held', of: ({ deployments }) => deployments },
];

/** `GET /owners/{owner}/reports`: what freezes did each month, for the people who see the audit log, over its repositories. */
export async function showMonths(visit: OwnerVisit): Promise<Response> {
  const { deps, context, viewer, account, isAdmin } = visit;
  if (!viewer) return absentOrSignIn(visit);
  const { login, id } = account;
  const { administered, byRole } = await insideOf({ ...visit, viewer });
  const theirs = [...administered, ...byRole];
  if (theirs.length === 0 && !isAdmin) return notForThem(visit, login);
  const { now, zone } = readerTimes(visit);
  const first = dayOf(now, zone).with({ day: 1 });
  const days = Array.from({ length: shownMonths }, (_, at) =>
    first.subtract({ months: shownMonths - 1 - at }),
  );
  const spans = days.map((day) => ({
    from: startOfWindow(day, zone),
    to: startOfWindow(day.add({ months: 1 }), zone),
  }));
  const ids = isAdmin ? null : theirs.map((each) => each.id);
  const figures = await readFigures(deps, id, ids, spans);
  const months = days.map((day, at) => ({ day, figures: figures[at]! }));
  if (context.req.query('format') === 'csv') return download(months, login);
  const names = measures.map(({ name }) => name);
  const body = html`<h1>What freezes cost ${login}</h1>
    <nav class="bar-of-links" aria-label="Audit">
      <a href="${auditPath(login)}">Events</a> <a href="?" aria-current="page">Months</a>
    </nav>
    <div class="charts">
      ${measures.filter(({ isChart }) => isChart).map(({ name, of }) => chart(name, months, of))}
    </div>
    <p class="muted">
      Each month in your time zone. An hour counts once, however many repositories were frozen. A pull request
      counts once for each freeze that held it, in the month in which that ended, unless GitHub would have
      merged it. Of some, GitHub did not say while the freeze lasted that it refuses to merge them: these are
      not known. ${isAdmin ? '' : 'Only repositories that you are an admin, freezer or approver of count.'}
    </p>
    <div class="scroll" tabindex="0" role="region" aria-label="Months">
      <table>
        ${headings(['Month', ...names], names)}
        <tbody>
          ${months.toReversed().map(
            (month) =>
              html`<tr>
                <th scope="row" class="short">${monthName(month.day)}</th>
                ${measures.map(({ of }) => html`<td class="number">${of(month.figures).toLocaleString('en')}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <p><a href="?format=csv" download>Download CSV</a></p>`;
  const crumbs = [{ name: 'Audit', href: auditPath(login) }, { name: 'Months' }];
  return showPage(visit, { title: `What freezes cost ${login}`, body, owner: login, tab: 'audit', crumbs });
}

/** Sizes of a chart, in its own units. */
const [width, height, gap, labels] = [24, 96, 6, 18];

/** Bars, the newest month at the right. The table below says the same in numbers. */
function chart(name: string, months: Month[], of: (figures: Figures) => number): Html {
  const values = months.map(({ figures }) => of(figures));
  const most = Math.max(1, ...values);
  const sum = values.reduce((all, each) => all + each, 0);
  const bars = months.map(({ day }, at) => {
    const tall = Math.round((values[at]! / most) * height);
    const left = at * (width + gap);
    return html`<g>
      <title>${monthName(day)}: ${values[at]}</title>
      <rect x="${left}" y="0" width="${width}" height="${height}" class="behind" />
      <rect x="${left}" y="${height - tall}" width="${width}" height="${tall}" class="amount" />
      <text x="${left + width / 2}" y="${height + labels - 5}" text-anchor="middle">
        ${monthName(day).slice(0, 1)}
      </text>
    </g>`;
  });
  return html`<figure class="card">
    <figcaption>
      ${name} <strong>${values.at(-1)!.toLocaleString('en')}</strong>
      <span class="muted"
        >this month, ${sum.toLocaleString('en', { maximumFractionDigits: 1 })} in ${months.length}
        months</span
      >
    </figcaption>
    <svg
      viewBox="0 0 ${months.length * (width + gap) - gap} ${height + labels}"
      role="img"
      aria-label="${name} by month. The table below has the numbers."
    >
      ${bars}
    </svg>
  </figure>`;
}

function download(months: Month[], login: string): Response {
  const lines = [
    ['month', ...measures.map(({ column }) => column)],
    ...months.map(({ day, figures }) => [
      day.toPlainYearMonth().toString(),
      ...measures.map(({ of }) => String(of(figures))),
    ]),
  ];
  return new Response(lines.map(csvLine).join(''), {
    headers: {
      'Content-Type': 'text/csv; charset=utf-8; header=present',
      'Content-Disposition': `attachment; filename="freezes-${login}.csv"`,
    },
  });
}
