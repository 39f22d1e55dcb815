import type { Handler } from 'hono';
import pLimit from 'p-limit';
import type { Person } from '../../auth/github-token.ts';
import type { Recency, RepositoryPermission } from '../../auth/permissions.ts';
import { isTooManyRequests, refusedIf, Refusal } from '../../errors.ts';
import {
  repositoriesOfAccount,
  type RepositoryState,
  withBlocked,
} from '../../explanations/repository-states.ts';
import type { InstalledAccount } from '../../installations/find-account.ts';
import { repositoriesOfIds } from '../../installations/find-repository.ts';
import { ownerPath } from '../../page-paths.ts';
import { type Role, roles } from '../../settings/role-holders.ts';
import { readSettingsOfAll } from '../../settings/settings.ts';
import { namedBy, repositoriesOfOwner, usedAmong } from '../../plans/matched-repositories.ts';
import { knownPlan, type PlanEnding, type StoredPlan } from '../../plans/plan-store.ts';
import { nowOf } from '../../time/clock.ts';
import { messagePage } from '../message-page.ts';
import { opensOfSeen } from '../opens.ts';
import {
  absentOrSignIn,
  absentPage,
  isAmongRepositories,
  isOwnerFreezer,
  openPage,
  ownerOfPath,
  type PageDeps,
  rememberReader,
  signInFirst,
  unlessUnsaid,
  uuidOf,
  type Visit,
} from '../reader.ts';

/** An owner as the viewer may see it. */
export type OwnerVisit = Visit & {
  account: InstalledAccount;
  /** The repositories that the viewer can read, the most important first, without archived ones. */
  repositories: RepositoryState[];
  /** The archived ones that the viewer can read. They count nowhere. */
  archived: RepositoryState[];
  /** Whether GitHub says that the viewer is an admin of the owner, and so of every repository. */
  isAdmin: boolean;
  /** Whether private repositories that the viewer can read may be missing. */
  isPartial: boolean;
  /**
   * Whether the viewer may freeze: as an admin or freezer of the owner or of one of its repositories. `unknown` if GitHub was not
   * asked about all public ones, or does not say whether they have the role.
   */
  mayFreeze: boolean | 'unknown';
  /** What GitHub says that the viewer can do, of the repositories that it was asked about. It is not asked for an admin. */
  permissions: ReadonlyMap<bigint, RepositoryPermission>;
};

/** A plan that the viewer may see: as an admin of the owner, or because they can read every repository that it matches. */
export type PlanVisit = OwnerVisit & { plan: StoredPlan; ending: PlanEnding | null };

/** About how many private and public repositories GitHub is asked for a viewer who is not an admin of the owner. */
const mostViewerAsked = 20;
const mostPublicAsked = 10;
const viewersSideBySide = 5;

/**
 * Handles a page of the owner of the path (`:owner`), with the repositories that the viewer can read. A viewer who can
 * read none of them gets the same answer as for an unknown owner.
 */
export const ownerPage = (
  given: PageDeps,
  show: (visit: OwnerVisit) => Response | Promise<Response>,
  recency: Recency = {},
): Handler =>
  openPage(given, async (visit) => {
    const opened = await openOwner(visit, recency);
    if (!opened || seesNothing(opened)) return absentOrSignIn(visit);
    const { viewer } = opened;
    return show({ ...opened, viewer: viewer && { ...viewer, opens: opensOfSeen({ ...opened, viewer }) } });
  });

/** Whether a viewer can read nothing of an owner. */
export const seesNothing = ({ isAdmin, repositories, archived }: SeenRepositories): boolean =>
  !isAdmin && repositories.length + archived.length === 0;

/** The same with archived repositories among the others: for rights, and for logs. */
export const withArchived = <S extends Pick<SeenRepositories, 'repositories' | 'archived'>>(seen: S): S => ({
  ...seen,
  repositories: [...seen.repositories, ...seen.archived],
});

async function openOwner(visit: Visit, recency: Recency): Promise<OwnerVisit | null> {
  const account = await ownerOfPath(visit);
  if (!account) return null;
  return seeOwner({ ...visit, account }, await repositoriesOfAccount(visit.deps, account.id), { recency });
}

