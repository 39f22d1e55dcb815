import { within } from '../../clock.ts';
import type { Deps } from '../../deps.ts';
import { branchEnforcement, knownEnforcement } from '../../explanations/enforcement/recent-enforcement.ts';
import { repositoriesOfIds } from '../../installations/repository-rows.ts';
import { byWeight, isNotEnforced, type RepositoryState } from './repository-states.ts';

/** Whether GitHub enforces a repository's freezes on its default branch; null while GitHub is being asked. */
export type Enforced = boolean | 'unknown' | null;

/**
 * Marks repositories where GitHub recently said that an ongoing freeze is not enforced, and puts them first. Asks
 * GitHub nothing.
 */
export async function withKnownEnforcement(deps: Deps, all: RepositoryState[]): Promise<RepositoryState[]> {
  const known = all.map(async (each) => {
    const enforced = each.ongoing > 0 ? await atOnce(knownEnforcement(deps, each.id, null)) : null;
    return { ...each, isUnenforced: enforced === false };
  });
  return (await Promise.all(known)).sort(byWeight);
}

/** The answer if it is known already; null if GitHub is being asked or was never asked. */
const atOnce = async (known: ReturnType<typeof knownEnforcement>): Promise<Enforced> =>
  Promise.race([known ?? null, null]);

/** About how many repositories one page load asks GitHub. The next load asks about the next ones. */
const mostAsked = 10;
/** How many milliseconds the page waits for all answers. Later answers show on the next load. */
const patience = 150;

/**
 * Whether freezes are enforced in the repositories with an ongoing or scheduled freeze. Answers are a few minutes old at
 * most.
 * @param rows the most important repositories first. @param branches the branches to check; null is the default branch.
 */
export async function enforcedOf(
  deps: Deps,
  rows: RepositoryState[],
  branches: (string | null)[] = [null],
): Promise<Map<bigint, Enforced>> {
  const interesting = rows.filter(({ ongoing, next }) => ongoing > 0 || next);
  const found = new Map<bigint, Enforced>();
  const asked: bigint[] = [];
  for (const row of interesting) {
    const known = branches.map((branch) => knownEnforcement(deps, row.id, branch));
    found.set(row.id, isNotEnforced(row) ? false : onAll(await Promise.all(known.map(atOnce))));
    if (!isNotEnforced(row) && known.includes(undefined) && asked.length < mostAsked) asked.push(row.id);
  }
  if (asked.length === 0) return found;
  const looks = (await repositoriesOfIds(deps.sql, asked)).map(async (repository) => {
    const words = branches.map((branch) => branchEnforcement(deps, repository, branch));
    found.set(repository.id, onAll(await Promise.all(words)));
  });
  await within(patience, Promise.all(looks));
  return found;
}

/** The worst answer of all branches counts. */
function onAll(words: Enforced[]): Enforced {
  const [worst] = ([false, null, 'unknown'] as const).filter((word) => words.includes(word));
  return worst === undefined ? true : worst;
}
