import pLimit from 'p-limit';
import { namesOfRepository } from '../github/names-of-repository.ts';
import { fullName, repositoriesOfIds } from '../installations/find-repository.ts';
import { within } from '../time/clock.ts';
import type { PlanRepository } from './matched-repositories.ts';
import type { Plan } from './plan.ts';
import type { FreezeDeps } from '../freezes/freeze-deps.ts';
import { globsOfNothing, namedEnvironments, unknownEnvironments } from '../freezes/freeze-warnings.ts';

/** How many repositories we ask GitHub about, how many at once, and for how many milliseconds. */
const mostEnvironmentsAsked = 50;
const repositoriesAskedAtOnce = 6;
const environmentsPatience = 2_000;

/**
 * Warns of environments that a plan names and its repositories do not have, as far as GitHub says so soon.
 * @param matched its repositories.
 * @returns sentences; never throws for GitHub.
 */
export async function warnOfEnvironments(
  deps: FreezeDeps,
  plan: Pick<Plan, 'holds' | 'environments'>,
  matched: PlanRepository[],
): Promise<string[]> {
  const named = namedEnvironments(plan);
  const freezable = matched.filter(({ isFreezable }) => isFreezable).slice(0, mostEnvironmentsAsked);
  if (named.length === 0 || freezable.length === 0) return [];
  const repositories = await repositoriesOfIds(
    deps.sql,
    freezable.map(({ id }) => id),
  );
  const places: { repository: string; names: string[] }[] = [];
  const isEnough = (names: string[]) => globsOfNothing(named, names).length === 0;
  const all = pLimit(repositoriesAskedAtOnce).map(repositories, async (repository) => {
    const names = await namesOfRepository(deps, repository, 'environments', isEnough);
    if (names) places.push({ repository: fullName(repository), names });
  });
  await within(environmentsPatience, all);
  const order = new Map(repositories.map((repository, index) => [fullName(repository), index]));
  return unknownEnvironments(
    named,
    places.toSorted((one, other) => order.get(one.repository)! - order.get(other.repository)!),
  );
}
