import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { type Actor, actorIn } from '../events/actor.ts';
import { type Freeze, holdsDeployments, holdsMerges } from '../freezes/freeze.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { statusesOfHeld } from '../statuses/desired-store.ts';
import { type HeldPullRequest, whyNotHeld, mergeAnswer } from '../statuses/held-pull-requests.ts';
import { countUnsaid, readUnsaid, type UnsaidRow } from './enforcement/blocked.ts';
import { nowOf } from '../time/clock.ts';
import { isToJudge } from './repository-states.ts';

// Freezes that are one to people: what a plan did to many repositories at once, or a freeze by itself.

/** What all groups have. */
type Group = {
  /** One of its freezes, in the first of `repositoryIds`. */
  id: string;
  planId: string | null;
  /** What the viewer may read, at most 200 characters of it. */
  reason: string;
  startsAt: Date;
  /** In how many repositories. */
  repositories: number;
  /** The first three of them. */
  repositoryIds: bigint[];
  /** When the first of its freezes ends, or was deleted; null if none has an end. */
  firstEndsAt: Date | null;
  /** The same of the last of them; null if one has no end. */
  endsAt: Date | null;
};

/** What happened, happens or will happen in a span. */
type FreezeGroup = Group & {
  holdsMerges: boolean;
  holdsDeployments: boolean;
};

const freezesMerges = Prisma.sql`(holds = '{}' OR 'merges' = ANY (holds))`;

/**
 * The reason of a row of `freezes` as the viewer may read it, and whether it is about deployments.
 * @param inside whether they may read every reason there.
 */
