import { day } from '../time/units.ts';
import type { Actor } from '../events/actor.ts';
import type { Freeze } from '../freezes/freeze.ts';
import { freezePath, planPath } from '../page-paths.ts';
import { matchedBy, type PlanRepository, repositoriesOfOwner } from '../plans/matched-repositories.ts';
import { isOnce, type Occurrence, occurrencesFrom } from '../plans/occurrences.ts';
import { shownName } from '../plans/plan-name.ts';
import { listPlans, type StoredPlan } from '../plans/plan-store.ts';
import type { FoundFeed } from './manage-feeds.ts';
import { cutText } from '../cut-text.ts';
import type { FreezeDeps } from '../freezes/freeze-deps.ts';

/** One event of a calendar: a freeze, what a plan does to many repositories at once, or what a plan will do. */
export type FeedEvent = {
  /** Stays the same as long as it is the same event for people. */
  uid: string;
  /** Grows with each change. */
  sequence: number;
  changedAt: Date;
  isCancelled: boolean;
  startsAt: Date;
  /** Null if it has no end. */
  endsAt: Date | null;
  /** Whether some of its repositories end before that. */
  endsDiffer: boolean;
  timezone: string;
  reason: string;
  /** What it holds. A plan's freezes that nobody changed separately all hold the same. */
  holding: Pick<Freeze, 'holds' | 'environments' | 'onDeployment'>;
  repositories: number;
  /** The first ones by name, at most ten. */
  names: string[];
  /** The name of the plan that makes it, as readers may know it. */
  plan: string | null;
  /** Who made it, or its plan; null if readers may not know. */
  createdBy: Actor | null;
  /** Its page. */
  path: string;
};

const pastDays = 90;
const yearAhead = 366 * day;
/** The most events of a calendar, the latest ones. */
const mostFeedEvents = 5000;
const mostFeedNames = 10;
const mostOfReason = 2000;
/** For so long after its deletion, a freeze without an end is still shown as cancelled. */
const cancelledFor = '7 days';

type FeedRow = Omit<FeedEvent, 'changedAt' | 'startsAt' | 'endsAt' | 'path' | 'plan'> & {
  id: string;
  changedAt: string;
  startsAt: string;
  endsAt: string | null;
  planId: string | null;
  plan: Pick<StoredPlan, 'name' | 'publicReason'> | null;
  /** The name of the first repository. */
  name: string;
  /** Whether the plan does not make it again. */
  isMade: boolean;
};

/**
 * The freezes of some repositories as events, in one JSON column. What a plan made for one occurrence is one event, also if
 * the occurrence was skipped or moved, as far as nobody changed a freeze separately. Of an event with freezes that are not deleted, the others are no part.
 */
const made = `
  WITH found AS (
    SELECT f.*, r.name, r.name_key, r.archived, p.created_by AS planned_by,
      CASE WHEN p.id IS NOT NULL THEN json_build_object('name', p.name, 'publicReason', left(p.public_reason, 1000)) END AS plan,
      CASE WHEN stands_alone THEN f.id::text
        WHEN p.rule IS NULL AND p.source IS NULL AND made_for = left(p.start, 10) THEN p.id::text
        ELSE p.id || ':' || made_for END AS uid,
      CASE WHEN stands_alone THEN 1 ELSE p.version END AS plan_version,
      greatest(f.updated_at, f.deleted_at, CASE WHEN NOT stands_alone THEN p.updated_at END) AS changed_at
    FROM repositories r JOIN freezes f ON f.repository_id = r.id LEFT JOIN freeze_plans p ON p.id = f.plan_id,
      LATERAL (SELECT coalesce(split_part(f.occurrence, '~', 1), left(f.start, 10)) AS made_for) AS its,
      LATERAL (SELECT p.id IS NULL OR f.detached AND NOT coalesce(jsonb_exists(p.changes, made_for), false) AS stands_alone)
        AS whether
    WHERE r.account_id = $1 AND r.installation_id IS NOT NULL AND (cardinality($2::int8[]) = 0 OR r.id = ANY ($2))
      AND (f.ends_at IS NULL OR f.ends_at > $4::timestamptz) AND (f.deleted_at IS NULL OR f.deleted_at > $4::timestamptz)
  ), whole AS (
    SELECT found.*, bool_or(deleted_at IS NULL) OVER its AS lives, sum(version) OVER its AS versions,
      max(changed_at) OVER its AS last_changed_at, bool_or(coalesce(occurrence, '~') NOT LIKE '%~%') OVER its AS is_made
    FROM found WINDOW its AS (PARTITION BY uid)
  ), shown AS (
    SELECT *, CASE WHEN is_cancelled THEN ends_at ELSE coalesce(deleted_at, ends_at) END AS over_at FROM whole, LATERAL (
      SELECT NOT lives AND coalesce(ends_at, deleted_at + interval '${cancelledFor}') > $3::timestamptz AS is_cancelled
    ) AS whether
    WHERE NOT archived AND (deleted_at IS NULL) = lives AND (is_cancelled OR deleted_at IS NULL OR deleted_at > starts_at)
  ), events AS (
    SELECT uid, (array_agg(id ORDER BY name_key))[1] AS id, min(plan_id::text) AS "planId",
      (array_agg(plan ORDER BY name_key))[1] AS plan,
      (min(versions) + min(plan_version) - 2)::int AS sequence, max(last_changed_at) AS "changedAt",
      bool_or(is_cancelled) AS "isCancelled", bool_or(is_made) AS "isMade",
      min(starts_at) AS "startsAt", CASE WHEN bool_and(over_at IS NOT NULL) THEN max(over_at) END AS "endsAt",
      count(DISTINCT coalesce(over_at, 'infinity')) > 1 AS "endsDiffer", min(timezone) AS timezone,
      left((array_agg(CASE WHEN $5 THEN coalesce(public_reason, reason) ELSE reason END ORDER BY name_key))[1],
        ${mostOfReason}) AS reason,
      (array_agg(json_build_object('holds', nullif(holds, '{}'), 'environments', environments, 'onDeployment', on_deployment)
        ORDER BY name_key))[1] AS holding, count(DISTINCT repository_id)::int AS repositories,
      (array_agg(DISTINCT name))[1:${mostFeedNames}] AS names, (array_agg(name ORDER BY name_key))[1] AS name,
      CASE WHEN NOT $5 THEN (array_agg(coalesce(planned_by, created_by) ORDER BY name_key))[1] END AS "createdBy"
    FROM shown GROUP BY uid ORDER BY min(starts_at) DESC, uid LIMIT ${mostFeedEvents}
  )
  SELECT coalesce(json_agg(events), '[]') AS events FROM events`;

