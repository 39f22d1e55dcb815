import type { Deps } from '../../deps.ts';
import { requireFreeze } from '../../freezes/freeze-store.ts';
import { phaseOf } from '../../freezes/freeze-window.ts';
import { type Freeze, holdsDeployments, holdsMerges, type StoredFreeze } from '../../freezes/freeze.ts';
import { isJudged } from '../../freezes/list-freezes.ts';
import type { InstalledAccount } from '../../installations/find-account.ts';
import { type FoundRepository, repositoriesOfIds } from '../../installations/find-repository.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { freezesAreOn } from '../../installations/product.ts';
import type { PlanRepository } from '../../plans/matched-repositories.ts';
import type { StoredPlan } from '../../plans/plan-store.ts';
import { ongoingFreezes } from '../../plans/show-plan.ts';
import { statusesOfHeld } from '../../statuses/desired-store.ts';
import {
  type HeldPullRequest,
  heldPullRequests,
  leakingWithGroup,
  whyNotHeld,
  mergeAnswer,
  isHeldAtOnce,
} from '../../statuses/held-pull-requests.ts';
import { type Instant, readInstant } from '../../statuses/instant-hold/hold-store.ts';
import { nowOf } from '../../time/clock.ts';
import { countUnsaid, readUnsaid, type Unsaid, type UnsaidRow } from './blocked.ts';
import { isFreezeEnforced } from './finding.ts';
import { heldEnvironmentsIn } from './held-environments.ts';
import { areDeploymentsEnforced, deploymentsHeldBy, isAllEnforced } from './judge-environments.ts';
import {
  enforcedFreshFor,
  type EnforcementReport,
  knownEnforcement,
  placeEnforcement,
  recentEnforcement,
  secondsUntilHeld,
} from './recent-enforcement.ts';

/** How many should be held, and how many are known to be held. */
export type HeldProgress = { toHold: number; held: number };

/** How much of a freeze is enforced. */
type FreezeEnforcement = {
  freeze: Freeze;
  phase: 'scheduled' | 'ongoing';
  /** Whether the repository has a product that switches freezes on. */
  isOn: boolean;
  /** Whether GitHub enforces all that it holds, and whether it refuses the merges. The answers are a minute old at most. */
  enforced: boolean | 'unknown';
  mergesEnforced: boolean | 'unknown';
  /** Whether the open pull requests were checked since it began. */
  isJudged: boolean;
  /** The pull requests that it holds or should hold. */
  held: HeldPullRequest[];
  /** Whether GitHub requires our check on branches, as far as that is known; undefined if GitHub was not asked in time. */
  required: ReadonlyMap<string, boolean> | undefined;
  mergeGroups: HeldProgress;
  /** What is known of the environments of the repository; null if GitHub was not asked. */
  environments: EnforcementReport['environments'];
  /** Whether a ruleset holds the repository at once. */
  instant: Instant;
  /** How many of its statuses wait to be written, and since when the oldest one waits. */
  waitingWrites: number;
  waitingSince: Date | null;
  /** About how long until GitHub blocks what waits; 0 if it does. Null if that is not judged. */
  secondsUntilHeld: number | null;
  /** When Holdfast last checked all open pull requests, and whether another check is due. */
  lookedAt: Date | null;
  isLookDue: boolean;
};

type FreezeRow = {
  kind: 'head' | 'group';
  to_hold: number;
  held: number;
  waiting: number;
  since: Date | null;
  /** How many wait that no ruleset blocks. */
  open: number;
};

/**
 * The progress of a freeze.
 * @param look how to learn what GitHub enforces; null to ask nothing: then that is unknown.
 * @throws Refusal not-found if it has ended or was deleted.
 */