/** Handles a page of the plan of the path (`:plan`), if the viewer may see it. */
export const planPage = (
  given: PageDeps,
  show: (visit: PlanVisit) => Response | Promise<Response>,
  recency?: Recency,
): Handler =>
  ownerPage(
    given,
    async (visit) => {
      const id = uuidOf(visit, 'plan');
      const found = id && (await findShownPlan(visit, id));
      return found ? show({ ...visit, ...found }) : absentPage(visit);
    },
    recency,
  );

/** Handles the page with a form that freezes or unfreezes: only people who may do that get to it. */
export const freezerPage = (
  given: PageDeps,
  show: (visit: OwnerVisit) => Response | Promise<Response>,
  recency?: Recency,
): Handler =>
  ownerPage(
    given,
    (visit) => {
      const { context, viewer, account, mayFreeze } = visit;
      if (!viewer) return signInFirst(visit);
      if (mayFreeze !== false) return show(visit);
      const { login } = account;
      const title = 'You cannot freeze here';
      const text = `On GitHub, you aren't an admin of ${login} or of a repository of ${login} that you can see, and you don't have the role freezer there. Ask one of its admins. To get a single pull request through a freeze, request an exemption on its page.`;
      const link = { href: ownerPath(login), text: 'Back to the overview' };
      return messagePage(context, { status: 403, title, text, link }, viewer);
    },
    recency,
  );

/**
 * The repositories of an owner whose inside the viewer sees, archived ones too: as an admin, and by a role. For an admin of
 * the owner, all are administered.
 */
export async function insideOf(
  visit: OwnerVisit & { viewer: Person },
): Promise<Record<'administered' | 'byRole', RepositoryState[]>> {
  const all = withArchived(visit);
  const administered = repositoriesFor(all, ['admin']);
  if (visit.isAdmin) return { administered, byRole: [] };
  const withRole = await idsWithRole({ ...all, viewer: visit.viewer }, ['freezer', 'approver']);
  const byRole = repositoriesFor(all, [], withRole).filter((each) => !administered.includes(each));
  return { administered, byRole };
}

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
export async function plansShownTo(visit: OwnerVisit): Promise<(plan: StoredPlan) => boolean> {
  const { deps, account, repositories, archived, isAdmin } = visit;
  if (isAdmin) return () => true;
  const readable = new Set([...repositories, ...archived].map(({ id }) => id));
  const all = await repositoriesOfOwner(deps.sql, account.id);
  return (plan) => {
    const matched = namedBy(plan, all);
    return matched.length > 0 && matched.every(({ id }) => readable.has(id));
  };
}

type SeenRepositories = Pick<
  OwnerVisit,
  'repositories' | 'archived' | 'isAdmin' | 'isPartial' | 'mayFreeze' | 'permissions'
>;

/** The repositories where the viewer has one of these permissions, and these others. */
export const repositoriesFor = (
  { repositories, isAdmin, permissions }: SeenRepositories,
  allowed: RepositoryPermission[],
  others: ReadonlySet<bigint> = new Set(),
): RepositoryState[] =>
  isAdmin
    ? repositories
    : repositories.filter(({ id }) => allowed.includes(permissions.get(id) ?? 'none') || others.has(id));

async function split(
  deps: PageDeps,
  seen: RepositoryState[],
  isAdmin = false,
): Promise<Pick<SeenRepositories, 'repositories' | 'archived'>> {
  const insides = new Set(seen.filter((each) => isAdmin || each.private).map(({ id }) => id));
  const { used, archived } = usedAmong(await withBlocked(deps, seen, insides));
  return { repositories: used, archived };
}

const nobody = { isAdmin: false, isPartial: false, mayFreeze: false, permissions: new Map() } as const;

/**
 * What a viewer can read of an owner. Costs GitHub no question for visitors, and one for admins.
 * @param all the repositories of the owner.
 * @param options `mostPublic`: for how many public ones GitHub is asked whether the viewer may freeze them.
 */