const readReason = (inside: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`CASE WHEN NOT ${freezesMerges} THEN ${ofDeployments}
      WHEN 'deployments' = ANY (holds) THEN ${ofBoth} ELSE '' END ||
    left(CASE WHEN ${inside} THEN reason ELSE COALESCE(public_reason, reason) END, 200)`;

const ofDeployments = 'Deployments: ';
const ofBoth = 'Merges and deployments: ';

/** The same of a plan. */
export const reasonOfPlan = (plan: Pick<Freeze, 'reason' | 'holds'>): string =>
  `${!holdsMerges(plan) ? ofDeployments : holdsDeployments(plan) ? ofBoth : ''}${plan.reason}`;

/**
 * The freezes of some repositories that are on within a span, the earliest first. What a plan began at one instant is one
 * group, also if it ended repository by repository. One that was deleted before it began was never on.
 * @param inside the repositories whose reasons the viewer may read; of the others it gives the public ones.
 * @param most the maximum number of groups.
 * @param planId only the freezes of this plan.
 */
export function freezeGroupsWithin(
  tx: Tx,
  repositoryIds: bigint[],
  inside: bigint[],
  { from, to }: { from: Date; to: Date },
  most: number,
  planId: string | null = null,
): Promise<FreezeGroup[]> {
  return tx.$queryRaw<FreezeGroup[]>`
    SELECT (array_agg(id ORDER BY repository_id))[1] AS id, plan_id AS "planId",
      mode() WITHIN GROUP (ORDER BY reason) AS reason, starts_at AS "startsAt",
      min(over_at) AS "firstEndsAt", CASE WHEN bool_and(over_at IS NOT NULL) THEN max(over_at) END AS "endsAt", count(*)::int4 AS repositories,
      bool_or(holds_merges) AS "holdsMerges", bool_or(holds_deployments) AS "holdsDeployments",
      (array_agg(repository_id ORDER BY repository_id))[1:3] AS "repositoryIds"
    FROM (
      SELECT id, repository_id, plan_id, starts_at, COALESCE(deleted_at, ends_at) AS over_at,
        ${freezesMerges} AS holds_merges, 'deployments' = ANY (holds) AS holds_deployments,
        ${readReason(Prisma.sql`repository_id = ANY (${inside}::int8[])`)} AS reason
      FROM freezes
      WHERE repository_id = ANY (${repositoryIds}::int8[]) AND starts_at < ${to}
        AND (ends_at IS NULL OR ends_at > ${from})
        AND (deleted_at IS NULL OR (deleted_at > ${from} AND deleted_at > starts_at))
        AND (${planId}::uuid IS NULL OR plan_id = ${planId}::uuid)
    ) AS f
    GROUP BY plan_id, starts_at, CASE WHEN plan_id IS NULL THEN id END
    ORDER BY starts_at, count(*) DESC, id LIMIT ${most}`;
}

/** A freeze or a plan that is on, or that comes next. */
export type CurrentGroup = Group & {
  timezone: string;
  /** Whether it can hold pull requests, which the numbers are about. */
  holdsMerges: boolean;
  /** The repositories where it can hold deployments, with what each of its freezes there says of them. */
  deploymentsIn: ReadonlyMap<bigint, Pick<Freeze, 'holds' | 'environments'>[]>;
  /** Who made the plan, or the freeze; null if the viewer may not know. */
  createdBy: Actor | null;
  /**
   * Pull requests: those that GitHub refuses to merge; waiting for their status, unable to get one, or with one that nothing
   * requires; those that GitHub would merge; and those of which it has not said whether it would.
   */
  held: number;
  waiting: number;
  leaking: number;
  unsaid: number;
  /** In how many repositories the open pull requests were not checked since it began. */
  toJudge: number;
  /** In how many repositories it is known not to be enforced, and in how many that is not known. */
  notEnforced: number;
  unknown: number;
  /** When it is on within the next seven days: each start with its end, null for none. */
  soon: [start: string, end: string | null][];
  /** The reader's own pull requests that it should hold. */
  mine: ({ repositoryId: string; title: string | null; isAsked: boolean } & Pick<
    HeldPullRequest,
    'number' | 'baseRef' | 'notHeld' | 'mergeAnswer'
  >)[];
};

/** How far ahead `soon` reaches, in milliseconds; and how many pull requests and times of a group are listed. */
export const soonWithin = 7 * 86_400_000;
const mostMine = 20;
const mostSoon = 60;

/** The repositories of which groups are asked. */
type GroupQuery = {
  all: bigint[];
  /** Those whose reasons and people the viewer may read. */
  inside: bigint[];
  notEnforced: bigint[];
  unknown: bigint[];
  /** The login of the reader, whose own pull requests are told; null for nobody. */
  login: string | null;
};

/** What is on now, or what comes next. */
type Which = 'ongoing' | 'scheduled';

/** @property total how many there are, of which these are the first. */
type CurrentGroups = { groups: CurrentGroup[]; total: number };

/**
 * The freezes of some repositories that are ongoing, the largest first; and the next ones, the earliest first.
 * Of a plan it is one group, whatever became of its freezes, and of what comes the first time. One statement.
 * @param most the maximum number of groups of each.
 */
export async function currentGroups(
  deps: Deps,
  query: GroupQuery,
  now: Date,
  most: number,
): Promise<Record<Which, CurrentGroups>> {
  const numbered = (which: Which) =>
    Prisma.sql`SELECT ${which} AS which, row_number() OVER () AS place, each.* FROM (${groupsSql(which, query, now, most)}) AS each`;
  const rows = await deps.db.$queryRaw<GroupRow[]>`
    ${numbered('ongoing')} UNION ALL ${numbered('scheduled')} ORDER BY which, place`;
  const groupsOf = async (wanted: Which): Promise<CurrentGroups> => {
    const its = rows.filter(({ which }) => which === wanted);
    return {
      groups: await Promise.all(its.map((row) => readGroup(deps, row, new Set(query.inside)))),
      total: its[0]?.total ?? 0,
    };
  };
  return { ongoing: await groupsOf('ongoing'), scheduled: await groupsOf('scheduled') };
}

type GroupRow = Omit<CurrentGroup, 'unsaid' | 'deploymentsIn'> & {
  /** The environments of each freeze of deployments; none for all. */
  deploymentsIn: [repositoryId: string, environments: string[]][];
  unsaid: UnsaidRow[];
  total: number;
  which: Which;
  place: bigint;
};

async function readGroup(
  deps: Deps,
  { total: _total, which: _which, place: _place, ...group }: GroupRow,
  insides: ReadonlySet<bigint>,
): Promise<CurrentGroup> {
  const { blocked, loose, unsaid } = await countUnsaid(deps, readUnsaid(group.unsaid), insides);
  return {
    ...group,
    deploymentsIn: readDeployments(group.deploymentsIn),
    held: group.held + blocked,
    waiting: group.waiting + loose,
    unsaid,
    mine: group.mine.slice(0, mostMine),
    soon: group.soon.slice(0, mostSoon),
    createdBy: group.createdBy && actorIn(group.createdBy),
  };
}

function readDeployments(rows: GroupRow['deploymentsIn']): CurrentGroup['deploymentsIn'] {
  const freezes = rows.map(([id, environments]) => ({
    id: BigInt(id),
    of: { holds: ['deployments' as const], ...(environments.length > 0 && { environments }) },
  }));
  const byRepository = Map.groupBy(freezes, ({ id }) => id);
  return new Map([...byRepository].map(([id, its]) => [id, its.map(({ of }) => of)]));
}

/** SQL that selects the groups of one kind in their order. */
function groupsSql(
  which: Which,
  { all, inside, notEnforced, unknown, login }: GroupQuery,
  now: Date,
  most: number,
): Prisma.Sql {
  const isOngoing = which === 'ongoing';
  const isIt = isOngoing ? Prisma.sql`starts_at <= ${now}` : Prisma.sql`starts_at > ${now}`;
  const inRepositories = (condition: Prisma.Sql) =>
    Prisma.sql`(count(DISTINCT f.repository_id) FILTER (WHERE ${condition}))::int4`;
  const pullRequests = (condition: Prisma.Sql) =>
    Prisma.sql`count(DISTINCT (repository_id, number)) FILTER (WHERE ${condition})`;
  return Prisma.sql`
    WITH found AS (
      SELECT id, repository_id, plan_id, coalesce(plan_id, id) AS key, starts_at, ends_at, created_at, created_by,
        timezone, is_inside, ${freezesMerges} AS holds_merges, 'deployments' = ANY (holds) AS holds_deployments, environments, ${readReason(Prisma.sql`is_inside`)} AS reason,
        min(starts_at) OVER (PARTITION BY coalesce(plan_id, id)) AS first_at
      FROM freezes, LATERAL (SELECT repository_id = ANY (${inside}::int8[]) AS is_inside) AS viewer
      WHERE repository_id = ANY (${all}::int8[]) AND deleted_at IS NULL AND ${isIt}
        AND (ends_at IS NULL OR ends_at > ${now})
    ), times AS (
      SELECT key, json_agg(json_build_array(starts_at, ends_at) ORDER BY starts_at) AS soon
      FROM (SELECT DISTINCT key, starts_at, ends_at FROM found
        WHERE starts_at < ${new Date(now.getTime() + soonWithin)}) AS once GROUP BY key
    ), judged AS (
      SELECT found.key, held.repository_id, held.number, held.title, held.base_ref,
        ${whyNotHeld} AS why, ${mergeAnswer(now)} AS answer,
        coalesce(lower(held.author) = lower(${login}::text), false) AS is_mine
      FROM found JOIN open_pull_requests held
        ON held.repository_id = found.repository_id AND found.id = ANY (held.held_by) ${statusesOfHeld}
      WHERE ${isOngoing} AND cardinality(held.held_by) > 0
    ), unsaid AS (
      SELECT key, json_agg(json_build_array(r.id::text, rules_version, base_ref, count, asked)) AS unsaid
      FROM (
        SELECT key, repository_id, base_ref, count(DISTINCT number) AS count,
          count(DISTINCT number) FILTER (WHERE answer = 'asked') AS asked
        FROM judged WHERE why IS NULL AND answer IS DISTINCT FROM 'refuses' GROUP BY key, repository_id, base_ref
      ) AS of_branch JOIN repositories r ON r.id = repository_id GROUP BY key
    ), pulls AS (
      SELECT key, json_agg(DISTINCT jsonb_build_object('repositoryId', repository_id::text, 'number', number, 'title', title,
          'baseRef', base_ref, 'notHeld', why, 'mergeAnswer', answer, 'isAsked', EXISTS (SELECT FROM exemptions e WHERE e.repository_id = judged.repository_id
            AND e.number = judged.number AND e.state = 'requested' AND e.ended_at IS NULL AND e.expires_at > ${now})))
          FILTER (WHERE is_mine) AS mine,
        ${pullRequests(Prisma.sql`why IS NULL AND answer = 'refuses'`)} AS held,
        ${pullRequests(Prisma.sql`why = 'leaking'`)} AS leaking,
        ${pullRequests(Prisma.sql`why <> 'leaking'`)} AS waiting
      FROM judged GROUP BY key
    )
    SELECT (array_agg(f.id ORDER BY f.repository_id))[1] AS id, f.plan_id AS "planId",
      mode() WITHIN GROUP (ORDER BY f.reason) AS reason, min(f.starts_at) AS "startsAt",
      min(f.ends_at) AS "firstEndsAt", CASE WHEN bool_and(f.ends_at IS NOT NULL) THEN max(f.ends_at) END AS "endsAt",
      min(f.timezone) AS timezone,
      bool_or(f.holds_merges) AS "holdsMerges",
      coalesce(json_agg(json_build_array(f.repository_id::text, f.environments))
        FILTER (WHERE f.holds_deployments), '[]') AS "deploymentsIn",
      (array_agg(coalesce(p.created_by, f.created_by) ORDER BY f.repository_id) FILTER (WHERE f.is_inside))[1]
        AS "createdBy",
      count(DISTINCT f.repository_id)::int4 AS repositories,
      (array_agg(DISTINCT f.repository_id))[1:3] AS "repositoryIds",
      coalesce(max(pulls.held), 0)::int4 AS held, coalesce(max(pulls.leaking), 0)::int4 AS leaking,
      coalesce(max(pulls.waiting), 0)::int4 AS waiting, coalesce((array_agg(unsaid.unsaid))[1], '[]') AS unsaid,
      coalesce((array_agg(pulls.mine))[1], '[]') AS mine, coalesce((array_agg(times.soon))[1], '[]') AS soon,
      ${inRepositories(isToJudge(Prisma.raw('f'), Prisma.raw('r')))} AS "toJudge",
      ${inRepositories(Prisma.sql`f.repository_id = ANY (${notEnforced}::int8[])`)} AS "notEnforced",
      ${inRepositories(Prisma.sql`f.repository_id = ANY (${unknown}::int8[])`)} AS unknown,
      (count(*) OVER ())::int4 AS total
    FROM found f JOIN repositories r ON r.id = f.repository_id LEFT JOIN freeze_plans p ON p.id = f.plan_id
      LEFT JOIN pulls ON pulls.key = f.key LEFT JOIN unsaid ON unsaid.key = f.key LEFT JOIN times ON times.key = f.key
    WHERE ${isOngoing} OR f.starts_at = f.first_at
    GROUP BY f.key, f.plan_id
    ORDER BY CASE WHEN NOT ${isOngoing} THEN min(f.starts_at) END, bool_or(pulls.mine IS NOT NULL) DESC, count(*) DESC, min(f.starts_at), f.key
    LIMIT ${most}`;
}

/** What freezes hold together: how many GitHub refuses to merge, of how many, and of how many it has not said that. */
export type Freed = {
  held: number;
  all: number;
  unsaid: number;
  /** How many the end of these alone frees. */ frees: number;
};

type FreedRow = Record<'id' | 'base', string | null> &
  Record<'rulesVersion' | 'count' | 'refused' | 'stuck' | 'unsaid', number> & { heldBy: string[] };

/**
 * What each of some groups of freezes holds, and what its end frees: what GitHub refuses to merge now and would not then,
 * because no other freeze holds it, and it has no conflict.
 * @param groups the ids of their freezes. @param insides as of `countUnsaid`.
 */
export async function countFreed(
  deps: Deps,
  repositoryIds: bigint[],
  groups: ReadonlySet<string>[],
  insides: ReadonlySet<bigint>,
): Promise<Freed[]> {
  const refuses = Prisma.sql`${whyNotHeld} IS NULL AND ${mergeAnswer(nowOf(deps.clock))} = 'refuses'`;
  const rows = await deps.db.$queryRaw<FreedRow[]>`
    SELECT held.held_by AS "heldBy", held.base_ref AS base, r.id::text, r.rules_version AS "rulesVersion",
      count(*)::int4 AS count, (count(*) FILTER (WHERE ${refuses}))::int4 AS refused,
      (count(*) FILTER (WHERE ${refuses} AND held.merge_state IN ('DIRTY', 'DRAFT', 'BEHIND')))::int4 AS stuck,
      (count(*) FILTER (WHERE ${whyNotHeld} IS NULL))::int4 - (count(*) FILTER (WHERE ${refuses}))::int4 AS unsaid
    FROM open_pull_requests held JOIN repositories r ON r.id = held.repository_id ${statusesOfHeld}
    WHERE held.repository_id = ANY (${repositoryIds}::int8[]) AND cardinality(held.held_by) > 0
    GROUP BY held.held_by, held.base_ref, r.id`;
  const counted = await Promise.all(
    rows.map(async ({ heldBy, id, base, rulesVersion, count, refused, stuck, unsaid }) => {
      const place = { id: BigInt(id!), rulesVersion, base, count: unsaid, asked: 0 };
      const judged = await countUnsaid(deps, [place], insides);
      const held = refused + judged.blocked;
      return { heldBy, all: count, held, unsaid: judged.unsaid, frees: held - stuck };
    }),
  );
  return groups.map((ended) => {
    const its = counted.filter(({ heldBy }) => heldBy.some((id) => ended.has(id)));
    const sum = (of: (each: (typeof its)[number]) => number) =>
      its.reduce((total, each) => total + of(each), 0);
    const isAlone = ({ heldBy }: (typeof its)[number]) => heldBy.every((id) => ended.has(id));
    return {
      held: sum(({ held }) => held),
      all: sum(({ all }) => all),
      unsaid: sum(({ unsaid }) => unsaid),
      frees: sum((each) => (isAlone(each) ? each.frees : 0)),
    };
  });
}
