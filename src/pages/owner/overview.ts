import { waitingRequests } from '../../exemptions/exemption-store.ts';
import {
  type CurrentGroup,
  currentGroups,
  reasonOfPlan,
  soonWithin,
} from '../../explanations/freeze-groups.ts';
import { isNotEnforced, isUnknown, type RepositoryState } from '../../explanations/repository-states.ts';
import { freezePath, planPath } from '../../page-paths.ts';
import { repositoriesOfIds } from '../../installations/find-repository.ts';
import { next } from '../../plans/keep-plan.ts';
import type { Occurrence } from '../../plans/occurrences.ts';
import { matchedBy } from '../../plans/matched-repositories.ts';
import { listPlans } from '../../plans/plan-store.ts';
import { hiddenField } from '../form.ts';
import { frozenWord } from '../held.ts';
import type { Html } from '../html.ts';
import { mayAs, type PageDeps, type Viewer } from '../reader.ts';
import { exemptionRequest, type Standing } from '../status/exemption-forms.ts';
import { aboutListed, type RequestPlace } from '../status/request-card.ts';
import type { Times } from '../text.ts';
import {
  deploymentsOfGroup,
  type DeploymentsOfRow,
  type DeploymentsThere,
  deploymentsThere,
  holdsNoDeployments,
} from './held-deployments.ts';
import type { OwnerVisit } from './open-owner.ts';
import { type OwnHeld, type OwnPullRequest, ownPullRequests } from './own-pull-requests.ts';

/** An owner, with its repositories that the viewer can read. */
export type SeenOwner = Pick<
  OwnerVisit,
  'account' | 'isAdmin' | 'repositories' | 'archived' | 'mayFreeze' | 'permissions'
>;

/** A freeze, or what one plan does, in some repositories of an owner. */
export type OverviewRow = Pick<
  CurrentGroup,
  | 'planId'
  | 'reason'
  | 'startsAt'
  | 'endsAt'
  | 'firstEndsAt'
  | 'timezone'
  | 'createdBy'
  | 'repositories'
  | 'soon'
> & {
  owner: SeenOwner;
  /** Of up to three of its repositories. */
  names: string[];
  href: string;
  /** What is so now; null for what comes. */
  counts: CurrentGroup | null;
  /** What it holds of deployments, if it should hold any and the viewer may know it. */
  deployments: DeploymentsOfRow | null;
};

/** What is frozen now, what comes next, and what waits for the viewer, of one owner or of many. */
export type Overview = {
  frozen: OverviewRow[];
  coming: OverviewRow[];
  /** How many are frozen without a row, and whether more comes. */
  moreFrozen: number;
  moreComes: boolean;
  /** What the viewer may decide on. */
  requests: Html[];
  /** The viewer's own pull requests that freezes should hold. */
  mine: OwnPullRequest[];
  /** What is so in the repositories where freezes of deployments are ongoing. */
  deploymentsIn: ReadonlyMap<bigint, DeploymentsThere>;
};

/** How many repositories of a row are named. */
export const mostRowNames = 3;

/** How many rows each list has. */
const mostRows = 15;
const mostRequests = 20;
/** For how many repositories of others' owners GitHub is asked whether the viewer decides there. */
const mostForeignAsked = 5;

/** Reads an overview of owners. Takes a few statements for any number of repositories, and two more for each owner. */
export async function loadOverview(
  deps: PageDeps,
  viewer: Viewer,
  owners: SeenOwner[],
  times: Times,
): Promise<Overview> {
  const { now } = times;
  const placed: Place[] = owners.flatMap((owner) => owner.repositories.map((state) => ({ owner, state })));
  const places = new Map(placed.map((place) => [place.state.id, place]));
  const idsOf = (isIt: (place: Place) => boolean) => placed.filter(isIt).map(({ state }) => state.id);
  const isInside = ({ owner, state }: Place) => owner.isAdmin || state.private;
  const asked = {
    all: idsOf(() => true),
    inside: idsOf(isInside),
    notEnforced: idsOf((place) => isInside(place) && isNotEnforced(place.state)),
    unknown: idsOf(({ owner, state }) => owner.isAdmin && isUnknown(state)),
    login: viewer?.login ?? null,
  };
  const [{ ongoing, scheduled }, planned, requests] = await Promise.all([
    currentGroups(deps, asked, now, mostRows),
    Promise.all(owners.map((owner) => plannedBy(deps, owner, now))),
    viewer ? requestsFor(deps, viewer, owners, times) : [],
  ]);
  const deployments = new Map(
    await Promise.all(
      ongoing.groups.map(async (group) => {
        const those = [...group.deploymentsIn.keys()].map((id) => places.get(id)!);
        const states = those.every(isInside) ? those.map(({ state }) => state) : [];
        return [group, await deploymentsOfGroup(deps, group, states)] as const;
      }),
    ),
  );
  const rowOf = (group: CurrentGroup, isOn: boolean): OverviewRow => {
    const [first] = group.repositoryIds as [bigint];
    const { owner } = places.get(first)!;
    const names = group.repositoryIds.map((id) => places.get(id)!.state.name);
    return {
      ...group,
      owner,
      names,
      href: pathOf(group, owner, names[0]!),
      counts: isOn ? group : null,
      deployments: deployments.get(group) ?? null,
    };
  };
  const made = new Set(scheduled.groups.map(({ planId }) => planId));
  const coming = [
    ...scheduled.groups.map((group) => rowOf(group, false)),
    ...planned.flat().filter(({ planId }) => !made.has(planId)),
  ].toSorted(earliestFirst);
  const mine = new Map<string, OwnHeld>();
  for (const group of ongoing.groups)
    for (const { repositoryId, ...each } of group.mine) {
      const { owner, state } = places.get(BigInt(repositoryId))!;
      const key = `${repositoryId} ${each.number}`;
      const by = [...(mine.get(key)?.by ?? []), rowOf(group, true)];
      mine.set(key, { ...each, state, owner, by });
    }
  return {
    mine: await ownPullRequests(deps, viewer, [...mine.values()]),
    frozen: ongoing.groups.map((group) => rowOf(group, true)),
    coming: coming.slice(0, mostRows),
    moreFrozen: ongoing.total - ongoing.groups.length,
    moreComes: coming.length > mostRows || scheduled.total > scheduled.groups.length,
    requests,
    deploymentsIn: deploymentsThere(
      placed.map(({ state }) => state),
      [...deployments.values()],
    ),
  };
}

