import { html } from 'hono/html';
import type { Temporal } from 'temporal-polyfill';
import {
  calendarPath,
  ownerFormPath,
  repositoryPath,
  subscribePath,
} from '../../installations/page-paths.ts';
import { countOf } from '../freeze-now/plan-preview.ts';
import { dayAndTime, describeInstant } from '../../time/local-time.ts';
import { shorten } from '../../events/event-words.ts';
import type { Html } from '../layout.ts';
import { type OwnerVisit, withArchived } from '../owner/open-owner.ts';
import { absentPage, timesOf } from '../reader.ts';
import {
  type CalendarWindow,
  dayOf,
  layOutMonth,
  monthName,
  monthsName,
  readView,
  type Segment,
  startOf,
  type View,
  type Week,
  windowAt,
  years,
  type Zoom,
  zooms,
} from './calendar-window.ts';
import { type Entry, loadCalendar, mostEntries } from './load-calendar.ts';
import { showPage } from '../message-page.ts';

/** How many bars a week has at most. The list below the calendar has them all. */
const mostLanes: Record<Zoom, number> = { month: 5, quarter: 3 };

/**
 * `GET /owners/{owner}/calendar`: the freezes of an owner as bars over days, and as a list. `?month=2026-12` is the first
 * month, `&show=quarter` shows three, and each `&repository=` chooses one.
 */
export async function showCalendar(visit: OwnerVisit): Promise<Response> {
  const { context, account } = visit;
  const { now, zone } = timesOf(visit);
  const today = dayOf(now, zone);
  const view = readView(new URL(context.req.url).searchParams, today);
  const names = new Set(view.repositories.map((name) => name.toLowerCase()));
  const isNamed = ({ name }: { name: string }) => names.has(name.toLowerCase());
  const chosen = names.size === 0 ? visit.repositories : withArchived(visit).repositories.filter(isNamed);
  if (names.size > 0 && chosen.length === 0) return absentPage(visit);
  const window = windowAt(view.zoom, view.month, zone);
  const entries = await loadCalendar(visit, chosen, window, now);
  const ahead = { from: window.to, to: startOf(today.add({ years: 1 }), zone), zone };
  const later = ahead.to > ahead.from ? await loadCalendar(visit, chosen, ahead, now) : [];
  const calendar: Calendar = {
    login: account.login,
    chosen,
    view,
    window,
    entries,
    later: later.filter(({ startsAt }) => startsAt >= window.to),
    today,
    now,
    mayPlan: visit.mayFreeze === true,
  };
  const title = `Calendar of ${nameOf(calendar)}`;
  const body = html`${crumbs(calendar)}
    <div class="headline">
      <h1>${monthsName(window)}</h1>
      <nav class="bar-of-links" aria-label="Calendar">
        ${links(calendar)}${visit.isAdmin ? html`<a href="${subscribePath(account.login)}">Subscribe</a>` : ''}
      </nav>
    </div>
    ${window.months.map((month) => monthGrid(calendar, month))} ${list(calendar)} ${laterList(calendar)}`;
  return showPage(visit, { title, body, owner: account.login, tab: 'calendar' });
}

type Calendar = {
  login: string;
  /** The repositories of the view. */
  chosen: OwnerVisit['repositories'];
  view: View;
  window: CalendarWindow;
  entries: Entry[];
  /** What begins after these months, up to a year from today. */
  later: Entry[];
  today: Temporal.PlainDate;
  now: Date;
  /** Whether a day leads to the form of a new plan. */
  mayPlan: boolean;
};

const linkTo = (login: string, view: View): string =>
  calendarPath(login, {
    month: view.month.toString().slice(0, 7),
    show: view.zoom === 'quarter' ? 'quarter' : null,
    repositories: view.repositories,
  });

