import { answersPerService } from '../../github/cache.ts';
import type { Deps } from '../../deps.ts';
import type { Freeze } from '../../freezes/freeze.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';
import type { Branch } from './branch-facts.ts';
import { placeFor } from './check-enforcement.ts';
import { judgeRequired } from './judge-branch.ts';
import { readRequirements } from './read-branch.ts';
import { allBranches, readBranches } from './read-branches.ts';
import { excludedBranches, onlyBranches } from './touched-branches.ts';

type Needed = Pick<Deps, 'db' | 'github' | 'clock' | 'config' | 'log'>;

/** Milliseconds that creating a freeze waits for GitHub at most. */
const patience = 2_000;
/** Milliseconds to cache an answer, even if GitHub did not answer in time. */
const remembered = 60_000;
/** Milliseconds to cache a problem. People who fix it try again. */
const missingRemembered = 10_000;
const mostRemembered = 1_000;
/** For a freeze of everything, we check at most this many branches, the default branch first. */
const mostBranches = 10;

const answersOf = answersPerService<string[]>(mostRemembered, (missing) =>
  missing.length > 0 ? missingRemembered : remembered,
);

/**
 * The branches that a freeze can affect and that are known not to require our check. Never throws and takes 2 s at most.
 * If GitHub does not answer in time, the branch is not reported.
 */
export async function unenforcedBranches(
  deps: Needed,
  repository: FoundRepository,
  freeze: Freeze,
): Promise<string[]> {
  const only = onlyBranches(freeze);
  const key = `${repository.id} ${JSON.stringify(only)}`;
  const branches = await answersOf(deps).get(key, () => findUnenforced(deps, repository, only));
  const excluded = excludedBranches(freeze);
  return branches.filter((branch) => !excluded.includes(branch));
}

async function findUnenforced(
  deps: Needed,
  repository: FoundRepository,
  only: string[] | null,
): Promise<string[]> {
  const asking = { deps, repository, signal: AbortSignal.timeout(patience) };
  const branches: Branch[] = only
    ? only.map((name) => ({ name, reason: 'freeze' }))
    : allBranches(await readBranches(asking, []));
  const facts = await Promise.all(
    branches.slice(0, mostBranches).map((branch) => readRequirements(asking, branch)),
  );
  const place = placeFor(deps, repository);
  return facts.filter((each) => judgeRequired(each, place).state === 'failed').map(({ name }) => name);
}
