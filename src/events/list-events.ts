import type { Deps } from '../deps.ts';
import { invalid } from '../errors.ts';
import type { AuditEvent, Prisma } from '../generated/prisma/client.ts';

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

const encode = (direction: 'older' | 'newer', id: bigint) =>
  Buffer.from(`${direction}:${id}`).toString('base64url');

function decode(cursor: string): { direction: 'older' | 'newer'; id: bigint } {
  const match = /^(older|newer):(\d{1,18})$/.exec(Buffer.from(cursor, 'base64url').toString());
  if (!match) {
    throw invalid([
      {
        path: ['query', 'cursor'],
        message: 'This cursor was not made by this service. Leave it out to start at the newest event.',
        type: 'value_error',
      },
    ]);
  }
  return { direction: match[1] as 'older' | 'newer', id: BigInt(match[2]!) };
}

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
  const cursor = page.cursor === undefined ? null : decode(page.cursor);
  const newer = cursor?.direction === 'newer';
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
    id: cursor ? (newer ? { gt: cursor.id } : { lt: cursor.id }) : undefined,
  };
  const found = await deps.db.auditEvent.findMany({
    where,
    orderBy: { id: newer ? 'asc' : 'desc' },
    take: page.perPage + 1,
  });
  const hasMore = found.length > page.perPage;
  const events = found.slice(0, page.perPage);
  if (newer) events.reverse();
  const hasNewer = newer ? hasMore : cursor !== null;
  const hasOlder = newer ? true : hasMore;
  const first = events[0];
  const last = events.at(-1);
  return {
    events,
    next: hasOlder && last ? encode('older', last.id) : null,
    previous: hasNewer && first ? encode('newer', first.id) : null,
  };
}

function assertSpan(from: Date, to: Date): void {
  const refuse = (message: string) =>
    invalid([{ path: ['query', 'received_from'], message, type: 'value_error' }]);
  if (from > to) throw refuse('received_from must not be after received_to.');
  if (to.getTime() - from.getTime() > widestSpan) {
    throw refuse('received_from and received_to may be at most 93 days apart.');
  }
}
