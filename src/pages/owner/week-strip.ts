import { html } from 'hono/html';
import { dayAndTime, toLocalTime } from '../../time/local-time.ts';
import { shorten } from '../../words/event-words.ts';
import type { Html } from '../html.ts';
import type { Times } from '../text.ts';
import type { OverviewRow } from './overview.ts';
import { hour } from '../../time/units.ts';

/** How many rows it has, and how wide an hour and the shortest bar are. */
const mostBars = 8;
const days = 7;

/** The next seven days: a row for each freeze or plan, with a bar for each time that it is on. The lists say the same in words. */
export function weekStrip(rows: OverviewRow[], { now, zone }: Times): Html | '' {
  const local = (at: Date) => Date.parse(`${toLocalTime(at, zone)}Z`);
  const first = Math.floor(local(now) / (24 * hour)) * 24 * hour;
  const place = (at: Date) => Math.min(days * 24, Math.max(0, (local(at) - first) / hour));
  const said = (at: Date) => dayAndTime(at, zone, now);
  const inWeek = rows.filter(({ soon }) => soon.length > 0);
  const bars = [...Map.groupBy(inWeek, ({ planId, href }) => planId ?? href).values()].slice(0, mostBars);
  if (bars.length === 0) return '';
  const isShown = ([start]: OverviewRow['soon'][number]) => place(new Date(start)) < days * 24;
  const bar = ([start, end]: OverviewRow['soon'][number]) => {
    const [from, to] = [place(new Date(start)), end === null ? days * 24 : place(new Date(end))];
    const isOn = new Date(start) <= now;
    return html`<rect
      x="${from.toFixed(1)}"
      width="${Math.max(1.5, to - from).toFixed(1)}"
      height="10"
      rx="1"
      class="${isOn ? 'on' : 'soon'}"
    >
      <title>${said(new Date(start))} – ${end === null ? 'until removed' : said(new Date(end))}</title>
    </rect>`;
  };
  return html`<section class="week-strip" aria-labelledby="week">
    <h2 id="week">The next seven days</h2>
    <ol aria-hidden="true">
      ${Array.from({ length: days }, (_, day) => html`<li>${dayName(first + day * 24 * hour)}</li>`)}
    </ol>
    <ul>
      ${bars.map(
        ([row, ...more]) =>
          html`<li>
            <a href="${row!.href}" dir="auto">${shorten(row!.reason, 80)}</a>
            <svg viewBox="0 0 ${days * 24} 10" preserveAspectRatio="none" aria-hidden="true">
              ${Array.from({ length: days - 1 }, (_, day) => html`<path d="M${(day + 1) * 24} 0V10" />`)}
              ${[row!, ...more].flatMap(({ soon }) => soon.filter(isShown)).map(bar)}
            </svg>
          </li>`,
      )}
    </ul>
  </section>`;
}

/** `Fri 27`, of a wall-clock day. */
const dayName = (day: number): string =>
  new Date(day).toLocaleDateString('en-GB', { weekday: 'short', day: 'numeric', timeZone: 'UTC' });
