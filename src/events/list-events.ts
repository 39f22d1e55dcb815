import { nowOf } from '../time/clock.ts';
import { invalid } from '../errors.ts';
import type { AuditEvent, Prisma } from '../generated/prisma/client.ts';
import { besideOf, newestPageOf, rowsBeside } from '../database/newest-first.ts';
import type { SqlRow, SqlTx } from '../database/sql.ts';
import { type AuditEventType, auditEventTypes } from './audit-event.ts';
import type { Ground } from '../database/ground.ts';
import { day } from '../time/units.ts';

export const outcomes = ['success', 'failure', 'pending', 'neutral'] as const;

/**
 * Event types that clients of the interface know but Holdfast never writes: merge queues and workflows of another
 * implementation of the interface. A query for them gets an empty answer, not an error.
 */
const typesOfOthers: [about: string, types: string][] = [
  ['action', 'assign backport close comment copy delete_head_branch dequeue'],
  ['action', 'dismiss_reviews edit github_actions label merge post_check'],
  ['action.queue', 'batch_bisection_end batch_bisection_start change'],
  ['action.queue.checks', 'change'],
  ['action.queue', 'checks_end checks_not_started checks_start conflict_deferred enter leave'],
  ['action.queue', 'merged'],
  ['action', 'rebase refresh request_reviewers request_reviews requeue review squash'],
  ['action', 'unqueue update'],
  ['ci_insights.auto_quarantine', 'disabled enabled modified'],
  ['ci_insights', 'job_retried'],
  ['ci_issue', 'created linked merged renamed reopened resolved unresolved'],
  ['command', 'dequeue queue requeue'],
  ['queue.freeze', 'create delete update'],
  ['queue.pause', 'create delete update'],
  ['test', 'dequarantined quarantined'],
];

/** Every event type that a client may query. */
export const knownEventTypes: string[] = [
  ...auditEventTypes,
  ...typesOfOthers.flatMap(([about, types]) => types.split(' ').map((type) => `${about}.${type}`)),
];

/**
 * Which log: that of a repository; that of an owner with the events that belong to no repository; or with `alsoOf` that
 * of an owner with those of its repositories. `isByRole` and `byRole`: for a reader who is no admin there, but a freezer
 * or approver.
 */
export type LogPlace = { accountId: bigint } & (
  | { repositoryId: bigint; isByRole?: boolean }
  | {
      alsoOf?: 'all' | { repositories: bigint[]; byRole?: bigint[] };
    }
);

/** What a freezer or approver does not see of a repository's log: settings are for its admins. */
const forAdmins: AuditEventType[] = ['repository_settings.update'];

type LogDeps = Pick<Ground, 'db' | 'clock' | 'sql'>;

/** A filter has one or more values. `not_…` excludes them. */
export type EventFilter = {
  pullRequest?: string[];
  notPullRequest?: string[];
  /** Only events about batches with these pull requests. Holdfast has no batches, so there are none. */
  batchPull?: string[];
  eventType?: string[];
  notEventType?: string[];
  outcome?: string[];
  notOutcome?: string[];
  trigger?: string[];
  notTrigger?: string[];
  baseRef?: string[];
  /** Only events about this freeze. */
  freezeId?: string;
  /** Only what this person did, also through their keys, OIDC rules and plans; or what has this name. */
  by?: string;
  receivedFrom?: Date;
  receivedTo?: Date;
};

/** An event, and for whom a key, a job or a plan acted; null if a person did, or if that is not known. */
export type ListedEvent = AuditEvent & { behind: Behind | null };

export type EventPage = {
  events: ListedEvent[];
  /** The cursors of the next and previous page; null if there is none. */
  next: string | null;
  previous: string | null;
};

/** How many days we keep events, which is also the widest span of a query. */
export const retentionDays = 90;
const widestSpan = 93 * day;

/**
 * A page of an audit log, newest first. By default, it covers the last day.
 * @param cursor opaque, from an earlier page's `next` or `previous`.
 * @throws Refusal invalid if the span is over 93 days or ends before it begins, or the cursor is not ours.
 */
export async function listEvents(
  deps: LogDeps,
  place: LogPlace,
  filter: EventFilter,
  page: { perPage: number; cursor?: string },
): Promise<EventPage> {
  const to = filter.receivedTo ?? new Date(deps.clock.now());
  const from = filter.receivedFrom ?? new Date(to.getTime() - day);
  assertSpan(from, to);
  if (filter.batchPull) return { events: [], next: null, previous: null };
  const beside = besideOf(page.cursor, 'event');
  const asked = rowsBeside(beside, page.perPage);
  const where: Prisma.AuditEventWhereInput = {
    AND: whereOf(place),
    actorKey:
      filter.by === undefined
        ? undefined
        : { in: await actorKeysOf(deps.sql.read, place.accountId, filter.by) },
    receivedAt: { gte: from, lte: to },
    type: { in: filter.eventType, notIn: filter.notEventType },
    outcome: { in: filter.outcome, notIn: filter.notOutcome },
    trigger: { in: filter.trigger, notIn: filter.notTrigger },
    baseRef: filter.baseRef && { in: filter.baseRef },
    metadata: filter.freezeId ? { path: ['scheduled_freeze_id'], equals: filter.freezeId } : undefined,
    pullRequest: filter.pullRequest && { in: filter.pullRequest },
    // SQL's NOT IN drops rows without a pull request, but a reader who excludes #7 still wants them.
    ...(filter.notPullRequest && {
      OR: [{ pullRequest: null }, { pullRequest: { notIn: filter.notPullRequest } }],
    }),
    id: asked.number,
  };
  const found = await deps.db.auditEvent.findMany({ where, orderBy: { id: asked.order }, take: asked.take });
  const { rows, older, newer } = newestPageOf(found, page.perPage, beside, ({ id }) => id);
  const behind = await actedFor(
    deps.sql.read,
    rows.map((row) => row.actorKey),
  );
  const events = rows.map((row) => ({ ...row, behind: behind.get(row.actorKey ?? '') ?? null }));
  return { events, next: older, previous: newer };
}

