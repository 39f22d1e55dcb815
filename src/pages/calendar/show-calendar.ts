import { html } from 'hono/html';
import { shorten } from '../../words/event-words.ts';
import { repositoryPath, subscribePath } from '../../page-paths.ts';
import { describeInstant } from '../../time/local-time.ts';
import { assetUrl } from '../assets.ts';
import { countText } from '../freeze-now/plan-preview.ts';
import type { Html } from '../html.ts';
import { showPage } from '../message-page.ts';
import { type OwnerVisit, withArchived } from '../owner/open-owner.ts';
import { absentPage, readerTimes } from '../reader.ts';
import {
  dayOf,
  monthName,
  nameOfWindow,
  readCalendarView,
  startOfWindow,
  stepFrom,
  windowAt,
} from './calendar-window.ts';
import { endsOf, firstEndOf, grids, states, whereText } from './grid.ts';
import { type CalendarEntry, loadCalendar, mostEntries } from './load-calendar.ts';
import { type Calendar, coloursOf, legend, linkTo, navigation, newPlanPath } from './navigation.ts';

/**
 * `GET /owners/{owner}/calendar`: the freezes of an owner as bars over days, or as a list. `?month=2026-12` is the first
 * month, `&show=quarter` shows three, `?show=week&day=2026-12-24` shows a week, `&as=list` the list, and each
 * `&repository=` chooses one.
 */
export async function showCalendar(visit: OwnerVisit): Promise<Response> {
  const { context, account } = visit;
  const { now, zone } = readerTimes(visit);
  const today = dayOf(now, zone);
  const view = readCalendarView(new URL(context.req.url).searchParams, today);
  const names = new Set(view.repositories.map((name) => name.toLowerCase()));
  const isNamed = ({ name }: { name: string }) => names.has(name.toLowerCase());
  const chosen = names.size === 0 ? visit.repositories : withArchived(visit).repositories.filter(isNamed);
  if (names.size > 0 && chosen.length === 0) return absentPage(visit);
  const window = windowAt(view.zoom, view.day, zone);
  const entries = await loadCalendar(visit, chosen, window, now);
  const ahead = { from: window.to, to: startOfWindow(today.add({ years: 1 }), zone), zone };
  const later = ahead.to > ahead.from ? await loadCalendar(visit, chosen, ahead, now) : [];
  const calendar: Calendar = {
    login: account.login,
    ...{ chosen, view, window, entries, today, now },
    later: later.filter(({ startsAt }) => startsAt >= window.to),
    colours: coloursOf([...entries, ...later]),
    mayPlan: visit.mayFreeze === true,
  };
  const title = `Calendar of ${nameOfEntry(calendar)}`;
  const body = html`${crumbs(calendar)}
    <div class="headline">
      <h1>${nameOfWindow(window)}</h1>
      <div class="actions">
        ${visit.isAdmin ? html`<a class="button quiet" href="${subscribePath(account.login)}">Subscribe</a>` : ''}
        ${calendar.mayPlan ? html`<a class="button quiet" href="${newPlanPath(calendar)}">New plan</a>` : ''}
      </div>
    </div>
    ${navigation(calendar)} ${view.isList ? '' : html`${legend(calendar)} ${grids(calendar)}`}
    <div class="${view.isList ? 'listed' : 'listed on-phones'}">
      ${entryList(calendar)} ${laterList(calendar)}
    </div>`;
  const head = html`<script type="module" src="${assetUrl('calendar.js')}"></script>`;
  return showPage(visit, { title, body, owner: account.login, tab: 'calendar', head });
}

const nameOfEntry = ({ login, chosen, view }: Calendar): string =>
  view.repositories.length === 0
    ? login
    : chosen.length === 1
      ? `${login}/${chosen[0]!.name}`
      : counted(chosen);

const counted = ({ length }: unknown[]): string => countText(length, 'repository', 'repositories');

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

function entryList(calendar: Calendar): Html {
  const { entries, window, view, login } = calendar;
  const day = stepFrom(view, 1);
  return html`<section id="list" aria-labelledby="list-heading">
    <h2 id="list-heading">Freezes of ${nameOfWindow(window)}</h2>
    <p class="muted">
      Times are in
      ${window.zone}.${entries.length >= mostEntries ? ` These are the first ${mostEntries}. Choose fewer repositories to see the others.` : ''}
    </p>
    ${
      entries.length === 0
        ? html`<p class="card">
            Nothing is frozen or planned.
            ${day ? html`<a href="${linkTo(login, { ...view, day })}">Later</a>` : ''}
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
  const day = next && dayOf(next.startsAt, window.zone).with({ day: 1 });
  return html`<section aria-labelledby="later-heading">
    <h2 id="later-heading">Later</h2>
    ${[...Map.groupBy(later.slice(0, mostLater), ({ firstDay }) => monthName(firstDay))].map(
      ([name, entries]) =>
        html`<h3>${name}</h3>
          ${agenda(entries, calendar)}`,
    )}
    ${day ? html`<p><a href="${linkTo(login, { ...view, day })}">${later.length - mostLater} more</a></p>` : ''}
  </section>`;
}

const agenda = (entries: CalendarEntry[], { window, login, now }: Calendar): Html =>
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

function when(entry: CalendarEntry, zone: string, now: Date): Html {
  const { startsAt, endsAt } = entry;
  const [start, end] = endsOf(entry, zone, now);
  const time = (at: Date, text: string) =>
    html`<time datetime="${at.toISOString()}" title="${describeInstant(at, zone)}">${text}</time>`;
  return html`${time(startsAt, start)} to ${endsAt ? time(endsAt, end) : end}${firstEndOf(entry, zone, now)}`;
}

const where = (entry: CalendarEntry, login: string): Html | string =>
  entry.names.length === 1 && entry.repositories === 1
    ? linkToRepository(login, entry.names[0]!)
    : whereText(entry);
