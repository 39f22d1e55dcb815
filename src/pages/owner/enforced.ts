import type { Deps } from '../../deps.ts';
import { branchEnforcement, knownEnforcement } from '../../enforcement/branch-enforcement.ts';
import { repositoriesOfIds } from '../../installations/repository-rows.ts';
import { within } from '../../within.ts';
import { byWeight, isNotEnforced, type RepositoryState } from './repository-states.ts';

/** Whether freezes of a repository hold on its default branch; null: GitHub is still being asked. */
export type Enforced = boolean | 'unknown' | null;

/**
 * The same repositories, knowing where GitHub said lately that what is on does not hold; what matters now first. GitHub
 * is not asked.
 */
export async function withKnownEnforcement(deps: Deps, all: RepositoryState[]): Promise<RepositoryState[]> {
  const known = all.map(async (each) => {
    const enforced = each.ongoing > 0 ? await atOnce(knownEnforcement(deps, each.id, null)) : null;
    return { ...each, isUnenforced: enforced === false };
  });
  return (await Promise.all(known)).sort(byWeight);
}

/** What is there already; null for what is under way or was never asked. */
const atOnce = async (known: ReturnType<typeof knownEnforcement>): Promise<Enforced> =>
  Promise.race([known ?? null, null]);

/** Repositories that one look at a page makes us ask GitHub about; the next look asks about the next ones. */
const mostAsked = 10;
/** Milliseconds that the page waits for all of them: what comes later is for the next look. */
const patience = 150;

/**
 * Whether freezes hold, as GitHub said some minutes ago at most, of those repositories where one is on or comes.
 * @param rows what matters now first. @param branches that they are to hold on; null: the default one.
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

/** One branch on which they do not hold is enough. */
function onAll(words: Enforced[]): Enforced {
  const [worst] = ([false, null, 'unknown'] as const).filter((word) => words.includes(word));
  return worst === undefined ? true : worst;
}