function links({ login, view, today }: Calendar): Html[] {
  const to = (name: Html | string, change: Partial<View>, isCurrent = false) =>
    html`<a href="${linkTo(login, { ...view, ...change })}" ${isCurrent ? html`aria-current="true"` : ''}
      >${name}</a
    >`;
  const step = (name: string, months: number) => {
    const month = view.month.add({ months });
    return month.year >= years.first && month.year <= years.last ? to(name, { month }) : html``;
  };
  return [
    step('Earlier', -zooms[view.zoom]),
    to('Today', { month: today.with({ day: 1 }) }),
    step('Later', zooms[view.zoom]),
    to('Month', { zoom: 'month' }, view.zoom === 'month'),
    to('Quarter', { zoom: 'quarter' }, view.zoom === 'quarter'),
  ];
}

const nameOf = ({ login, chosen, view }: Calendar): string =>
  view.repositories.length === 0
    ? login
    : chosen.length === 1
      ? `${login}/${chosen[0]!.name}`
      : counted(chosen);

const counted = ({ length }: unknown[]): string => countOf(length, 'repository', 'repositories');

/** The repositories that the view has, and the way to all of them. */
function crumbs({ login, chosen, view }: Calendar): Html | '' {
  if (view.repositories.length === 0) return '';
  const name = chosen.length === 1 ? linkToRepository(login, chosen[0]!.name) : counted(chosen);
  return html`<p class="muted">
    ${name} · <a href="${linkTo(login, { ...view, repositories: [] })}">All repositories</a>
  </p>`;
}

const linkToRepository = (login: string, name: string): Html =>
  html`<a href="${repositoryPath({ name, account: { login } })}">${name}</a>`;

/** A month as a grid. The list says the same, so that nobody needs the grid. */
function monthGrid(calendar: Calendar, month: Temporal.PlainDate): Html {
  const { window, entries } = calendar;
  const weeks = layOutMonth(month, entries, mostLanes[window.zoom]);
  return html`<section class="month" aria-label="${monthName(month)}">
    ${window.months.length > 1 ? html`<h2>${monthName(month)}</h2>` : ''}
    <div class="week-days" aria-hidden="true">
      ${weeks[0]!.days.map((day) => html`<span>${day.toLocaleString('en-GB', { weekday: 'short' })}</span>`)}
    </div>
    ${weeks.map((week) => weekRow(calendar, month, week))}
  </section>`;
}

function weekRow(calendar: Calendar, month: Temporal.PlainDate, { days, lanes, hidden }: Week<Entry>): Html {
  const rows = lanes.length + (hidden.some((count) => count > 0) ? 1 : 0);
  return html`<div class="week lanes${rows}">
    ${days.map((day, index) => dayCell(calendar, month, day, index + 1))}
    ${lanes.map((segments, lane) => segments.map((segment) => bar(segment, lane + 2, calendar)))}
    ${hidden.map((count, index) =>
      count > 0
        ? html`<a class="more r${lanes.length + 2} c${index + 1}" href="#list">${count} more</a>`
        : '',
    )}
  </div>`;
}

function dayCell(
  { login, view, today, mayPlan, window }: Calendar,
  month: Temporal.PlainDate,
  day: Temporal.PlainDate,
  column: number,
): Html {
  const isToday = day.equals(today);
  const marks = [
    'day',
    column > 5 && 'weekend',
    isToday && 'today',
    (day.month !== month.month || day.year !== month.year) && 'outside',
  ].filter(Boolean);
  const name = day.toLocaleString('en-GB', { weekday: 'long', day: 'numeric', month: 'long' });
  const plan = `${ownerFormPath(login, 'plans/new')}?${new URLSearchParams([
    ['start', `${day.toString()}T00:00`],
    ['zone', window.zone],
    ...view.repositories.map((repository): [string, string] => ['repository', repository]),
  ])}`;
  return html`<div class="${marks.join(' ')} c${column}">
    ${
      mayPlan
        ? html`<a href="${plan}" aria-label="${name}${isToday ? ', today' : ''}: new plan">${day.day}</a>`
        : html`<span>${day.day}</span>`
    }
  </div>`;
}