type Place = { owner: SeenOwner; state: RepositoryState };

/** The word of the tab. */
export const frozenIn = ({ frozen }: Overview): string | null =>
  frozenWord(
    frozen
      .filter(({ deployments }) => !holdsNoDeployments(deployments))
      .map(({ counts }) => counts?.holdsMerges ?? true),
  );

const earliestFirst = (one: { startsAt: Date }, other: { startsAt: Date }): number =>
  one.startsAt.getTime() - other.startsAt.getTime();

/** The page of a group: of its plan, if it froze several repositories and the viewer may see the plan; else of its first freeze. */
export const pathOf = (
  { id, planId, repositories }: Pick<CurrentGroup, 'id' | 'planId' | 'repositories'>,
  { account, isAdmin }: Pick<SeenOwner, 'account' | 'isAdmin'>,
  name: string,
): string =>
  planId && isAdmin && repositories > 1 ? planPath(account.login, planId) : freezePath({ name, account }, id);

/** For admins of an owner: what its plans do next, whether or not the freezes exist already. */
async function plannedBy(deps: PageDeps, owner: SeenOwner, now: Date): Promise<OverviewRow[]> {
  if (!owner.isAdmin) return [];
  const coming = (await listPlans(deps.db, owner.account.id, now)).flatMap((plan) => {
    const comes = next(plan, now, 2).find(({ startsAt }) => startsAt > now);
    return comes ? [{ ...plan, ...comes }] : [];
  });
  // Lazy: there may be thousands of repositories to match.
  return coming
    .toSorted(earliestFirst)
    .values()
    .map((plan) => ({ plan, matched: matchedBy(plan, owner.repositories).used }))
    .filter(({ matched }) => matched.length > 0)
    .take(mostRows)
    .map(({ plan, matched }) => ({
      ...plan,
      reason: reasonOfPlan(plan),
      planId: plan.id,
      firstEndsAt: plan.endsAt,
      soon: soonOf(plan, now),
      owner,
      repositories: matched.length,
      names: matched.slice(0, mostRowNames).map(({ name }) => name),
      href: planPath(owner.account.login, plan.id),
      ...{ counts: null, deployments: null },
    }))
    .toArray();
}

const soonOf = ({ startsAt, endsAt }: Occurrence, now: Date): OverviewRow['soon'] =>
  startsAt.getTime() < now.getTime() + soonWithin
    ? [[startsAt.toISOString(), endsAt?.toISOString() ?? null]]
    : [];

/** The requests that wait for the viewer's decision, in repositories where they decide, with the buttons. */
async function requestsFor(
  deps: PageDeps,
  viewer: NonNullable<Viewer>,
  owners: SeenOwner[],
  times: Times,
): Promise<Html[]> {
  const withRequests = (of: SeenOwner[]): RequestPlace[] =>
    of.flatMap(({ account, repositories }) =>
      repositories
        .filter(({ requests }) => requests > 0)
        .map(({ id, name }) => ({ id, name, account: { login: account.login } })),
    );
  const own = withRequests(owners.filter(({ isAdmin }) => isAdmin));
  const others = withRequests(owners.filter(({ isAdmin }) => !isAdmin)).slice(0, mostForeignAsked);
  if (own.length + others.length === 0) return [];
  const asked =
    others.length === 0
      ? []
      : await repositoriesOfIds(
          deps.sql,
          others.map(({ id }) => id),
        );
  const decided = await Promise.all(
    asked.map((repository) => mayAs({ deps, viewer, repository }, 'approver')),
  );
  const theirs = new Map<bigint, RequestPlace>(
    [...own, ...asked.filter((_, index) => decided[index])].map((each) => [each.id, each]),
  );
  const exemptions = await waitingRequests(deps.db, [...theirs.keys()], viewer.id, times.now, mostRequests);
  const listed = exemptions.map((exemption) => ({
    exemption,
    repository: theirs.get(exemption.repositoryId)!,
  }));
  const about = await aboutListed(deps, listed, times);
  // What takes a second person, and is the viewer's own, is not among them.
  const standing: Standing = {
    ...{ viewer, permission: 'write', mayDecide: true },
    ...{ isForTwo: false, approvers: [], maySignIn: true },
  };
  return listed.map((each) =>
    exemptionRequest(each.exemption, each.repository, standing, times, {
      sent: hiddenField('from_list', 'yes'),
      about: about(each),
      isListed: true,
    }),
  );
}
