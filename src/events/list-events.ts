import type { Deps } from '../deps.ts';
import { invalid } from '../errors.ts';
import type { AuditEvent, Prisma } from '../generated/prisma/client.ts';
import { besideOf, pageOf, rowsBeside } from '../newest-first.ts';

export const outcomes = ['success', 'failure', 'pending', 'neutral'] as const;

/** Whose log: a repository's, or an owner's, with the events that belong to none of its repositories. */
export type LogPlace = { repositoryId: bigint } | { accountId: bigint };

/** A filter takes one or many values; `not_…` excludes them. */
export type EventFilter = {
  pullRequest?: string[];
  notPullRequest?: string[];
  eventType?: string[];
  notEventType?: string[];
  outcome?: string[];
  notOutcome?: string[];
  trigger?: string[];
  notTrigger?: string[];
  baseRef?: string[];
  /** Those about one freeze. */
  freezeId?: string;
  receivedFrom?: Date;
  receivedTo?: Date;
};

export type EventPage = {
  events: AuditEvent[];
  /** Where the pages after and before this one start; null where there is none. */
  next: string | null;
  previous: string | null;
};

const day = 86_400_000;
/** How long events are kept, and the widest span of one question. */
export const retentionDays = 90;
const widestSpan = 93 * day;

/**
 * A page of an audit log, newest first. Without a span of time: the last day.
 * @param cursor opaque, from an earlier page's `next` or `previous`.
 * @throws Refusal invalid for a span over 93 days, one that ends before it begins, or a foreign cursor.
 */
export async function listEvents(
  deps: Pick<Deps, 'db' | 'clock'>,
  place: LogPlace,
  filter: EventFilter,
  page: { perPage: number; cursor?: string },
): Promise<EventPage> {
  const to = filter.receivedTo ?? new Date(deps.clock.now());
  const from = filter.receivedFrom ?? new Date(to.getTime() - day);
  assertSpan(from, to);
  const beside = besideOf(page.cursor, 'event');
  const asked = rowsBeside(beside, page.perPage);
  const where: Prisma.AuditEventWhereInput = {
    ...('accountId' in place ? { ...place, repositoryId: null } : place),
    receivedAt: { gte: from, lte: to },
    type: { in: filter.eventType, notIn: filter.notEventType },
    outcome: { in: filter.outcome, notIn: filter.notOutcome },
    trigger: { in: filter.trigger, notIn: filter.notTrigger },
    baseRef: filter.baseRef && { in: filter.baseRef },
    metadata: filter.freezeId ? { path: ['scheduled_freeze_id'], equals: filter.freezeId } : undefined,
    pullRequest: filter.pullRequest && { in: filter.pullRequest },
    // SQL's NOT IN drops rows without a pull request; a reader who excludes #7 still wants those.
    ...(filter.notPullRequest && {
      OR: [{ pullRequest: null }, { pullRequest: { notIn: filter.notPullRequest } }],
    }),
    id: asked.number,
  };
  const found = await deps.db.auditEvent.findMany({ where, orderBy: { id: asked.order }, take: asked.take });
  const { rows, older, newer } = pageOf(found, page.perPage, beside, ({ id }) => id);
  return { events: rows, next: older, previous: newer };
}

function assertSpan(from: Date, to: Date): void {
  const refuse = (message: string) =>
    invalid([{ path: ['query', 'received_from'], message, type: 'value_error' }]);
  if (from > to) throw refuse('received_from must not be after received_to.');
  if (to.getTime() - from.getTime() > widestSpan) {
    throw refuse('received_from and received_to may be at most 93 days apart.');
  }
}