function bar(
  { stay, from, to, beginsBefore, endsAfter }: Segment<Entry>,
  row: number,
  { window, now }: Calendar,
): Html {
  const edges = `${beginsBefore ? ' from-before' : ''}${endsAfter ? ' goes-on' : ''}`;
  return html`<a
    class="stay ${stay.state}${edges} r${row} c${from} e${to}"
    href="${stay.href}"
    title="${shorten(stay.text, 120)}: ${endsOf(stay, window.zone, now).join(' to ')}, ${whereText(stay)}"
    ><bdi>${shorten(stay.text, 60)}</bdi
    >${stay.repositories > 1 ? html` <span>×${stay.repositories}</span>` : ''}</a
  >`;
}

function list(calendar: Calendar): Html {
  const { entries, window, view, login } = calendar;
  const first = window.months[0]!;
  return html`<section id="list" aria-labelledby="list-heading">
    <h2 id="list-heading">Freezes of ${monthsName(window)}</h2>
    <p class="muted">
      Times are in
      ${window.zone}.${entries.length >= mostEntries ? ` These are the first ${mostEntries}. Choose fewer repositories to see the others.` : ''}
    </p>
    ${
      entries.length === 0
        ? html`<p class="card">
            Nothing is frozen or planned.
            <a href="${linkTo(login, { ...view, month: first.add({ months: window.months.length }) })}"
              >Later</a
            >
          </p>`
        : agenda(entries, calendar)
    }
  </section>`;
}

/** How many freezes after the months of the calendar are listed. */
const mostLater = 60;

function laterList(calendar: Calendar): Html | '' {
  const { later, window, view, login } = calendar;
  if (later.length === 0) return '';
  const next = later[mostLater];
  const month = next && dayOf(next.startsAt, window.zone).with({ day: 1 });
  return html`<section aria-labelledby="later-heading">
    <h2 id="later-heading">Later</h2>
    ${[...Map.groupBy(later.slice(0, mostLater), ({ firstDay }) => monthName(firstDay))].map(
      ([name, entries]) =>
        html`<h3>${name}</h3>
          ${agenda(entries, calendar)}`,
    )}
    ${month ? html`<p><a href="${linkTo(login, { ...view, month })}">${later.length - mostLater} more</a></p>` : ''}
  </section>`;
}

/** The badge of each state, and its word. */
const states: Record<Entry['state'], [badge: string, word: string]> = {
  scheduled: ['scheduled', 'Scheduled'],
  ongoing: ['held', 'Frozen'],
  ended: ['past', 'Ended'],
  planned: ['scheduled', 'Scheduled'],
};

const agenda = (entries: Entry[], { window, login, now }: Calendar): Html =>
  html`<ol class="agenda">
    ${entries.map((entry) => {
      const [badge, word] = states[entry.state];
      return html`<li>
        <span class="when">${when(entry, window.zone, now)}</span>
        <span class="badge ${badge}">${word}</span>
        <span>
          <a href="${entry.href}"><bdi>${shorten(entry.text, 120)}</bdi></a>
          <span class="muted">${where(entry, login)}</span>
        </span>
      </li>`;
    })}
  </ol>`;

function when(entry: Entry, zone: string, now: Date): Html {
  const { startsAt, endsAt } = entry;
  const [start, end] = endsOf(entry, zone, now);
  const time = (at: Date, text: string) =>
    html`<time datetime="${at.toISOString()}" title="${describeInstant(at, zone)}">${text}</time>`;
  return html`${time(startsAt, start)} to ${endsAt ? time(endsAt, end) : end}`;
}

/** `Fri 27 Nov, 14:00` and `18:00`: the second names its day where that is another one. */
function endsOf({ startsAt, endsAt }: Entry, zone: string, now: Date): [start: string, end: string] {
  const start = dayAndTime(startsAt, zone, now);
  if (!endsAt) return [start, 'no end'];
  const end = dayAndTime(endsAt, zone, now);
  const [day, time] = end.split(', ') as [string, string];
  return [start, start.startsWith(`${day},`) ? time : end];
}

const whereText = ({ repositories, names }: Entry): string =>
  names.length === repositories ? names.join(', ') : countOf(repositories, 'repository', 'repositories');

const where = (entry: Entry, login: string): Html | string =>
  entry.names.length === 1 && entry.repositories === 1
    ? linkToRepository(login, entry.names[0]!)
    : whereText(entry);
