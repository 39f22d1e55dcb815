import type { Handler } from 'hono';
import pLimit from 'p-limit';
import { owner as ownerShape } from '../../api/fields.ts';
import type { Person } from '../../auth/github-token.ts';
import { nowOf } from '../../clock.ts';
import { isTooManyRequests, isUnavailable } from '../../errors.ts';
import { repositoriesOfAccount, type RepositoryState } from '../../explanations/repository-states.ts';
import { type InstalledAccount, knownAccount } from '../../installations/find-account.ts';
import { repositoriesOfIds } from '../../installations/repository-rows.ts';
import { matchedBy, repositoriesOfOwner } from '../../plans/matched-repositories.ts';
import { knownPlan, type PlanEnding, type StoredPlan } from '../../plans/plan-store.ts';
import {
  absentOrSignIn,
  absentPage,
  openPage,
  type PageDeps,
  rememberReader,
  silentPage,
  uuidOf,
  type Visit,
} from '../reader.ts';

/** An owner as the viewer may see it. */
export type OwnerVisit = Visit & {
  account: InstalledAccount;
  /** The repositories that the viewer can read, the most important first. */
  repositories: RepositoryState[];
  /** Whether GitHub says that the viewer is an admin of the owner, and so of every repository. */
  isAdmin: boolean;
  /** Whether private repositories that the viewer can read may be missing. */
  isPartial: boolean;
};

/** A plan that the viewer may see: as an admin of the owner, or because they can read every repository that it matches. */
export type PlanVisit = OwnerVisit & { plan: StoredPlan; ending: PlanEnding | null };

/** About how many private repositories GitHub is asked for a viewer who is not an admin of the owner. */
export const mostAsked = 20;
const sideBySide = 5;

/**
 * Handles a page of the owner of the path (`:owner`), with the repositories that the viewer can read. A viewer who can
 * read none of them gets the same answer as for an unknown owner.
 */
export const ownerPage = (
  given: PageDeps,
  show: (visit: OwnerVisit) => Response | Promise<Response>,
): Handler =>
  openPage(given, async (visit) => {
    const { deps, context } = visit;
    const name = ownerShape.safeParse(context.req.param('owner'));
    let opened: OwnerVisit | null;
    try {
      const account = name.success ? await knownAccount(deps, name.data) : null;
      opened =
        account && (await seeOwner({ ...visit, account }, await repositoriesOfAccount(deps, account.id)));
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return silentPage(visit);
    }
    return opened && (opened.isAdmin || opened.repositories.length > 0)
      ? show(opened)
      : absentOrSignIn(visit);
  });

/** Handles a page of the plan of the path (`:plan`), if the viewer may see it. */
export const planPage = (
  given: PageDeps,
  show: (visit: PlanVisit) => Response | Promise<Response>,
): Handler =>
  ownerPage(given, async (visit) => {
    const id = uuidOf(visit, 'plan');
    const found = id && (await findShownPlan(visit, id));
    return found ? show({ ...visit, ...found }) : absentPage(visit);
  });

/** The plan with this id, also when it is over or deleted, if the viewer of an owner's page may see it, else null. */
export async function findShownPlan(
  visit: OwnerVisit,
  id: string,
): Promise<Pick<PlanVisit, 'plan' | 'ending'> | null> {
  const { deps, account } = visit;
  const found = await knownPlan(deps.db, { id, accountId: account.id }, nowOf(deps.clock));
  return found && (await plansShownTo(visit))(found.plan) ? found : null;
}

/** Tells which plans of an owner its visitor may see: an admin all, others those whose every repository they can read. */
export async function plansShownTo({
  deps,
  account,
  repositories,
  isAdmin,
}: OwnerVisit): Promise<(plan: StoredPlan) => boolean> {
  if (isAdmin) return () => true;
  const readable = new Set(repositories.map(({ id }) => id));
  const all = await repositoriesOfOwner(deps.sql, account.id);
  return (plan) => {
    const matched = matchedBy(plan, all);
    return matched.length > 0 && matched.every(({ id }) => readable.has(id));
  };
}

/**
 * What a viewer can read of an owner. Costs GitHub no question for visitors, and one for admins.
 * @param all the repositories of the owner.
 */
export async function seeOwner<V extends Pick<OwnerVisit, 'deps' | 'viewer' | 'account'>>(
  visit: V,
  all: RepositoryState[],
): Promise<V & Pick<OwnerVisit, 'repositories' | 'isAdmin' | 'isPartial'>> {
  const { deps, viewer, account } = visit;
  const isPublic = (each: RepositoryState) => !each.private;
  if (!viewer) return { ...visit, repositories: all.filter(isPublic), isAdmin: false, isPartial: false };
  if (await deps.permissions.isOwnerAdmin(deps, viewer, account)) {
    await rememberReader(deps, viewer);
    return { ...visit, repositories: all, isAdmin: true, isPartial: false };
  }
  const closed = all.filter((each) => each.private);
  const readable = await readableOf(deps, viewer, closed.slice(0, mostAsked));
  const isSeen = (each: RepositoryState) => isPublic(each) || readable.has(each.id);
  // True for everybody but admins, so that it does not reveal whether private repositories exist.
  return { ...visit, repositories: all.filter(isSeen), isAdmin: false, isPartial: true };
}

/** The ids of the repositories that GitHub lets a person read. Leaves out those that GitHub cannot be asked about now. */
async function readableOf(deps: PageDeps, viewer: Person, some: RepositoryState[]): Promise<Set<bigint>> {
  const readable = new Set<bigint>();
  if (some.length === 0) return readable;
  const ids = some.map(({ id }) => id);
  await pLimit(sideBySide).map(await repositoriesOfIds(deps.sql, ids), async (repository) => {
    try {
      if ((await deps.permissions.ofRepository(deps, viewer, repository)) !== 'none')
        readable.add(repository.id);
    } catch (error) {
      if (!isTooManyRequests(error)) throw error;
    }
  });
  if (readable.size > 0) await rememberReader(deps, viewer);
  return readable;
}
