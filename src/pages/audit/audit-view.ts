import { html } from 'hono/html';
import { Temporal } from 'temporal-polyfill';
import { type Trigger, triggers } from '../../events/actor.ts';
import { auditEventTypes, eventKinds, type AuditEventType } from '../../events/audit-event.ts';
import { roadNames } from '../../words/event-words.ts';
import { type EventFilter, retentionDays } from '../../events/list-events.ts';
import { isDateText } from '../../time/local-time.ts';
import { startOfWindow } from '../calendar/calendar-window.ts';
import { filterChoice, filterField, hiddenField, queryLink } from '../form.ts';
import type { Html } from '../html.ts';
import type { Times } from '../text.ts';

// What the URL of an audit page asks for, and the filters that make such URLs.

/** What the URL of an audit page asks for. Null: no such filter. */
export type AuditView = {
  by: string | null;
  type: AuditEventType | null;
  trigger: Trigger | null;
  /** The name of a repository of the owner. */
  repository: string | null;
  /** How many days back, unless dates are given. */
  days: number;
  /** The first and the last day: `2026-11-27`. */
  from: string | null;
  to: string | null;
  cursor: string | null;
};

/** The spans to choose from, by their days. */
const spans: Record<number, string> = {
  1: 'Last 24 hours',
  7: 'Last 7 days',
  30: 'Last 30 days',
  [retentionDays]: `Last ${retentionDays} days`,
};
const usualDays = 7;

/** Reads the query of a URL. Ignores what it does not understand. */
export function readAuditView(query: Record<string, string>): AuditView {
  // PostgreSQL keeps no NUL.
  const text = (name: string) => query[name]?.replaceAll('\0', '').trim().slice(0, 255) || null;
  const date = (name: string) => (isDateText(query[name] ?? '') ? query[name]! : null);
  return {
    by: text('by'),
    type: auditEventTypes.find((type) => type === query['type']) ?? null,
    trigger: triggers.find((trigger) => trigger === query['trigger']) ?? null,
    repository: text('repository'),
    days:
      Object.keys(spans)
        .map(Number)
        .find((days) => String(days) === query['days']) ?? usualDays,
    from: date('from'),
    to: date('to'),
    cursor: text('cursor'),
  };
}

/** The events that a view asks for. Days are those of the reader's zone. Everything older is forgotten. */
export function filterOf(
  { by, type, trigger, days, from, to }: AuditView,
  { now, zone }: Times,
): EventFilter {
  const daysAgo = (count: number) => new Date(now.getTime() - count * 86_400_000);
  const dayAt = (date: string, more = 0) =>
    startOfWindow(Temporal.PlainDate.from(date).add({ days: more }), zone);
  const oldest = daysAgo(retentionDays);
  const receivedTo = to === null ? now : earlier(new Date(dayAt(to, 1).getTime() - 1), now);
  const first = from === null ? (to === null ? daysAgo(days) : oldest) : dayAt(from);
  const receivedFrom = first < oldest ? oldest : first;
  return {
    by: by ?? undefined,
    eventType: type === null ? undefined : [type],
    trigger: trigger === null ? undefined : [trigger],
    // A span that ends before it begins has no events.
    receivedFrom: earlier(receivedFrom, receivedTo),
    receivedTo,
  };
}

const earlier = (one: Date, other: Date): Date => (one < other ? one : other);

/** The relative URL of a view with some parameters changed: its first page, unless the change has a cursor. */
export function auditLink(view: AuditView, change: Partial<AuditView> & { format?: string } = {}): string {
  const { days, ...shown } = { ...view, cursor: null, ...change };
  const isUsual = days === usualDays || shown.from !== null || shown.to !== null;
  return queryLink({ ...shown, days: isUsual ? null : days });
}

/** @param repositories those to choose from; null on the page of one. */
export function auditFilters(view: AuditView, repositories: string[] | null): Html {
  const hasDates = view.from !== null || view.to !== null;
  const none = { by: null, repository: null, type: null, trigger: null, from: null, to: null };
  const filters: [name: string | null, without: Partial<AuditView>][] = [
    [view.by && `By ${view.by}`, { by: null }],
    [view.repository && `In ${view.repository}`, { repository: null }],
    [view.type && eventKinds[view.type].name, { type: null }],
    [view.trigger && `Came by ${roadNames[view.trigger]}`, { trigger: null }],
    [view.from && `From ${view.from}`, { from: null }],
    [view.to && `To ${view.to}`, { to: null }],
  ];
  const chosen = filters.filter(([name]) => name !== null);
  return html`<nav class="chips" aria-label="Time">
      ${Object.entries(spans).map(
        ([days, name]) =>
          html`<a
            href="${auditLink(view, { days: Number(days), from: null, to: null })}"
            ${!hasDates && view.days === Number(days) ? html`aria-current="true"` : ''}
            >${name}</a
          >`,
      )}
    </nav>
    ${
      chosen.length === 0
        ? ''
        : html`<nav class="chips" aria-label="Filters in use">
            ${chosen.map(
              ([name, without]) =>
                html`<a href="${auditLink(view, without)}" aria-current="true"
                  ><bdi>${name}</bdi> <span aria-hidden="true">×</span><span class="said">: remove</span></a
                >`,
            )}
            ${chosen.length > 1 ? html`<a href="${auditLink(view, none)}">Remove all</a>` : ''}
          </nav>`
    }
    <details class="filters">
      <summary class="button quiet">Filter</summary>
      <form class="choice" method="get" role="search" aria-label="Events">
        ${hasDates ? '' : hiddenField('days', String(view.days))}
        ${filterField('by', 'Person or key', view.by, html`maxlength="255"`)}
        ${
          repositories === null
            ? ''
            : html`${filterField('repository', 'Repository', view.repository, html`list="repositories" maxlength="100"`)}
                <datalist id="repositories">
                  ${repositories.slice(0, mostNames).map((name) => html`<option value="${name}"></option>`)}
                </datalist>`
        }
        ${filterChoice('type', 'Event type', 'All events', typeNames, view.type)}
        ${filterChoice('trigger', 'Came by', 'All roads', roadNames, view.trigger)}
        <label>From <input type="date" name="from" value="${view.from ?? ''}" /></label>
        <label>to <input type="date" name="to" value="${view.to ?? ''}" /></label>
        <button type="submit" class="quiet">Show</button>
      </form>
    </details>`;
}

const typeNames = Object.fromEntries(auditEventTypes.map((type) => [type, eventKinds[type].name]));

/** How many names the field for a repository proposes. */
const mostNames = 200;