export async function seeOwner<V extends Pick<OwnerVisit, 'deps' | 'viewer' | 'account'>>(
  visit: V,
  all: RepositoryState[],
  { mostPublic = mostPublicAsked, recency = {} }: { mostPublic?: number; recency?: Recency } = {},
): Promise<V & SeenRepositories> {
  const { deps, viewer, account } = visit;
  const open = all.filter((each) => !each.private);
  if (!viewer) return { ...visit, ...nobody, ...(await split(deps, open)) };
  if (await deps.permissions.isOwnerAdmin(deps, viewer, account, recency)) {
    await rememberReader(deps, viewer);
    return { ...visit, ...nobody, ...(await split(deps, all, true)), isAdmin: true, mayFreeze: true };
  }
  const closed = all.filter((each) => each.private);
  const asked = [...closed.slice(0, mostViewerAsked), ...open.slice(0, mostPublic)];
  const permissions = await permissionsOf(deps, viewer, asked, recency);
  const isSeen = (each: RepositoryState) => !each.private || permissions.has(each.id);
  const mayFreezeOne = async () =>
    [...permissions.values()].includes('admin') ||
    (await isOwnerFreezer(deps, viewer, account, recency)) ||
    (await idsWithRole({ deps, viewer, account, permissions }, ['freezer'], recency)).size > 0;
  const mayFreeze = await unlessUnsaid(mayFreezeOne());
  return {
    ...visit,
    ...(await split(deps, all.filter(isSeen))),
    isAdmin: false,
    // True for everybody but admins, so that it does not reveal whether private repositories exist.
    isPartial: true,
    permissions,
    mayFreeze: mayFreeze || ((mayFreeze === null || open.length > mostPublic) && 'unknown'),
  };
}

/**
 * The repositories of an owner in which the viewer has one of these roles, of those that GitHub was asked about.
 * @throws Refusal unavailable or too-many-requests if GitHub says of none now that they have.
 */
export async function idsWithRole(
  visit: Pick<OwnerVisit, 'deps' | 'account' | 'permissions'> & { viewer: Person },
  wanted: Role[],
  recency: Recency = {},
): Promise<Set<bigint>> {
  const { deps, viewer, account, permissions } = visit;
  const place = { account, installation: account.installation };
  const settings = await readSettingsOfAll(deps.db, [...permissions.keys()]);
  const found = new Set<bigint>();
  let unsaid: Refusal | null = null;
  for (const role of wanted) {
    // Most repositories have the same list.
    const lists = Map.groupBy(settings, ([, { [roles[role]]: holders }]) => JSON.stringify(holders));
    for (const those of lists.values()) {
      const { [roles[role]]: holders } = those[0]![1];
      const isOne = await isAmongRepositories(deps, viewer, place, holders, recency).catch(
        refusedIf('unavailable', 'too-many-requests'),
      );
      if (isOne instanceof Refusal) unsaid = isOne;
      else if (isOne) for (const [id] of those) found.add(id);
    }
  }
  if (unsaid && found.size === 0) throw unsaid;
  return found;
}

/** What GitHub lets a person do with repositories. Leaves out those without access, and those that GitHub cannot be asked about now. */
export async function permissionsOf(
  deps: PageDeps,
  viewer: Person,
  some: RepositoryState[],
  recency: Recency,
): Promise<Map<bigint, RepositoryPermission>> {
  const permissions = new Map<bigint, RepositoryPermission>();
  if (some.length === 0) return permissions;
  const found = await repositoriesOfIds(
    deps.sql,
    some.map(({ id }) => id),
  );
  await pLimit(viewersSideBySide).map(found, async (repository) => {
    try {
      const permission = await deps.permissions.ofRepository(deps, viewer, repository, recency);
      if (permission !== 'none') permissions.set(repository.id, permission);
    } catch (error) {
      if (!isTooManyRequests(error)) throw error;
    }
  });
  if (some.some((each) => each.private && permissions.has(each.id))) await rememberReader(deps, viewer);
  return permissions;
}
