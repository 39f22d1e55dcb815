import { html } from 'hono/html';
import { phaseOf } from '../../freezes/freeze-window.ts';
import type { FreezeSpan } from '../../freezes/list-freezes.ts';
import { describeInstant } from '../../time/local-time.ts';
import type { Html } from '../layout.ts';
import { shorten } from '../long-text.ts';
import { layOutTimeline, type Tick } from '../timeline/lay-out-timeline.ts';
import type { TimelineWindow } from '../timeline/timeline-window.ts';

// One timeline for all repositories: each has its row in the table, and all rows show the same days.

// Units of the drawing, which stretches to the width of its column.
const width = 1000;
const lane = 8;
const gap = 2;
/** How many simultaneous freezes are drawn. The label names the others too. */
const mostLanes = 4;

/** The days of the timeline, for the column header. */
export function timelineHead(window: TimelineWindow, now: Date): Html {
  const { ticks } = layOutTimeline([], window, now);
  return html`<svg class="days" viewBox="0 0 ${width} 36" aria-hidden="true" focusable="false">
    ${ticks.map(({ at, day }) => html`<text x="${x(at)}" y="24">${day.toLocaleString('en-GB', { day: 'numeric', month: 'short' })}</text>`)}
  </svg>`;
}

/** The freezes of one repository as bars. @param freezes the ones that overlap the window. */
export function timelineRow(freezes: FreezeSpan[], window: TimelineWindow, now: Date): Html {
  const { lanes, ticks, now: nowAt } = layOutTimeline(freezes, window, now);
  const shown = lanes.slice(0, mostLanes);
  const height = Math.max(2, shown.length) * (lane + gap) + gap;
  const words =
    freezes.length === 0
      ? 'No freezes in these weeks'
      : freezes
          .map((each) => wordsOf(each, now))
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
    ${shown.map((bars, index) => bars.map(({ span, from, to }) => html`<rect class="bar ${phaseOf(span, now)}" x="${x(from)}" y="${gap + index * (lane + gap)}" width="${x(to - from)}" height="${lane}"><title>${wordsOf(span, now)}</title></rect>`))}
    ${nowAt === null ? '' : html`<line class="at-now" x1="${x(nowAt)}" x2="${x(nowAt)}" y1="0" y2="${height}" />`}
  </svg>`;
}

const tickLine = ({ at }: Tick, height: number): Html =>
  html`<line class="tick" x1="${x(at)}" x2="${x(at)}" y1="0" y2="${height}" />`;

const x = (fraction: number): number => Math.round(fraction * width);

function wordsOf({ reason, startsAt, endsAt, timezone }: FreezeSpan, now: Date): string {
  const from = startsAt > now ? `from ${describeInstant(startsAt, timezone)} ` : '';
  const until = endsAt ? `until ${describeInstant(endsAt, timezone)}` : 'until it is removed';
  return `${shorten(reason, 60)}, ${from}${until}`;
}
