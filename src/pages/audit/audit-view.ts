import { Temporal } from 'temporal-polyfill';
import { type AuditEventType, auditEventTypes } from '../../events/audit-event.ts';
import { type EventFilter, retentionDays } from '../../events/list-events.ts';
import { isDate } from '../../time/local-time.ts';
import { startOf } from '../calendar/calendar-window.ts';
import type { Times } from '../text.ts';

/** What the URL of an audit page asks for. Null: no such filter. */
export type AuditView = {
  by: string | null;
  type: AuditEventType | null;
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
export const spans: Record<number, string> = {
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
  const date = (name: string) => (isDate(query[name] ?? '') ? query[name]! : null);
  return {
    by: text('by'),
    type: auditEventTypes.find((type) => type === query['type']) ?? null,
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
export function filterOf({ by, type, days, from, to }: AuditView, { now, zone }: Times): EventFilter {
  const daysAgo = (count: number) => new Date(now.getTime() - count * 86_400_000);
  const dayAt = (date: string, more = 0) => startOf(Temporal.PlainDate.from(date).add({ days: more }), zone);
  const oldest = daysAgo(retentionDays);
  const receivedTo = to === null ? now : earlier(new Date(dayAt(to, 1).getTime() - 1), now);
  const first = from === null ? (to === null ? daysAgo(days) : oldest) : dayAt(from);
  const receivedFrom = first < oldest ? oldest : first;
  return {
    by: by ?? undefined,
    eventType: type === null ? undefined : [type],
    // A span that ends before it begins has no events.
    receivedFrom: earlier(receivedFrom, receivedTo),
    receivedTo,
  };
}

const earlier = (one: Date, other: Date): Date => (one < other ? one : other);

/** The relative URL of a view with some parameters changed: its first page, unless the change has a cursor. */
export function auditLink(view: AuditView, change: Partial<AuditView> & { format?: string } = {}): string {
  const { days, ...shown } = { ...view, cursor: null, ...change };
  const words = Object.entries(shown).filter(([, value]) => value !== null);
  const isUsual = days === usualDays || shown.from !== null || shown.to !== null;
  const query = new URLSearchParams(words as [string, string][]);
  if (!isUsual) query.set('days', String(days));
  return `?${query}`;
}
