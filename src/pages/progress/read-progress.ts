import { z } from 'zod';
import { nowOf } from '../../clock.ts';
import type { Deps } from '../../deps.ts';
import { freezeEnforcement, planEnforcement } from '../../explanations/enforcement/progress.ts';
import { onlyBranches } from '../../explanations/enforcement/touched-branches.ts';
import { nullIf } from '../../errors.ts';
import { repositoriesOfIds } from '../../installations/repository-rows.ts';
import { freezePath, planPath } from '../../installations/page-paths.ts';
import { matchedRepositories } from '../../plans/matched-repositories.ts';
import type { StoredPlan } from '../../plans/plan-store.ts';
import { ongoingFreezes } from '../../plans/read-freezes.ts';
import { type Enforced, enforcedOf } from '../owner/enforced.ts';
import type { OpenedOwner } from '../owner/open-owner.ts';
import { findShownPlan } from '../plan/open-plan.ts';
import type { PageDeps } from '../reader.ts';

/** How many of the pull requests that a freeze or a plan should hold are held on GitHub. */
export type Progress = {
  /** The page with the details. */
  path: string;
  /** Whether any of its freezes is ongoing. */
  isOn: boolean;
  repositories: number;
  /** Repositories whose open pull requests still have to be checked. */
  toLook: number;
  toHold: number;
  held: number;
  /** Pull requests whose status still has to be written. */
  waiting: number;
  /** Whether we are still asking GitHub where freezes are enforced. */
  isAsking: boolean;
  /** Repositories where a freeze is not enforced, by name. */
  notEnforced: string[];
  /** Repositories where GitHub does not say whether it is enforced, by name. */
  notKnown: string[];
};

/** Whether nothing will change on its own. */
export const isDone = ({ isOn, toLook, waiting, isAsking }: Progress): boolean =>
  !isOn || (toLook === 0 && waiting === 0 && !isAsking);

const asked = z.union([z.object({ plan: z.guid() }), z.object({ freeze: z.guid() })]);

/**
 * The progress that a URL asks for, if the viewer can read every repository that it is about.
 * @returns null if there is none or the viewer may not see it.
 */
export async function readProgress(
  deps: PageDeps,
  opened: OpenedOwner,
  query: Record<string, string>,
): Promise<Progress | null> {
  const read = asked.safeParse(query);
  if (!read.success) return null;
  const progress =
    'plan' in read.data ? ofPlan(deps, opened, read.data.plan) : ofFreeze(deps, opened, read.data.freeze);
  return progress.catch(nullIf('not-found'));
}

async function ofPlan(deps: PageDeps, opened: OpenedOwner, id: string): Promise<Progress | null> {
  const plan = await findShownPlan(deps, opened, id);
  return plan && planProgress(deps, opened, plan);
}

/** The progress of a plan's ongoing freezes. @throws Refusal not-found if the plan is over or deleted. */
export async function planProgress(
  deps: PageDeps,
  { account, repositories }: OpenedOwner,
  plan: StoredPlan,
): Promise<Progress> {
  const matched = new Set((await matchedRepositories(deps.sql, plan)).map((each) => each.id));
  const on = new Set(
    (await ongoingFreezes(deps.db, plan, nowOf(deps.clock))).map(({ repositoryId }) => repositoryId),
  );
  const rows = repositories.filter((each) => matched.has(each.id) || on.has(each.id));
  const [found, toLook, enforced] = await Promise.all([
    planEnforcement(deps, account, plan.id),
    countToLook(deps, [...on]),
    enforcedOf(deps, rows, onlyBranches(plan) ?? undefined),
  ]);
  const namesOf = (word: Enforced) =>
    rows.filter((each) => enforced.get(each.id) === word).map(({ name }) => name);
  const ownName = (fullName: string) => fullName.slice(account.login.length + 1);
  return {
    path: planPath(account.login, plan.id),
    isOn: on.size > 0,
    repositories: matched.size,
    toLook,
    toHold: found.toHold,
    held: found.held,
    waiting: found.waiting,
    isAsking: namesOf(null).length > 0,
    notEnforced: [...new Set([...found.notEnforced.map(ownName), ...namesOf(false)])],
    notKnown: namesOf('unknown'),
  };
}

async function countToLook({ db }: Pick<Deps, 'db'>, repositoryIds: bigint[]): Promise<number> {
  return db.repository.count({
    where: {
      id: { in: repositoryIds },
      reconcileRequestedAt: { not: null },
      installation: { deletedAt: null, suspendedAt: null },
    },
  });
}

async function ofFreeze(deps: Deps, { repositories }: OpenedOwner, id: string): Promise<Progress | null> {
  const freeze = await deps.db.freeze.findUnique({ where: { id }, select: { repositoryId: true } });
  const row = freeze && repositories.find((each) => each.id === freeze.repositoryId);
  const [repository] = row ? await repositoriesOfIds(deps.sql, [row.id]) : [];
  if (!repository) return null;
  const { phase, held, isLookDue, enforced } = await freezeEnforcement(deps, repository, id);
  const of = (why: (typeof held)[number]['notHeld']) => held.filter(({ notHeld }) => notHeld === why).length;
  const isSeenNotHeld = held.some(({ notHeld }) => notHeld !== null && notHeld !== 'waiting');
  return {
    path: freezePath(repository, id),
    isOn: phase === 'ongoing',
    repositories: 1,
    toLook: isLookDue ? 1 : 0,
    toHold: held.length,
    held: of(null),
    waiting: of('waiting'),
    isAsking: false,
    notEnforced: enforced === false || isSeenNotHeld ? [repository.name] : [],
    notKnown: enforced === 'unknown' && !isSeenNotHeld ? [repository.name] : [],
  };
}