/** The events of a calendar, the latest first: of the past 90 days, and of plans also a year ahead. */
export async function loadEvents(
  deps: Pick<FreezeDeps, 'db' | 'sql'>,
  feed: FoundFeed,
  now: Date,
): Promise<FeedEvent[]> {
  const { account, repositoryIds, publicText } = feed;
  const since = new Date(now.getTime() - pastDays * day);
  const [[found], plans, all] = await Promise.all([
    deps.sql.query<{ events: FeedRow[] }>('calendar-events', made, [
      account.id,
      repositoryIds,
      now,
      since,
      publicText,
    ]),
    listPlans(deps.db, account.id, now),
    repositoriesOfOwner(deps.sql, account.id),
  ]);
  const rows = found!.events;
  const chosen =
    repositoryIds.length === 0 ? all : all.filter(({ id }) => repositoryIds.some((each) => each === id));
  const known = new Map(rows.map((row) => [row.uid, row]));
  const planned = plans.flatMap((plan) => plannedBy(plan, feed, chosen, known, now));
  // A plan makes these again, for which it once took freezes back.
  const again = new Set(planned.map(({ uid }) => uid));
  return [...rows.filter(({ uid }) => !again.has(uid)).map((row) => eventOf(row, feed)), ...planned]
    .toSorted((one, other) => other.startsAt.getTime() - one.startsAt.getTime())
    .slice(0, mostFeedEvents);
}

function eventOf(row: FeedRow, { account, publicText }: FoundFeed): FeedEvent {
  const { id, planId, plan, name, isMade: _, ...event } = row;
  return {
    ...event,
    plan: plan && shownName(plan, !publicText),
    changedAt: new Date(row.changedAt),
    startsAt: new Date(row.startsAt),
    endsAt: row.endsAt === null ? null : new Date(row.endsAt),
    path: planId === null ? freezePath({ name, account }, id) : planPath(account.login, planId),
  };
}

/** The occurrences of a plan that have no freezes yet. */
function plannedBy(
  plan: StoredPlan,
  { account, publicText }: FoundFeed,
  chosen: PlanRepository[],
  known: Map<string, FeedRow>,
  now: Date,
): FeedEvent[] {
  const matched = matchedBy(plan, chosen).used.filter(({ isFreezable }) => isFreezable);
  if (matched.length === 0) return [];
  const events: FeedEvent[] = [];
  for (const occurrence of occurrencesFrom(plan, now)) {
    if (occurrence.startsAt.getTime() > now.getTime() + yearAhead || events.length === mostFeedEvents) break;
    const uid = uidOf(plan, occurrence);
    const before = known.get(uid);
    if (before?.isMade) continue;
    events.push({
      uid,
      sequence: Math.max(plan.version - 1, before?.sequence ?? 0),
      changedAt: plan.updatedAt,
      isCancelled: false,
      startsAt: occurrence.startsAt,
      endsAt: occurrence.endsAt,
      endsDiffer: false,
      timezone: plan.timezone,
      reason: cutText(publicText ? (plan.publicReason ?? plan.reason) : plan.reason, mostOfReason),
      holding: plan,
      repositories: matched.length,
      names: matched.slice(0, mostFeedNames).map(({ name }) => name),
      plan: shownName(plan, !publicText),
      createdBy: publicText ? null : plan.createdBy,
      path: planPath(account.login, plan.id),
    });
  }
  return events;
}

/** Like `uid` of the statement. */
const uidOf = (plan: StoredPlan, { key }: Occurrence): string =>
  isOnce(plan) && key === plan.start.slice(0, 10) ? plan.id : `${plan.id}:${key}`;
