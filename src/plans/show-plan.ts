import type { Tx } from '../database/database.ts';
import { throughPrisma } from '../database/sql.ts';
import { fromRow } from '../freezes/freeze-columns.ts';
import { notEnded } from '../freezes/freeze-store.ts';
import { warningsOfDeployments } from '../freezes/freeze-warnings.ts';
import { holdsDeployments, type StoredFreeze } from '../freezes/freeze.ts';
import type { Account } from '../generated/prisma/client.ts';
import { next } from './keep-plan.ts';
import type { Matched, PlanRepository } from './matched-repositories.ts';
import {
  exceptionsOfNothing,
  firstOccurrence,
  hoursIn,
  type Occurrence,
  type Schedule,
  windowsOf,
} from './occurrences.ts';
import type { StoredPlan } from './plan-store.ts';
import { datesLeftOut } from './repetition.ts';
import type { Plan } from './plan.ts';

/** A plan with its current repositories and occurrences. */
export type ShownPlan = {
  plan: StoredPlan;
  matched: number;
  /** Full names of the repositories where a freeze could hold nothing. */
  notEnforced: string[];
  /** The archived repositories that it matches, by name. They are skipped, and counted nowhere. */
  archived: string[];
  nextOccurrences: Occurrence[];
  detached: Detached[];
};

/** A freeze of a plan that was changed or deleted separately and is not over. It no longer belongs to the plan. */
type Detached = { repository: string; freezeId: string; start: string };

/** A plan that was created or changed. @property warnings in sentences. */
export type SavedPlan = ShownPlan & { warnings: string[] };

/** How many occurrences are shown, the ongoing one first. */
export const mostShown = 10;

export async function loadPlan(
  tx: Tx,
  account: Pick<Account, 'login'>,
  plan: StoredPlan,
  now: Date,
  { used, archived }: Matched<PlanRepository>,
): Promise<ShownPlan> {
  return {
    plan,
    matched: used.length,
    archived: archived.map(({ name }) => name),
    notEnforced: used.flatMap(({ name, isFreezable }) => (isFreezable ? [] : [`${account.login}/${name}`])),
    nextOccurrences: next(plan, now, mostShown),
    detached: await detachedFreezes(tx, plan.id, now),
  };
}

async function detachedFreezes(tx: Tx, planId: string, now: Date): Promise<Detached[]> {
  const rows = await tx.freeze.findMany({
    where: { planId, detached: true, OR: [{ endsAt: null }, { endsAt: { gt: now } }] },
    select: {
      id: true,
      start: true,
      repository: { select: { name: true, account: { select: { login: true } } } },
    },
    orderBy: [{ startsAt: 'asc' }, { repositoryId: 'asc' }],
  });
  return rows.map(({ id, start, repository }) => ({
    repository: `${repository.account.login}/${repository.name}`,
    freezeId: id,
    start,
  }));
}

/** The ongoing freezes of a plan in its owner's repositories that are not archived, including separately changed ones. */
export async function ongoingFreezes(
  tx: Tx,
  { id, accountId }: Pick<Plan, 'id' | 'accountId'>,
  now: Date,
): Promise<StoredFreeze[]> {
  const repository = { accountId, archived: false };
  const where = { planId: id, repository, startsAt: { lte: now }, ...notEnded(now) };
  return (await tx.freeze.findMany({ where, orderBy: { id: 'asc' } })).map(fromRow);
}

/** How many repositories a sentence names, and how many sentences of one kind there are. */
const mostRepositoriesNamed = 3;
const mostSentencesOfKind = 5;

/** An end that repositories give to freezes of a plan without an end, earliest first. */
type Some = { end: string; count: number; names: string[] };

/**
 * Warnings for a plan without an end whose freezes get an end from their repositories. The freezes are already saved.
 * @param places the repositories that should have got freezes just now; empty for a change.
 * @returns sentences; none if no freeze got an end.
 */
