import { html } from 'hono/html';
import type { SignedIn } from '../../auth/sign-in/sessions.ts';
import { type ExemptionRecord, waitingRequests } from '../../freezes/exemptions/exemption-store.ts';
import { type CurrentGroup, currentGroups, reasonOfPlan } from '../../explanations/freeze-groups.ts';
import { isNotEnforced, isUnknown } from '../../explanations/repository-states.ts';
import {
  calendarPath,
  freezePath,
  ownerPath,
  planPath,
  repositoryPath,
} from '../../installations/page-paths.ts';
import { type FoundRepository, repositoriesOfIds } from '../../installations/find-repository.ts';
import { next } from '../../plans/keep-plan.ts';
import { matchedBy } from '../../plans/matched-repositories.ts';
import { listPlans } from '../../plans/plan-store.ts';
import { mayAs, type PageDeps } from '../reader.ts';
import type { OwnerVisit } from './open-owner.ts';
import { actorName } from '../../events/actor.ts';
import { countOf } from '../freeze-now/plan-preview.ts';
import { frozenWord } from '../held.ts';
import type { Html } from '../layout.ts';
import { shorten } from '../../events/event-words.ts';
import { instant, quoted, type Times } from '../text.ts';
import { exemptionLink } from '../status/exemption-forms.ts';

/** An owner, with its repositories that the viewer can read. */
export type SeenOwner = Pick<OwnerVisit, 'account' | 'isAdmin' | 'repositories' | 'mayFreeze'>;

/** A freeze, or what one plan does, in some repositories of an owner. */
type Row = Pick<
  CurrentGroup,
  'reason' | 'startsAt' | 'endsAt' | 'endsDiffer' | 'timezone' | 'createdBy' | 'repositories'
> & {
  owner: SeenOwner;
  /** Of up to three of its repositories. */
  names: string[];
  href: string;
  /** What is so now; null for what comes. */
  counts: CurrentGroup | null;
};

/** What is frozen now, what comes next, and what waits for the viewer, of one owner or of many. */
export type Overview = {
  frozen: Row[];
  coming: Row[];
  /** How many are frozen without a row, and whether more comes. */
  moreFrozen: number;
  moreComes: boolean;
  /** What the viewer may decide on. */
  requests: { exemption: ExemptionRecord; repository: FoundRepository }[];
};

/** How many repositories of a row are named. */
const mostNames = 3;

/** How many rows each list has. */
const mostRows = 15;
const mostRequests = 20;
/** For how many repositories of others' owners GitHub is asked whether the viewer decides there. */
const mostAsked = 5;

/** Reads an overview of owners. Takes a few statements for any number of repositories, and two more for each owner. */
export async function loadOverview(
  deps: PageDeps,
  viewer: SignedIn | null,
  owners: SeenOwner[],
  now: Date,
): Promise<Overview> {
  const placed = owners.flatMap((owner) => owner.repositories.map((state) => ({ owner, state })));
  const places = new Map(placed.map((place) => [place.state.id, place]));
  const idsOf = (isIt: (place: (typeof placed)[number]) => boolean) =>
    placed.filter(isIt).map(({ state }) => state.id);
  const isInside = ({ owner, state }: (typeof placed)[number]) => owner.isAdmin || state.private;
  const asked = {
    all: idsOf(() => true),
    inside: idsOf(isInside),
    notEnforced: idsOf((place) => isInside(place) && isNotEnforced(place.state)),
    unknown: idsOf(({ owner, state }) => owner.isAdmin && isUnknown(state)),
  };
  const [ongoing, scheduled, planned, requests] = await Promise.all([
    currentGroups(deps.db, 'ongoing', asked, now, mostRows),
    currentGroups(deps.db, 'scheduled', asked, now, mostRows),
    Promise.all(owners.map((owner) => plannedBy(deps, owner, now))),
    viewer ? requestsFor(deps, viewer, owners, now) : [],
  ]);
  const rowOf = (group: CurrentGroup, isOn: boolean): Row => {
    const [first] = group.repositoryIds as [bigint];
    const { owner } = places.get(first)!;
    const names = group.repositoryIds.map((id) => places.get(id)!.state.name);
    return { ...group, owner, names, href: pathOf(group, owner, names[0]!), counts: isOn ? group : null };
  };
  const made = new Set(scheduled.groups.map(({ planId }) => planId));
  const coming = [
    ...scheduled.groups.map((group) => rowOf(group, false)),
    ...planned.flat().filter(({ planId }) => !made.has(planId)),
  ].toSorted(earliestFirst);
  return {
    frozen: ongoing.groups.map((group) => rowOf(group, true)),
    coming: coming.slice(0, mostRows),
    moreFrozen: ongoing.total - ongoing.groups.length,
    moreComes: coming.length > mostRows || scheduled.total > scheduled.groups.length,
    requests,
  };
}

