import { Temporal } from 'temporal-polyfill';
import { freezeGroupsWithin, reasonOfPlan } from '../../explanations/freeze-groups.ts';
import { occurrencePath, planPath } from '../../page-paths.ts';
import { matchedBy } from '../../plans/matched-repositories.ts';
import { isOnce, occurrencesFrom, occurrencesToMake } from '../../plans/occurrences.ts';
import { listPlans, type StoredPlan } from '../../plans/plan-store.ts';
import { toLocalTime } from '../../time/local-time.ts';
import type { OwnerVisit } from '../owner/open-owner.ts';
import { pathOf } from '../owner/overview.ts';
import { type CalendarWindow, dayOf, type Stay } from './calendar-window.ts';

/** One bar of a calendar: a freeze, what a plan did to many repositories at once, or what a plan will do. */
export type CalendarEntry = Stay & {
  /** The reason. */
  text: string;
  /** The first and the last end of what is one bar; null for none. */
  firstEndsAt: Date | null;
  endsAt: Date | null;
  state: 'scheduled' | 'ongoing' | 'ended' | 'planned';
  /** In how many of the chosen repositories. */
  repositories: number;
  /** The first names of them, at most three. */
  names: string[];
  href: string;
  planId: string | null;
  /** Where the viewer changes this occurrence alone; null if it is over, is all that its plan does, or is not theirs to change. */
  change: string | null;
};

/** What is ongoing is shown before what comes, and that before what is over. */
const ranks: Record<CalendarEntry['state'], number> = { ongoing: 0, scheduled: 1, planned: 1, ended: 2 };

/** The most freezes, or groups of them, of one calendar. */
export const mostEntries = 400;
/** The most repositories of an entry that are named. */
const mostEntryNames = 3;
/** The most occurrences of one plan. */
const mostOfPlan = 100;

type Span = Pick<CalendarWindow, 'from' | 'to' | 'zone'>;

/**
 * What a calendar shows, the earliest first: each freeze of some repositories, one entry for what a plan did to many at
 * once, and for admins of the owner what plans will do later, when their freezes do not exist yet.
 */
export async function loadCalendar(
  visit: OwnerVisit,
  chosen: OwnerVisit['repositories'],
  span: Span,
  now: Date,
): Promise<CalendarEntry[]> {
  const { deps, account, isAdmin } = visit;
  const inside = chosen.filter((each) => isAdmin || each.private).map(({ id }) => id);
  const ids = chosen.map(({ id }) => id);
  const [groups, plans] = await Promise.all([
    freezeGroupsWithin(deps.db, ids, inside, span, mostEntries),
    isAdmin && span.to > now ? listPlans(deps.db, account.id, now) : [],
  ]);
  const nameOf = new Map(chosen.map(({ id, name }) => [id, name]));
  const exist = groups.map((group): CalendarEntry => {
    const { startsAt, firstEndsAt, endsAt, reason: text, repositories } = group;
    const names = group.repositoryIds.map((id) => nameOf.get(id)!);
    const href = pathOf(group, visit, names[0]!);
    const state = startsAt > now ? 'scheduled' : endsAt && endsAt <= now ? 'ended' : 'ongoing';
    const { planId } = group;
    const plan = state === 'ended' ? undefined : plans.find(({ id }) => id === planId);
    const change = plan ? changeOf(plan, account.login, startsAt) : null;
    const what = { text, state, repositories, names, href, planId, change } as const;
    return { ...daysOf(startsAt, endsAt, span.zone), rank: ranks[state], firstEndsAt, endsAt, ...what };
  });
  const planned = plans.flatMap((plan) => {
    const matched = matchedBy(plan, chosen).used;
    return matched.length > 0 ? plannedBy(plan, account.login, matched, span, now) : [];
  });
  return [...exist, ...planned].toSorted((one, other) => one.startsAt.getTime() - other.startsAt.getTime());
}

const changeOf = (plan: StoredPlan, login: string, startsAt: Date): string | null =>
  isOnce(plan) ? null : occurrencePath(login, plan.id, toLocalTime(startsAt, plan.timezone));

/** The occurrences of a plan in a span whose freezes do not exist yet. */
function plannedBy(
  plan: StoredPlan,
  login: string,
  matched: { name: string }[],
  span: Span,
  now: Date,
): CalendarEntry[] {
  const made = new Set(occurrencesToMake(plan, now).map(({ key }) => key));
  return occurrencesFrom(plan, span.from > now ? span.from : now)
    .take(mostOfPlan)
    .filter(({ startsAt, key, isMoved }) => startsAt < span.to && !made.has(key) && !isMoved)
    .map(({ startsAt, endsAt }): CalendarEntry => ({
      ...daysOf(startsAt, endsAt, span.zone),
      rank: ranks.planned,
      firstEndsAt: endsAt,
      endsAt,
      text: reasonOfPlan(plan),
      state: 'planned',
      repositories: matched.length,
      names: matched.slice(0, mostEntryNames).map(({ name }) => name),
      href: planPath(login, plan.id),
      planId: plan.id,
      change: changeOf(plan, login, startsAt),
    }))
    .toArray();
}

/** The days in a zone on which something is on. What ends at midnight does not touch the next day. */
function daysOf(startsAt: Date, endsAt: Date | null, zone: string): Omit<Stay, 'rank'> {
  const firstDay = dayOf(startsAt, zone);
  const end = endsAt && dayOf(new Date(endsAt.getTime() - 1), zone);
  const lastDay = end && (Temporal.PlainDate.compare(end, firstDay) < 0 ? firstDay : end);
  return { startsAt, firstDay, lastDay };
}