export async function freezeEnforcement(
  deps: Deps,
  repository: FoundRepository,
  id: string,
  look: typeof recentEnforcement | null = recentEnforcement,
): Promise<FreezeEnforcement> {
  const freeze = await requireFreeze(deps, repository, id);
  const report = look && (await look(deps, repository));
  const held = (await heldPullRequests(deps, repository.id)).filter(({ heldBy }) => heldBy.includes(id));
  const rows = await deps.db.$queryRaw<FreezeRow[]>`
    SELECT kind, count(*)::int AS to_hold, count(*) FILTER (WHERE why IS NULL)::int AS held,
      count(DISTINCT sha) FILTER (WHERE is_waiting)::int AS waiting,
      min(waiting_since) FILTER (WHERE is_waiting) AS since,
      count(*) FILTER (WHERE why = 'waiting' AND NOT is_held_at_once)::int AS open
    FROM (
      SELECT held.kind, head.sha, head.is_waiting, head.waiting_since, ${whyNotHeld} AS why,
        ${isHeldAtOnce} AS is_held_at_once
      FROM (
        SELECT 'head' AS kind, repository_id, head_sha, merge_sha, base_ref, held_by, leaking_since
        FROM open_pull_requests
        WHERE repository_id = ${repository.id} AND ${id}::uuid = ANY(held_by)
        UNION ALL
        SELECT 'group', repository_id, head_sha, NULL, NULL, held_by, ${leakingWithGroup} FROM merge_groups
        WHERE repository_id = ${repository.id} AND ${id}::uuid = ANY(held_by)
      ) held ${statusesOfHeld}
    ) shown GROUP BY kind`;
  const groups = rows.find(({ kind }) => kind === 'group');
  const since = rows.flatMap((row) => row.since ?? []).sort((one, other) => one.getTime() - other.getTime());
  const { reconciledAt, reconcileRequestedAt } = repository;
  const phase = phaseOf(freeze, nowOf(deps.clock)) === 'scheduled' ? 'scheduled' : 'ongoing';
  const { createdAt } = await deps.db.freeze.findUniqueOrThrow({
    where: { id },
    select: { createdAt: true },
  });
  const isKnown =
    phase === 'scheduled' || !holdsMerges(freeze) || isJudged(repository, { ...freeze, createdAt });
  const open = rows.reduce((sum, row) => sum + row.open, 0);
  const mergesEnforced = report ? isFreezeEnforced(report, freeze, held) : 'unknown';
  const environments = report ? report.environments : null;
  return {
    freeze,
    phase,
    environments,
    isJudged: isKnown,
    secondsUntilHeld: isKnown ? await secondsUntilHeld(deps, repository.installation.id, open) : null,
    isOn: freezesAreOn(repository.products),
    enforced: isAllEnforced(freeze, mergesEnforced, environments),
    mergesEnforced,
    held,
    required: report?.required,
    instant: await readInstant(deps.sql, repository.id, id),
    mergeGroups: { toHold: groups?.to_hold ?? 0, held: groups?.held ?? 0 },
    waitingWrites: rows.reduce((sum, row) => sum + row.waiting, 0),
    waitingSince: since[0] ?? null,
    lookedAt: reconciledAt,
    isLookDue: reconcileRequestedAt !== null,
  };
}

/** How much of a plan's ongoing freezes is enforced. */
type PlanEnforcement = {
  repositories: number;
  /** Pull requests that should be held, that are known to be held, and that wait for their status. */
  toHold: number;
  held: number;
  waiting: number;
  /** About how long until GitHub blocks what waits; 0 if it does. */
  secondsUntilHeld: number;
  /** Those among the held of which GitHub has not said that it refuses them. */
  unjudged: Unsaid[];
  /** Full names of repositories where freezes cannot hold, or where something is known not to be held. */
  notEnforced: string[];
  /** Where what should be held merges; none if nobody asked for them. */
  bases: BaseCount[];
};

/** How many pull requests of a repository merge into a branch. */
type BaseCount = { id: bigint; rulesVersion: number; base: string | null; count: number };

type PlanRow = {
  to_hold: number;
  held: number;
  waiting: number;
  leaky: bigint[] | null;
  unsaid: UnsaidRow[] | null;
  bases: [repositoryId: string, rulesVersion: number, base: string | null, count: number][] | null;
  open: number;
};

/**
 * The progress of a plan in the repositories that it matches, from our tables only.
 * @param options `withBases`: also says where what should be held merges, which costs the statement more.
 */
export async function planEnforcement(
  deps: Deps,
  account: InstalledAccount,
  plan: Pick<StoredPlan, 'id'>,
  used: PlanRepository[],
  { withBases = false } = {},
): Promise<PlanEnforcement> {
  const row = await progressOf(deps, plan.id, withBases);
  const leaky = new Set(row.leaky ?? []);
  return {
    repositories: used.length,
    toHold: row.to_hold,
    held: row.held,
    waiting: row.waiting,
    unjudged: readUnsaid(row.unsaid),
    secondsUntilHeld: await secondsUntilHeld(deps, account.installation.id, row.open),
    bases: (row.bases ?? []).map(([id, rulesVersion, base, count]) => ({
      ...{ id: BigInt(id), rulesVersion, base, count },
    })),
    notEnforced: used
      .filter((each) => !each.isFreezable || leaky.has(each.id))
      .map(({ name }) => `${account.login}/${name}`),
  };
}

/**
 * What of it GitHub refuses, as far as it has said so; and of how many it has not.
 * @param insides as of `countUnsaid`.
 */
export async function refusedOf(
  deps: Deps,
  { held, unjudged }: Pick<PlanEnforcement, 'held' | 'unjudged'>,
  insides: Parameters<typeof countUnsaid>[2],
): Promise<Record<'held' | 'unsaid' | 'toSay', number>> {
  const { loose, unsaid, toSay } = await countUnsaid(deps, unjudged, insides);
  return { held: held - loose - unsaid, unsaid, toSay };
}

/**
 * What the ongoing freezes of a plan hold of deployments, in those of some repositories where they hold any.
 * @param patience as of `heldEnvironmentsIn`.
 */