/** The word of the tab. */
export const frozenIn = ({ frozen }: Overview): string | null =>
  frozenWord(frozen.map(({ counts }) => counts?.holdsMerges ?? true));

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
async function plannedBy(deps: PageDeps, owner: SeenOwner, now: Date): Promise<(Row & { planId: string })[]> {
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
      endsDiffer: false,
      owner,
      repositories: matched.length,
      names: matched.slice(0, mostNames).map(({ name }) => name),
      href: planPath(owner.account.login, plan.id),
      counts: null,
    }))
    .toArray();
}

/** The requests that wait for the viewer's decision, in repositories where they decide. */
async function requestsFor(
  deps: PageDeps,
  viewer: SignedIn,
  owners: SeenOwner[],
  now: Date,
): Promise<Overview['requests']> {
  const withRequests = (owner: SeenOwner) => owner.repositories.filter(({ requests }) => requests > 0);
  const ids = (of: SeenOwner[]) => of.flatMap(withRequests).map(({ id }) => id);
  const own = ids(owners.filter(({ isAdmin }) => isAdmin));
  const others = ids(owners.filter(({ isAdmin }) => !isAdmin)).slice(0, mostAsked);
  if (own.length + others.length === 0) return [];
  const repositories = await repositoriesOfIds(deps.sql, [...own, ...others]);
  const decided = await Promise.all(
    repositories.map(
      async (each) => own.includes(each.id) || (await mayAs({ deps, viewer, repository: each }, 'approver')),
    ),
  );
  const theirs = repositories.filter((_, index) => decided[index]);
  const theirIds = theirs.map(({ id }) => id);
  const exemptions = await waitingRequests(deps.db, theirIds, viewer.id, now, mostRequests);
  return exemptions.map((exemption) => ({
    exemption,
    repository: theirs.find(({ id }) => id === exemption.repositoryId)!,
  }));
}

/** The lists of an overview. @param isOfMany whether it is about several owners, so that each row names its own. */
export function overviewLists(
  { frozen, coming, moreFrozen, moreComes, requests }: Overview,
  times: Times,
  isOfMany: boolean,
): Html {
  return html`${requests.length > 0 ? decisions(requests) : ''}
    <section aria-labelledby="frozen">
      <h2 id="frozen">Frozen now</h2>
      ${frozen.length > 0 ? table(frozen, times, isOfMany) : html`<p class="muted">Nothing is frozen.</p>`}
      ${moreFrozen > 0 ? html`<p>And ${moreFrozen} more: ${linksOf(frozen, frozenPath)}</p>` : ''}
    </section>
    <section aria-labelledby="next">
      <h2 id="next">Next</h2>
      ${coming.length > 0 ? table(coming, times, isOfMany) : html`<p class="muted">Nothing is scheduled.</p>`}
      ${moreComes ? html`<p>See more in the calendar: ${linksOf(coming, calendarPath)}</p>` : ''}
    </section>`;
}

