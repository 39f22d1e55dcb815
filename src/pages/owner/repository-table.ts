import { html } from 'hono/html';
import { asPublic } from '../../freezes/freeze.ts';
import { phaseOf } from '../../freezes/freeze-window.ts';
import type { FreezeSpan } from '../../freezes/list-freezes.ts';
import { repositoryPath } from '../../installations/page-paths.ts';
import { dayAndTime, instant, shorten, type Times } from '../text.ts';
import type { Html } from '../layout.ts';
import type { TimelineWindow } from '../timeline/timeline-window.ts';
import {
  type Enforced,
  isNotEnforced,
  type RepositoryState,
  stateOf,
} from '../../explanations/repository-states.ts';
import { layOutTimeline, type Tick } from '../timeline/lay-out-timeline.ts';

export type Table = {
  login: string;
  rows: RepositoryState[];
  /** With the reasons that the viewer may see. */
  freezes: Map<bigint, FreezeSpan[]>;
  enforced: Map<bigint, Enforced>;
  window: TimelineWindow;
  times: Times;
  /** Whether rows have checkboxes, to freeze or unfreeze repositories. */
  isTickable: boolean;
};

/** One row for each repository, with one timeline across all rows. */
export function repositoryTable(table: Table): Html {
  const { rows, window, times, isTickable } = table;
  return html`<table class="repositories">
    <caption class="said">
      Repositories, the most important first
    </caption>
    <thead>
      <tr>
        ${isTickable ? html`<th class="tick-box"><span class="said">Select</span></th>` : ''}
        <th>Repository</th>
        <th>Now</th>
        <th class="number">Held</th>
        <th>Enforced</th>
        <th class="weeks">${timelineHead(window, times.now)}<span class="said">Four weeks</span></th>
      </tr>
    </thead>
    <tbody>
      ${rows.map((row) => rowOf(table, row))}
    </tbody>
  </table>`;
}

function rowOf({ login, freezes, enforced, window, times, isTickable }: Table, row: RepositoryState): Html {
  const { now } = times;
  const its = freezes.get(row.id) ?? [];
  const ongoing = its.find((freeze) => phaseOf(freeze, now) === 'ongoing');
  const shown = ongoing ?? its.find((freeze) => phaseOf(freeze, now) === 'scheduled');
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
      ${shown ? html`<span class="reason"><bdi>${shorten(shown.reason, 90)}</bdi></span>` : ''}
    </th>
    <td>${nowOf(row, times)}</td>
    <td class="number of-held">${heldOf(row)}</td>
    <td class="of-enforced">${enforcedWord(row, enforced.get(row.id))}</td>
    <td class="weeks">${timelineRow(its, window, times)}</td>
  </tr>`;
}

function nowOf(row: RepositoryState, times: Times): Html {
  const { until, next, requests } = row;
  const waiting = requests > 0 ? html`<span class="badge past">${requests} to decide</span>` : '';
  switch (stateOf(row)) {
    case 'frozen':
      return html`<span class="badge held">Frozen</span> ${waiting}
        <span class="when">${until ? html`until ${instant(until, times)}` : 'until removed'}</span>`;
    case 'scheduled':
      return html`<span class="badge scheduled">Scheduled</span> ${waiting}
        <span class="when">${instant(next!, times)}</span>`;
    case 'free':
      return html`<span class="badge free">Free</span> ${waiting}`;
    case 'archived':
      return html`<span class="badge past">Archived</span>`;
  }
}

/** How many of the pull requests that should be held are held, and in red how many GitHub would merge. */
function heldOf({ held, waiting, leaking }: RepositoryState): Html {
  const all = held + waiting + leaking;
  if (all === 0) return html`<span class="muted none">–</span>`;
  return html`${held === all ? held : html`${held} of ${all}`}
  ${leaking > 0 ? html`<span class="leaking">${leaking} not held</span>` : ''}`;
}

function enforcedWord(row: RepositoryState, enforced: Enforced | undefined): Html {
  if (isNotEnforced(row) || enforced === false) return html`<strong class="leaking">No</strong>`;
  if (enforced === undefined) return html`<span class="muted none">–</span>`;
  if (enforced === null) return html`<span class="muted">Checking</span>`;
  return enforced === true ? html`Yes` : html`Unknown`;
}

/** Freezes by repository, as the viewer reads them. @param isInside whether the viewer sees reasons that are not public. */
export function byRepository(
  spans: FreezeSpan[],
  isInside: (repositoryId: bigint) => boolean,
): Map<bigint, FreezeSpan[]> {
  const read = spans.map((span) => (isInside(span.repositoryId) ? span : asPublic(span)));
  return Map.groupBy(read, ({ repositoryId }) => repositoryId);
}

// One timeline for all repositories: each has its row in the table, and all rows show the same days.

// Units of the drawing, which stretches to the width of its column.
const width = 1000;
const lane = 8;
const gap = 2;
/** How many simultaneous freezes are drawn. The label names the others too. */
const mostLanes = 4;

/** The days of the timeline, for the column header. */
function timelineHead(window: TimelineWindow, now: Date): Html {
  const { ticks } = layOutTimeline([], window, now);
  return html`<svg class="days" viewBox="0 0 ${width} 36" aria-hidden="true" focusable="false">
    ${ticks.map(({ at, day }) => html`<text x="${x(at)}" y="24">${day.toLocaleString('en-GB', { day: 'numeric', month: 'short' })}</text>`)}
  </svg>`;
}

/** The freezes of one repository as bars. @param freezes the ones that overlap the window. */
function timelineRow(freezes: FreezeSpan[], window: TimelineWindow, times: Times): Html {
  const { now } = times;
  const { lanes, ticks, now: nowAt } = layOutTimeline(freezes, window, now);
  const shown = lanes.slice(0, mostLanes);
  const height = Math.max(2, shown.length) * (lane + gap) + gap;
  const words =
    freezes.length === 0
      ? 'No freezes in these weeks'
      : freezes
          .map((each) => wordsOf(each, times))
          .slice(0, 5)
          .join('; ');
  return html`<svg
    class="row"
    viewBox="0 0 ${width} ${height}"
    height="${height}"
    preserveAspectRatio="none"
    role="img"
    aria-label="${words}"
  >
    ${ticks.map((tick) => tickLine(tick, height))}
    ${shown.map((bars, index) => bars.map(({ span, from, to }) => html`<rect class="bar ${phaseOf(span, now)}" x="${x(from)}" y="${gap + index * (lane + gap)}" width="${x(to - from)}" height="${lane}"><title>${wordsOf(span, times)}</title></rect>`))}
    ${nowAt === null ? '' : html`<line class="at-now" x1="${x(nowAt)}" x2="${x(nowAt)}" y1="0" y2="${height}" />`}
  </svg>`;
}

const tickLine = ({ at }: Tick, height: number): Html =>
  html`<line class="tick" x1="${x(at)}" x2="${x(at)}" y1="0" y2="${height}" />`;

const x = (fraction: number): number => Math.round(fraction * width);

function wordsOf({ reason, startsAt, endsAt }: FreezeSpan, { zone, now }: Times): string {
  const from = startsAt > now ? `from ${dayAndTime(startsAt, zone, now)} ` : '';
  const until = endsAt ? `until ${dayAndTime(endsAt, zone, now)}` : 'until it is removed';
  return `${shorten(reason, 60)}, ${from}${until}`;
}
