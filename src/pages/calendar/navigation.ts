import { html } from 'hono/html';
import type { Temporal } from 'temporal-polyfill';
import { shorten } from '../../words/event-words.ts';
import { calendarPath, ownerFormPath } from '../../page-paths.ts';
import type { Html } from '../html.ts';
import type { OwnerVisit } from '../owner/open-owner.ts';
import { type CalendarWindow, startOfWindow, stepFrom, type View, type Zoom } from './calendar-window.ts';
import type { CalendarEntry } from './load-calendar.ts';

/** What a page shows. */
export type Calendar = {
  login: string;
  /** The repositories of the view. */
  chosen: OwnerVisit['repositories'];
  view: View;
  window: CalendarWindow;
  entries: CalendarEntry[];
  /** What begins after these months, up to a year from today. */
  later: CalendarEntry[];
  /** The number of each plan's colour. */
  colours: ReadonlyMap<string, number>;
  today: Temporal.PlainDate;
  now: Date;
  /** Whether a day leads to the form of a new plan. */
  mayPlan: boolean;
};

export const linkTo = (login: string, { zoom, day, isList, repositories }: View): string =>
  calendarPath(login, {
    ...(zoom === 'week' ? { day: day.toString() } : { month: day.toString().slice(0, 7) }),
    show: zoom === 'month' ? null : zoom,
    as: isList ? 'list' : null,
    repositories,
  });

export const newPlanPath = ({ login, view, window }: Calendar, day?: Temporal.PlainDate): string =>
  `${ownerFormPath(login, 'plans/new')}?${new URLSearchParams([
    ...(day ? ([['start', `${day.toString()}T00:00`]] as [string, string][]) : []),
    ['zone', window.zone],
    ...view.repositories.map((repository): [string, string] => ['repository', repository]),
  ])}`;

export function navigation({ login, view, today, window }: Calendar): Html {
  const to = (name: Html | string, change: Partial<View>, isCurrent = false, label = '') =>
    html`<a
      class="button quiet"
      href="${linkTo(login, { ...view, ...change })}"
      ${isCurrent ? html`aria-current="true"` : ''}
      ${label ? html`aria-label="${label}"` : ''}
      >${name}</a
    >`;
  const step = (sign: string, label: string, direction: 1 | -1) => {
    const day = stepFrom(view, direction);
    return day ? to(sign, { day }, false, label) : '';
  };
  const midnight = startOfWindow(today, window.zone);
  // What is shown has today, or its first week is the one to look at.
  const day = midnight >= window.from && midnight < window.to ? today : view.day;
  const zoomTo = (zoom: Zoom, name: string) => to(name, { zoom, day }, view.zoom === zoom);
  return html`<div class="calendar-bar">
    <nav class="joined" aria-label="Time">
      ${step('‹', 'Earlier', -1)} ${to('Today', { day: today })} ${step('›', 'Later', 1)}
    </nav>
    <nav class="joined" aria-label="View">
      ${zoomTo('week', 'Week')} ${zoomTo('month', 'Month')} ${zoomTo('quarter', 'Quarter')}
    </nav>
    <nav class="joined not-on-phones" aria-label="Form">
      ${to('Bars', { isList: false }, !view.isList)} ${to('List', { isList: true }, view.isList)}
    </nav>
  </div>`;
}

/** So many plans have a colour of their own at one time. */
const colours = 8;

/** A colour for each plan: mostly the same on every calendar, and none twice as long as there are enough. */
export function coloursOf(entries: CalendarEntry[]): Map<string, number> {
  const given = new Map<string, number>();
  for (const id of [...new Set(entries.flatMap(({ planId }) => planId ?? []))].toSorted()) {
    const own = Number.parseInt(id.slice(0, 8), 16) % colours;
    const taken = new Set(given.values());
    const free = Array.from({ length: colours }, (_, step) => (own + step) % colours).find(
      (each) => !taken.has(each),
    );
    given.set(id, free ?? own);
  }
  return given;
}

/** Which colour is which of the plans that come again and again, where there is more than one. */
export function legend({ entries, colours }: Calendar): Html | '' {
  const plans = [...Map.groupBy(entries, ({ planId }) => planId)].filter(
    ([id, its]) => id !== null && its.length > 1,
  );
  if (plans.length < 2 || plans.length > mostInLegend) return '';
  return html`<ul class="legend">
    ${plans.map(
      ([id, [first]]) =>
        html`<li>
          <span class="dot k${colours.get(id!)}"></span
          ><a href="${first!.href}"><bdi>${shorten(first!.text, 40)}</bdi></a>
        </li>`,
    )}
  </ul>`;
}

const mostInLegend = 12;
