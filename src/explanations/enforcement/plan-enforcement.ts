import { nowOf } from '../../clock.ts';
import type { Deps } from '../../deps.ts';
import type { Account } from '../../generated/prisma/client.ts';
import { matchedRepositories } from '../../plans/matched-repositories.ts';
import { requirePlan } from '../../plans/plan-store.ts';
import { statusesOfHeld } from '../../statuses/desired-store.ts';
import { whyNotHeld } from '../../statuses/held-pull-requests.ts';

/** How much of a plan's ongoing freezes is enforced. */
export type PlanEnforcement = {
  repositories: number;
  /** Pull requests that should be held, that are known to be held, and that wait for their status. */
  toHold: number;
  held: number;
  waiting: number;
  /** Full names of repositories where freezes cannot hold, or where something is known not to be held. */
  notEnforced: string[];
};

type Row = { to_hold: number; held: number; waiting: number; leaky: bigint[] | null };

/**
 * The progress of a plan in all its repositories, from our tables only.
 * @throws Refusal not-found if the plan is over or deleted.
 */
export async function planEnforcement(deps: Deps, account: Account, id: string): Promise<PlanEnforcement> {
  const plan = await requirePlan(deps.db, deps, account, id);
  const [matched, row] = await Promise.all([matchedRepositories(deps.sql, plan), progressOf(deps, id)]);
  const leaky = new Set(row.leaky ?? []);
  return {
    repositories: matched.length,
    toHold: row.to_hold,
    held: row.held,
    waiting: row.waiting,
    notEnforced: matched
      .filter((each) => !each.isFreezable || leaky.has(each.id))
      .map(({ name }) => `${account.login}/${name}`),
  };
}

/** Counts all repositories with one statement. */
async function progressOf({ db, clock }: Pick<Deps, 'db' | 'clock'>, id: string): Promise<Row> {
  const now = nowOf(clock);
  const [row] = await db.$queryRaw<[Row]>`
    SELECT count(*)::int AS to_hold, count(*) FILTER (WHERE why IS NULL)::int AS held,
      count(*) FILTER (WHERE why = 'waiting')::int AS waiting,
      array_agg(DISTINCT repository_id) FILTER (WHERE why <> 'waiting') AS leaky
    FROM (
      SELECT held.repository_id, ${whyNotHeld} AS why
      FROM open_pull_requests held ${statusesOfHeld}
      WHERE EXISTS (
        SELECT FROM freezes f
        WHERE f.plan_id = ${id}::uuid AND f.repository_id = held.repository_id AND f.id = ANY (held.held_by)
          AND f.deleted_at IS NULL AND f.starts_at <= ${now} AND (f.ends_at IS NULL OR f.ends_at > ${now}))
    ) AS shown`;
  return row;
}
