import type { Temporal } from 'temporal-polyfill';
import { html } from 'hono/html';
import { holdsMerges } from '../../freezes/freeze.ts';
import type { FreezeRecord } from '../../freezes/list-freezes.ts';
import { type Bar, layOutTimeline, type Tick } from '../timeline/lay-out-timeline.ts';
import { dayBefore, type TimelineWindow, type Zoom, zooms } from '../timeline/timeline-window.ts';
import type { Html } from '../layout.ts';
import { dayAndTime, isolated, isRightToLeft, shorten } from '../text.ts';
import { type FreezeState, stateOf, stateWords } from './freeze-list.ts';
import type { RepositoryPage } from './load-page.ts';
import { isShowable, linkTo, type View } from './view.ts';

/** The freezes of a week, a month or a quarter as bars. The list below has the same information as text. */
export function timeline(page: RepositoryPage): Html {
  const { view, shown, isCut } = page;
  return html`<section id="timeline" aria-labelledby="timeline-heading">
    <h2 id="timeline-heading">Timeline</h2>
    <nav class="bar-of-links" aria-label="Timeline">${zoomLinks(view)} ${stepLinks(view)}</nav>
    <h3>${nameOf(view.window)}</h3>
    <p class="muted">Days in ${view.window.zone}.</p>
    <div class="scroll timeline" tabindex="0" role="region" aria-label="Timeline of freezes">
      ${drawing(page)}
    </div>
    ${isCut ? html`<p class="muted">This shows the ${shown.length} latest freezes. Zoom in to see the others.</p>` : ''}
    ${shown.length === 0 ? html`<p class="muted">No freezes in this period.</p>` : legend}
  </section>`;
}

const zoomLinks = (view: View): Html[] =>
  zooms.map(
    (zoom) =>
      html`<a
        href="${linkTo(view, { zoom }, 'timeline')}"
        ${zoom === view.window.zoom ? html`aria-current="true"` : ''}
        >${zoomNames[zoom]}</a
      >`,
  );
const zoomNames: Record<Zoom, string> = { week: 'Week', month: 'Month', quarter: 'Quarter' };

function stepLinks(view: View): Html[] {
  const to = (name: string, day: Temporal.PlainDate) =>
    isShowable(day)
      ? html`<a href="${linkTo(view, { at: day.toString() }, 'timeline')}">${name}</a>`
      : html``;
  return [
    to('Earlier', dayBefore(view.window)),
    html`<a href="${linkTo(view, { at: null }, 'timeline')}">Today</a>`,
    to('Later', view.window.nextDay),
  ];
}

const legend = html`<ul class="legend">
  ${(['scheduled', 'ongoing', 'ended', 'deleted'] as const).map(
    (state) =>
      html`<li>
        <svg viewBox="0 0 24 14" aria-hidden="true" focusable="false">
          <rect class="bar ${state}" x="1" y="1" width="22" height="12" rx="3" />
        </svg>
        ${stateWords[state]}
      </li>`,
  )}
</ul>`;

// Units of the drawing. They are pixels if there is enough room.
const width = 960;
const top = 34;
const lane = 32;
const barHeight = 26;
/** Narrower bars show no name. Wider bars show as much of it as fits. */
const narrowestNamed = 30;
const mostCharacters = 120;
/** A bar that continues beyond the window extends this far over the edge, so that its end is not visible. */
const beyond = 8;
/** The room that the name of a tick needs. */
const tickNameWidth = 44;

function drawing({ repository, shown, view, now }: RepositoryPage): Html {
  const spans = shown.map((freeze) => ({ ...freeze, endsAt: freeze.deletion?.at ?? freeze.endsAt }));
  const { lanes, ticks, now: nowAt } = layOutTimeline(spans, view.window, now);
  const height = top + Math.max(2, lanes.length) * lane + 8;
  return html`<svg
    viewBox="0 0 ${width} ${height}"
    role="group"
    aria-labelledby="drawing-title drawing-description"
  >
    <title id="drawing-title">Freezes of ${repository.name}, ${nameOf(view.window)}</title>
    <desc id="drawing-description">
      ${lanes.flat().length} freezes as bars from left to right, in ${view.window.zone}. Each bar links to its
      row in the list below.
    </desc>
    <defs>
      ${(['scheduled', 'ongoing'] as const).flatMap((state) => [fading('body', state), fading('edge', state)])}
    </defs>
    ${ticks.map((tick) => tickLine(tick, view.window.zoom, height))}
    ${lanes.map((bars, index) => bars.map((bar) => barShape(bar, index, now, view)))}
    ${nowAt === null ? '' : nowLine(nowAt, height)}
  </svg>`;
}

