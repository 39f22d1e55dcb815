import type { Tx } from '../database/database.ts';
import type { PlanRepository } from './matched-repositories.ts';
import { firstOccurrence } from './occurrences.ts';
import type { Plan } from './plan.ts';
import { givenEnds } from './read-freezes.ts';
import { hoursIn, windowsOf } from './windows.ts';

/** Repositories that a sentence names, and sentences of one kind. */
const mostNamed = 3;
const mostSentences = 5;

type Some = { end: string; count: number; names: string[] };

/**
 * What to say of a plan without an end where repositories give its freezes one. Its freezes are saved already.
 * @param places where its freezes were to be made just now; none for a change.
 * @returns sentences; none where they all stay without.
 */
export async function warnOfGivenEnds(
  tx: Tx,
  plan: Plan,
  places: PlanRepository[],
  now: Date,
): Promise<string[]> {
  if (plan.end !== null) return [];
  const ends = await givenEnds(tx, plan.id, now, mostNamed);
  return [
    ...sentences(ends, ({ end }) => `there this plan ends at ${end}.`),
    ...sentences(
      missed(plan, places, now),
      ({ end }) => `there it would have ended at ${end}, so it makes none.`,
    ),
  ];
}

/** Where it makes nothing: it would be over at once. */
function missed(plan: Plan, all: PlanRepository[], now: Date): Some[] {
  const places = Map.groupBy(
    all.filter(({ isFreezable }) => isFreezable),
    (place) => hoursIn(plan, place),
  );
  const over = windowsOf(plan, [firstOccurrence(plan)!], places.keys()).filter(
    ({ endsAt }) => endsAt !== null && endsAt <= now,
  );
  return over.map(({ end, hours }) => {
    const names = places.get(hours)!.map(({ name }) => name);
    return { end: end!, count: names.length, names: names.slice(0, mostNamed) };
  });
}

function sentences(all: Some[], what: (some: Some) => string): string[] {
  const more = all.slice(mostSentences).reduce((sum, { count }) => sum + count, 0);
  return [
    ...all.slice(0, mostSentences).map((some) => `In ${listed(some)} ${given}: ${what(some)}`),
    ...(more > 0 ? [`So it is in ${more} more repositories, at other times.`] : []),
  ];
}

const given = 'a freeze without an end is given one (`longest_open_end_hours`)';

const listed = ({ names, count }: Some): string =>
  [...names, ...(count > names.length ? [`${count - names.length} more`] : [])]
    .join(', ')
    .replace(/, ([^,]*)$/, ' and $1');