export function deploymentsOfPlan(
  deps: Deps,
  ongoing: StoredFreeze[],
  repositories: { id: bigint; rulesVersion: number }[],
  patience?: number,
): ReturnType<typeof heldEnvironmentsIn> {
  const holding = ongoing.filter((each) => holdsDeployments(each));
  const its = Map.groupBy(holding, ({ repositoryId }) => repositoryId);
  const rows = repositories.filter(({ id }) => its.has(id));
  return heldEnvironmentsIn(deps, rows, (id) => its.get(id) ?? [], patience);
}

/** Milliseconds that an answer of the API waits for what GitHub says of environments. */
const environmentsPatience = 2_000;

/** The full names of the repositories where ongoing freezes of a plan are known not to hold deployments as they say. */
export async function looseDeploymentsOf(
  deps: Deps,
  { login }: Pick<InstalledAccount, 'login'>,
  plan: StoredPlan,
): Promise<string[]> {
  if (!holdsDeployments(plan)) return [];
  const ongoing = await ongoingFreezes(deps.db, plan, nowOf(deps.clock));
  const ids = ongoing.map(({ repositoryId }) => repositoryId);
  const repositories = await repositoriesOfIds(deps.sql, [...new Set(ids)]);
  const found = await deploymentsOfPlan(deps, ongoing, repositories, environmentsPatience);
  return repositories.flatMap(({ id, name }) => {
    const its = found.get(id) ?? 'unknown';
    return areDeploymentsEnforced(deploymentsHeldBy(its), holdsMerges(plan)) === false
      ? [`${login}/${name}`]
      : [];
  });
}

/** Counts all repositories with one statement. */
async function progressOf(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  id: string,
  withBases: boolean,
): Promise<PlanRow> {
  const now = nowOf(clock);
  const [row] = await db.$queryRaw<[PlanRow]>`
    WITH shown AS (
      SELECT held.repository_id, held.base_ref, ${whyNotHeld} AS why, ${isHeldAtOnce} AS is_held_at_once,
        ${mergeAnswer(now)} AS answer
      FROM open_pull_requests held ${statusesOfHeld}
      WHERE EXISTS (
        SELECT FROM freezes f JOIN repositories r ON r.id = f.repository_id
        WHERE NOT r.archived AND f.plan_id = ${id}::uuid AND f.repository_id = held.repository_id AND f.id = ANY (held.held_by)
          AND f.deleted_at IS NULL AND f.starts_at <= ${now} AND (f.ends_at IS NULL OR f.ends_at > ${now}))
    )
    SELECT count(*)::int AS to_hold, count(*) FILTER (WHERE why IS NULL)::int AS held,
      count(*) FILTER (WHERE why = 'waiting')::int AS waiting,
      count(*) FILTER (WHERE why = 'waiting' AND NOT is_held_at_once)::int AS open,
      array_agg(DISTINCT repository_id) FILTER (WHERE why <> 'waiting') AS leaky,
      (SELECT json_agg(json_build_array(r.id::text, rules_version, base_ref, count, asked)) FROM (
        SELECT repository_id, base_ref, count(*)::int AS count, count(*) FILTER (WHERE answer = 'asked')::int AS asked
        FROM shown WHERE why IS NULL AND answer IS DISTINCT FROM 'refuses' GROUP BY repository_id, base_ref
      ) AS each JOIN repositories r ON r.id = repository_id) AS unsaid,
      ${withBases ? basesShown : Prisma.sql`NULL`} AS bases
    FROM shown`;
  return row;
}

const basesShown = Prisma.sql`
  (SELECT json_agg(json_build_array(r.id::text, rules_version, base_ref, count)) FROM (
    SELECT repository_id, base_ref, count(*)::int AS count FROM shown GROUP BY repository_id, base_ref
  ) AS each JOIN repositories r ON r.id = repository_id)`;

/** In how many repositories an answer asks GitHub what it requires. The next answer asks about the next ones. */
const mostAsked = 10;
/** In how many repositories we count what GitHub refuses. */
const mostCounted = 100;
/** Nobody freezes by this number, so the question leaves half of the hour's requests to others. */
const leftToOthers = 1 / 2;

/** How many of what a plan should hold GitHub refuses, because their branches require the check; null if that is not known of all. */
export async function countRefusedOf(deps: Deps, bases: BaseCount[]): Promise<number | null> {
  const known = (each: BaseCount) => knownEnforcement(deps, each, each, enforcedFreshFor);
  const unknown = new Set(bases.filter((each) => known(each) === undefined).map(({ id }) => id));
  const counted = new Set(bases.map(({ id }) => id));
  if (counted.size > mostCounted || bases.some(({ base }) => base === null)) return null;
  const found = await repositoriesOfIds(deps.sql, [...unknown].slice(0, mostAsked));
  const places = new Map(found.map((repository) => [repository.id, repository]));
  const counts = await Promise.all(
    bases.map(async (each) => {
      const place = places.get(each.id);
      const word = await (place ? placeEnforcement(deps, place, each, leftToOthers) : known(each));
      return word === undefined || word === 'unknown' ? null : word ? each.count : 0;
    }),
  );
  return counts.includes(null) ? null : counts.reduce<number>((sum, count) => sum + count!, 0);
}