/** A link for each owner of some rows. */
function linksOf(rows: Row[], pathTo: (login: string) => string): Html[] {
  const logins = [...new Set(rows.map(({ owner }) => owner.account.login))];
  return logins.map((login, index) => html`${index > 0 ? ', ' : ''}<a href="${pathTo(login)}">${login}</a>`);
}

const frozenPath = (login: string): string => `${ownerPath(login)}?state=frozen#repositories`;

const decisions = (requests: Overview['requests']): Html =>
  html`<section aria-labelledby="decide">
    <h2 id="decide">Waiting for your decision</h2>
    <ul class="log">
      ${requests.map(
        ({ exemption, repository }) =>
          html`<li>
            ${exemptionLink(exemption, repository)}
            <bdi>${actorName(exemption.requestedBy)}</bdi> requests an exemption: ${quoted(exemption.reason)}
          </li>`,
      )}
    </ul>
  </section>`;

const table = (rows: Row[], times: Times, isOfMany: boolean): Html =>
  html`<table class="stacked freezes">
    <tbody>
      ${rows.map((row) => rowOf(row, times, isOfMany))}
    </tbody>
  </table>`;

function rowOf(row: Row, times: Times, isOfMany: boolean): Html {
  const { reason, href, createdBy, counts } = row;
  const word = !counts ? 'Scheduled' : counts.holdsMerges ? 'Frozen' : 'Deployments frozen';
  return html`<tr>
    <th scope="row">
      <a href="${href}" dir="auto">${shorten(reason, 120)}</a>
      <div class="muted">
        ${whereOf(row, isOfMany)}${createdBy ? html`, by <bdi>${shorten(actorName(createdBy), 60)}</bdi>` : ''}
      </div>
    </th>
    <td>
      <span class="badge ${counts ? 'held' : 'scheduled'}">${word}</span>
      ${whenOf(row, times)}
    </td>
    <td>${counts ? countsOf(counts) : ''}</td>
  </tr>`;
}

/** The repositories of a row. The count of many leads to where they are. */
function whereOf({ owner, names, repositories, href, counts }: Row, isOfMany: boolean): Html {
  const { account, isAdmin } = owner;
  if (repositories <= mostNames)
    return html`${names.map((name, index) => html`${index > 0 ? ', ' : ''}<a href="${repositoryPath({ name, account })}">${isOfMany ? `${account.login}/` : ''}${name}</a>`)}`;
  const list = counts ? frozenPath(account.login) : calendarPath(account.login);
  const count = countOf(repositories, 'repository', 'repositories');
  return html`<a href="${isAdmin ? href : list}">${count}${isOfMany ? ` of ${account.login}` : ''}</a>`;
}

const whenOf = ({ startsAt, endsAt, endsDiffer, timezone, counts }: Row, times: Times): Html =>
  html`${counts ? '' : html`from ${instant(startsAt, times, timezone)} `}${endsAt ? html`until ${instant(endsAt, times, timezone)}` : 'until removed'}
  ${endsDiffer ? html`<span class="muted">or earlier</span>` : ''}`;

/** How many pull requests are blocked, and what keeps it from holding. */
function countsOf(group: CurrentGroup): Html {
  if (!group.holdsMerges) return html``;
  const { held, waiting, leaking, toJudge, notEnforced, unknown } = group;
  const all = held + waiting + leaking;
  const of = (count: number) => countOf(count, 'repository', 'repositories');
  return html`${held === all ? countOf(held, 'pull request') : `${held} of ${countOf(all, 'pull request')}`}
  blocked ${leaking > 0 ? html`<span class="leaking">GitHub would merge ${leaking}</span>` : ''}
  ${toJudge > 0 ? html`<p class="muted">${of(toJudge)} not judged yet</p>` : ''}
  ${notEnforced > 0 ? html`<p class="leaking">Not enforced in ${of(notEnforced)}</p>` : ''}
  ${unknown > 0 ? html`<p class="muted">Not known to be enforced in ${of(unknown)}</p>` : ''}`;
}