/** Fades out the body and the edge of a bar without an end. */
const fading = (part: 'body' | 'edge', state: FreezeState): Html =>
  html`<linearGradient id="${part}-${state}">
    <stop class="${part}-${state}" offset="0.5" />
    <stop class="${part}-${state}" offset="1" stop-opacity="0" />
  </linearGradient>`;

function tickLine({ at, day }: Tick, zoom: Zoom, height: number): Html {
  const x = round(at * width);
  const isNamed = zoom === 'month' || x + tickNameWidth < width;
  const isMajor = zoom !== 'month' || day.dayOfWeek === 1;
  return html`<line class="tick ${isMajor ? 'major' : ''}" x1="${x}" x2="${x}" y1="16" y2="${height}" />
    ${isNamed ? html`<text x="${x + 4}" y="26">${tickName(day, zoom)}</text>` : ''}`;
}

function nowLine(at: number, height: number): Html {
  const x = round(at * width);
  const isRight = at > 0.9;
  return html`<g class="now">
    <line x1="${x}" x2="${x}" y1="2" y2="${height}" />
    <text x="${isRight ? x - 5 : x + 5}" y="12" text-anchor="${isRight ? 'end' : 'start'}">now</text>
  </g>`;
}

function barShape(
  { span, from, to, beginsBefore, endsAfter }: Bar<FreezeRecord>,
  index: number,
  now: Date,
  view: View,
): Html {
  const x = round(from * width);
  const barWidth = round((to - from) * width);
  const y = top + index * lane;
  const state = stateOf(span, now);
  const fades = span.endsAt === null;
  const before = beginsBefore ? beyond : 0;
  const after = endsAfter && !fades ? beyond : 0;
  return html`<a href="${rowLink(span, now, view)}" aria-label="${wordsOf(span, now, view)}">
    <title>${wordsOf(span, now, view)}</title>
    <rect
      class="bar ${fades ? '' : state}"
      x="${x - before}"
      y="${y}"
      width="${before + barWidth + after}"
      height="${barHeight}"
      rx="4"
      ${fades ? html`fill="url(#body-${state})" stroke="url(#edge-${state})"` : ''}
    />
    ${barWidth < narrowestNamed ? '' : html`<svg x="${x}" y="${y}" width="${barWidth - 4}" height="${barHeight}">${barName(span.reason, barWidth - 4)}</svg>`}
  </a>`;
}

/** As much of a reason as fits, from the right for right-to-left text. */
function barName(reason: string, room: number): Html {
  const text = shorten(reason, mostCharacters);
  return isRightToLeft(text)
    ? html`<text class="bar-name" x="${round(room - 6)}" y="18" direction="rtl">${text}</text>`
    : html`<text class="bar-name" x="6" y="18">${text}</text>`;
}

/** The link to a freeze's row. For a past freeze, its page of the list starts with that freeze. */
function rowLink(freeze: FreezeRecord, now: Date, view: View): string {
  const state = stateOf(freeze, now);
  const row = `freeze-${freeze.id}`;
  return state === 'scheduled' || state === 'ongoing' ? `#${row}` : linkTo(view, { past: freeze.id }, row);
}

function wordsOf(freeze: FreezeRecord, now: Date, { window: { zone } }: View): string {
  const { startsAt, endsAt, reason } = freeze;
  const until = endsAt ? `to ${dayAndTime(endsAt, zone, now)}` : 'without an end';
  const state = stateWords[stateOf(freeze, now)];
  const what = holdsMerges(freeze) ? state : `${state}, deployments only`;
  return `${isolated(shorten(reason, mostCharacters))} (${what}: ${dayAndTime(startsAt, zone, now)} ${until})`;
}

const round = (value: number): number => Math.round(value * 100) / 100;

const inEnglish = (day: Temporal.PlainDate, options: Intl.DateTimeFormatOptions): string =>
  day.toLocaleString('en-GB', options);

function tickName(day: Temporal.PlainDate, zoom: Zoom): string {
  if (zoom === 'month') return String(day.day);
  const weekday = zoom === 'week' ? `${inEnglish(day, { weekday: 'short' })} ` : '';
  return `${weekday}${inEnglish(day, { day: 'numeric', month: 'short' })}`;
}

function nameOf({ zoom, firstDay, nextDay }: TimelineWindow): string {
  const month = { month: 'long', year: 'numeric' } as const;
  if (zoom === 'month') return inEnglish(firstDay, month);
  const lastDay = nextDay.subtract({ days: 1 });
  const parts = zoom === 'week' ? ({ day: 'numeric', ...month } as const) : month;
  return `${inEnglish(firstDay, parts)} to ${inEnglish(lastDay, parts)}`;
}
