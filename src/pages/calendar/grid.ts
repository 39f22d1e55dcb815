import { html } from 'hono/html';
import type { Temporal } from 'temporal-polyfill';
import { shorten } from '../../words/event-words.ts';
import { dayAndTime, toLocalTime } from '../../time/local-time.ts';
import { countText } from '../freeze-now/plan-preview.ts';
import type { Html } from '../html.ts';
import {
  layOutMonth,
  layOutWeek,
  monthName,
  nameOfWindow,
  type Segment,
  type Week,
  type Zoom,
} from './calendar-window.ts';
import type { CalendarEntry } from './load-calendar.ts';
import { type Calendar, linkTo, newPlanPath } from './navigation.ts';

/** How many bars a week has at most. The list has them all, and so has the week, up to some hundreds. */
const mostLanes: Record<Zoom, number> = { week: 40, month: 4, quarter: 3 };

/** The grids. The list says the same, so that nobody needs them. */
export const grids = (calendar: Calendar): Html[] =>
  calendar.window.zoom === 'week'
    ? [grid(calendar, [layOutWeek(calendar.window.first, calendar.entries, mostLanes.week)])]
    : calendar.window.months.map((month) =>
        grid(calendar, layOutMonth(month, calendar.entries, mostLanes[calendar.window.zoom]), month),
      );

/** Some weeks. @param month whose they are; a week by itself has none. */
function grid(calendar: Calendar, weeks: Week<CalendarEntry>[], month?: Temporal.PlainDate): Html {
  const { window } = calendar;
  const name = month ? monthName(month) : nameOfWindow(window);
  return html`<section class="month of-${window.zoom}" aria-label="${name}">
    ${window.months.length > 1 ? html`<h2>${name}</h2>` : ''}
    <div class="week-days" aria-hidden="true">
      ${weeks[0]!.days.map((day) => html`<span>${day.toLocaleString('en-GB', { weekday: 'short' })}</span>`)}
    </div>
    ${weeks.map((week) => weekRow(calendar, month, week))}
  </section>`;
}

function weekRow(
  calendar: Calendar,
  month: Temporal.PlainDate | undefined,
  { days, lanes, hidden }: Week<CalendarEntry>,
): Html {
  const { login, view } = calendar;
  const more = (count: number, index: number) =>
    count > 0
      ? html`<a
          class="more c${index + 1}"
          href="${linkTo(login, { ...view, zoom: 'week', day: days[index]! })}"
          >+${count} more</a
        >`
      : '';
  return html`<div class="week">
    <div class="days">${days.map((day, index) => dayCell(calendar, month, day, index + 1))}</div>
    ${lanes.map((lane) => html`<div class="lane">${lane.map((segment) => bar(segment, calendar))}</div>`)}
    ${hidden.some((count) => count > 0) ? html`<div class="lane">${hidden.map(more)}</div>` : ''}
  </div>`;
}

function dayCell(
  calendar: Calendar,
  month: Temporal.PlainDate | undefined,
  day: Temporal.PlainDate,
  column: number,
): Html {
  const isToday = day.equals(calendar.today);
  const marks = [
    'day',
    column > 5 && 'weekend',
    isToday && 'today',
    month && (day.month !== month.month || day.year !== month.year) && 'outside',
  ].filter(Boolean);
  const name = day.toLocaleString('en-GB', { weekday: 'long', day: 'numeric', month: 'long' });
  return html`<div class="${marks.join(' ')} c${column}" data-day="${day.toString()}">
    ${
      calendar.mayPlan
        ? html`<a
            href="${newPlanPath(calendar, day)}"
            aria-label="${name}${isToday ? ', today' : ''}: new plan"
            >${day.day}</a
          >`
        : html`<span>${day.day}</span>`
    }
  </div>`;
}

/** A bar, and its card, which shows when a pointer or the focus is on the bar. */
function bar(
  { stay, from, to, beginsBefore, endsAfter }: Segment<CalendarEntry>,
  { window, now, colours }: Calendar,
): Html {
  const { state, planId, startsAt, href, text, repositories } = stay;
  const edges = `${beginsBefore ? ' from-before' : ''}${endsAfter ? ' goes-on' : ''}`;
  const colour = planId ? ` k${colours.get(planId)}` : '';
  const time = beginsBefore ? '' : html`<time>${toLocalTime(startsAt, window.zone).slice(11, 16)}</time> `;
  return html`<div class="stay ${state}${colour}${edges} c${from} e${to}">
    <a href="${href}"
      >${time}<bdi>${shorten(text, 60)}</bdi>${repositories > 1 ? html` <span class="count">×${repositories}</span>` : ''}</a
    >${card(stay, window.zone, now)}
  </div>`;
}

/** What is on, when, where, and what the viewer can do about it. */
const card = (entry: CalendarEntry, zone: string, now: Date): Html =>
  html`<div class="peek">
    <strong class="written" dir="auto">${shorten(entry.text, 120)}</strong>
    <p>${endsOf(entry, zone, now).join(' to ')}${firstEndOf(entry, zone, now)} · ${states[entry.state][1]}</p>
    <p class="muted">${whereText(entry)}</p>
    ${
      entry.change === null
        ? ''
        : entry.state === 'ongoing'
          ? html`<p><a href="${entry.href}">End or extend</a></p>`
          : html`<p><a href="${entry.change}">Skip</a> <a href="${entry.change}#move">Move</a></p>`
    }
  </div>`;

/** The badge of each state, and its word. */
export const states: Record<CalendarEntry['state'], [badge: string, word: string]> = {
  scheduled: ['scheduled', 'Scheduled'],
  ongoing: ['held', 'Frozen'],
  ended: ['past', 'Ended'],
  planned: ['scheduled', 'Scheduled'],
};

/** `Fri 27 Nov, 14:00` and `18:00`: the second names its day where that is another one. */
export function endsOf(
  { startsAt, endsAt }: CalendarEntry,
  zone: string,
  now: Date,
): [start: string, end: string] {
  const start = dayAndTime(startsAt, zone, now);
  if (!endsAt) return [start, 'no end'];
  const end = dayAndTime(endsAt, zone, now);
  const [day, time] = end.split(', ') as [string, string];
  return [start, start.startsWith(`${day},`) ? time : end];
}

/** Where the bar shows the last end of several: the first one. */
export const firstEndOf = ({ firstEndsAt, endsAt }: CalendarEntry, zone: string, now: Date): string =>
  firstEndsAt === null || firstEndsAt.getTime() === endsAt?.getTime()
    ? ''
    : `, the first until ${dayAndTime(firstEndsAt, zone, now)}`;

export const whereText = ({ repositories, names }: CalendarEntry): string =>
  names.length === repositories ? names.join(', ') : countText(repositories, 'repository', 'repositories');