export async function warnOfGivenEnds(
  tx: Tx,
  plan: Plan,
  places: PlanRepository[],
  now: Date,
): Promise<string[]> {
  if (plan.end !== null) return [];
  const ends = await throughPrisma(tx).query<Some>(
    'given-ends',
    `SELECT f."end", count(*)::int AS count, (array_agg(r.name ORDER BY r.name_key))[1:$3::int] AS names
     FROM freezes f JOIN repositories r ON r.id = f.repository_id
     WHERE f.plan_id = $2::uuid AND NOT detached AND deleted_at IS NULL AND f.ends_at > $1::timestamptz
     GROUP BY f."end" ORDER BY min(f.ends_at)`,
    [now, plan.id, mostRepositoriesNamed],
  );
  return [...sentences(ends, endsThere), ...sentences(missed(plan, places, now), makesNone)];
}

/** The same for a plan that is not saved. @param places the matching repositories. */
export function foreseeGivenEnds(plan: Schedule, places: PlanRepository[], now: Date): string[] {
  if (plan.end !== null) return [];
  return [
    ...sentences(
      given(plan, places, (endsAt) => endsAt > now),
      endsThere,
    ),
    ...sentences(missed(plan, places, now), makesNone),
  ];
}

/** Warnings about dates that the rule never has, and about skipped ones on which the plan starts nothing anyway. */
export function warnOfDates(plan: Schedule): string[] {
  const all = exceptionsOfNothing(plan);
  const more = all.length - mostSentencesOfKind;
  return [
    ...(plan.recurrence ? datesLeftOut(plan.recurrence.rule, plan.start) : []),
    ...all
      .slice(0, mostSentencesOfKind)
      .map(
        ({ date, nearest }) =>
          `The plan skips ${date} (\`except\`), but no freeze would start on that date. The nearest start is on ${nearest}.`,
      ),
    ...(more > 0 ? [`So it is with ${more} more skipped dates.`] : []),
  ];
}

/** Warnings about the deployments that a plan holds. @param occurrences its next ones. */
export async function warnOfDeployments(
  tx: Tx,
  plan: Omit<Plan, 'id'>,
  occurrences: Occurrence[],
): Promise<string[]> {
  if (!holdsDeployments(plan)) return [];
  const where = { accountId: plan.accountId, deletedAt: null };
  const installation = await tx.installation.findFirst({ where, select: { permissions: true } });
  const warnings = warningsOfDeployments(plan, occurrences, installation?.permissions ?? {});
  return warnings.map(({ message }) => message);
}

const endsThere = ({ end }: Some): string => `there this plan ends at ${end}.`;
const makesNone = ({ end }: Some): string => `there it would have ended at ${end}, so it makes none.`;

/** Repositories where it creates nothing, because the freeze would be over at once. */
const missed = (plan: Schedule, all: PlanRepository[], now: Date): Some[] =>
  given(plan, all, (endsAt) => endsAt <= now);

/** Repositories that give the plan's first window an end of the wanted kind. */
function given(plan: Schedule, all: PlanRepository[], isWanted: (endsAt: Date) => boolean): Some[] {
  const places = Map.groupBy(
    all.filter(({ isFreezable }) => isFreezable),
    (place) => hoursIn(plan, place),
  );
  const wanted = windowsOf(plan, [firstOccurrence(plan)!], places.keys()).filter(
    ({ endsAt }) => endsAt !== null && isWanted(endsAt),
  );
  return wanted.map(({ end, hours }) => {
    const names = places.get(hours)!.map(({ name }) => name);
    return { end: end!, count: names.length, names: names.slice(0, mostRepositoriesNamed) };
  });
}

function sentences(all: Some[], what: (some: Some) => string): string[] {
  const more = all.slice(mostSentencesOfKind).reduce((sum, { count }) => sum + count, 0);
  return [
    ...all.slice(0, mostSentencesOfKind).map((some) => `In ${listedNames(some)} ${isGiven}: ${what(some)}`),
    ...(more > 0 ? [`So it is in ${more} more repositories, at other times.`] : []),
  ];
}

const isGiven = 'a freeze without an end is given one (`longest_open_end_hours`)';

const listedNames = ({ names, count }: Some): string =>
  [...names, ...(count > names.length ? [`${count - names.length} more`] : [])]
    .join(', ')
    .replace(/, ([^,]*)$/, ' and $1');