function whereOf(place: LogPlace): Prisma.AuditEventWhereInput {
  const ofRole = (repositoryId: bigint | { in: bigint[] }) => ({ repositoryId, type: { notIn: forAdmins } });
  if ('repositoryId' in place) {
    const { repositoryId, isByRole } = place;
    return isByRole ? ofRole(repositoryId) : { repositoryId };
  }
  const { accountId, alsoOf } = place;
  if (alsoOf === 'all') return { accountId };
  if (!alsoOf) return { accountId, repositoryId: null };
  const { repositories, byRole = [] } = alsoOf;
  const repositoryId = { in: repositories };
  if (byRole.length === 0) return { accountId, repositoryId };
  return { accountId, OR: [{ repositoryId }, ofRole({ in: byRole })] };
}

function assertSpan(from: Date, to: Date): void {
  const refuse = (message: string) =>
    invalid([{ path: ['query', 'received_from'], message, type: 'value_error' }]);
  if (from > to) throw refuse('received_from must not be after received_to.');
  if (to.getTime() - from.getTime() > widestSpan) {
    throw refuse('received_from and received_to may be at most 93 days apart.');
  }
}

/** The latest events of a repository, newest first. @param page how many, and after which cursor. */
export function recentEvents(
  deps: LogDeps,
  { id, accountId }: { id: bigint; accountId: bigint },
  filter: EventFilter,
  page: Parameters<typeof listEvents>[3],
): Promise<EventPage> {
  const receivedTo = nowOf(deps.clock);
  const receivedFrom = new Date(receivedTo.getTime() - retentionDays * day);
  return listEvents(deps, { accountId, repositoryId: id }, { ...filter, receivedFrom, receivedTo }, page);
}

const acted = `
  SELECT FROM audit_events
  WHERE account_id = $1 AND repository_id = $2 AND actor_key = $3 AND type LIKE 'scheduled_freeze.%'
    AND $4 IN (metadata->'created_by'->>'id', metadata->'updated_by'->>'id', metadata->'deleted_by'->>'id') LIMIT 1`;

/** Whether a person froze a repository, or changed a freeze there, as far as the log goes back. */
export async function hasActed(
  sql: SqlTx,
  { id, accountId }: { id: bigint; accountId: bigint },
  person: { id: number; login: string },
): Promise<boolean> {
  const values = [accountId, id, `@${person.login.toLowerCase()}`, String(person.id)];
  return (await sql.query('person-acted', acted, values)).length > 0;
}

// Keys, jobs and plans act for people: the person who created the key, the rule that lets the job in, or the plan.

/** What acted, and the person who created it, directly or through other keys; null if that is not known. */
type Behind = {
  kind: 'key' | 'job' | 'plan';
  id: string;
  name: string;
  person: { type: 'user'; id: number; name: string } | null;
};

/** SQL for everything that can act for a person. */
const makers = `(
  SELECT id, account_id, name, created_by, 'key' AS kind FROM application_keys
  UNION ALL SELECT id, account_id, name, created_by, 'job' FROM oidc_rules
  UNION ALL SELECT id, account_id, name, created_by, 'plan' FROM freeze_plans
) AS maker`;

const isUuid = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/;

const behind = `
  WITH RECURSIVE line AS (
    SELECT maker.id, maker.kind, maker.name, maker.created_by FROM ${makers} WHERE maker.id = ANY ($1::uuid[])
    UNION
    SELECT line.id, line.kind, line.name, maker.created_by FROM line JOIN ${makers}
      ON maker.id = CASE WHEN line.created_by->>'type' = 'application' AND line.created_by->>'id' ~ '${isUuid.source}'
        THEN (line.created_by->>'id')::uuid END
  )
  SELECT DISTINCT ON (id) id::text, kind, name, CASE WHEN created_by->>'type' = 'user' THEN created_by END AS person
  FROM line ORDER BY id, created_by->>'type' = 'user' DESC`;

/**
 * The keys, jobs and plans that acted, by their keys in the log. Asks nothing if only people did.
 * @param actorKeys of events; those of people count for nothing.
 */
async function actedFor(read: SqlTx['query'], actorKeys: (string | null)[]): Promise<Map<string, Behind>> {
  const ids = [...new Set(actorKeys)].filter((key) => key !== null && isUuid.test(key));
  const rows = ids.length === 0 ? [] : await read<Behind & SqlRow>('people-behind', behind, [ids]);
  return new Map(rows.map((row) => [row.id, row]));
}

const ofPerson = `
  WITH RECURSIVE line AS (
    SELECT maker.id FROM ${makers} WHERE maker.account_id = $1 AND (lower(maker.name) = $2
      OR maker.created_by->>'type' = 'user' AND lower(maker.created_by->>'name') = $2)
    UNION
    SELECT maker.id FROM line JOIN ${makers} ON maker.account_id = $1 AND maker.created_by->>'id' = line.id::text
  )
  SELECT id::text FROM line`;

/**
 * Who acts under a name, by their keys in the log: the person with this login, and the keys, rules and plans that they
 * created or that have this name.
 */
async function actorKeysOf(read: SqlTx['query'], accountId: bigint, name: string): Promise<string[]> {
  const login = name.trim().replace(/^@/, '').toLowerCase();
  const rows = await read<{ id: string }>('actors-of-person', ofPerson, [accountId, login]);
  return [`@${login}`, ...rows.map(({ id }) => id)];
}
