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
    const enforced = each.ongoing > 0 ? await atOnce(knownEnforcement(deps, each.id)) : null;
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
 * @param rows what matters now first.
 */
export async function enforcedOf(deps: Deps, rows: RepositoryState[]): Promise<Map<bigint, Enforced>> {
  const interesting = rows.filter(({ ongoing, next }) => ongoing > 0 || next);
  const found = new Map<bigint, Enforced>();
  const asked: bigint[] = [];
  for (const row of interesting) {
    const known = isNotEnforced(row) ? Promise.resolve(false) : knownEnforcement(deps, row.id);
    found.set(row.id, await atOnce(known));
    if (!known && asked.length < mostAsked) asked.push(row.id);
  }
  if (asked.length === 0) return found;
  const looks = (await repositoriesOfIds(deps.sql, asked)).map(async (repository) => {
    found.set(repository.id, await branchEnforcement(deps, repository, null));
  });
  await within(patience, Promise.all(looks));
  return found;
}
