import { answersPerService } from '../../github/cache.ts';
import type { Deps } from '../../deps.ts';
import { missingPermissions } from '../../github/app-manifest.ts';
import { mayAskNow } from '../../github/ask-github.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';
import { freezesAreOn } from '../../installations/product.ts';
import { placeFor } from './check-enforcement.ts';
import { vital } from './judge-app.ts';
import { judgeRequired } from './judge-branch.ts';
import { readDefaultBranch } from './read-branches.ts';
import { readRequirements } from './read-branch.ts';

type Needed = Pick<Deps, 'db' | 'github' | 'clock' | 'config' | 'log'>;

/** Milliseconds to wait for GitHub. */
const patience = 2_000;
/** Milliseconds to cache a yes. Pipelines ask all day, and each check costs up to three requests to GitHub. */
const yesRemembered = 300_000;
/** Milliseconds to cache any other answer. People who fix the problem ask again soon. */
const remembered = 60_000;
const mostRemembered = 10_000;
/** Checks per minute and repository, because anybody may ask about branches of a public repository. */
const looksPerMinute = 10;
/** The share of GitHub's hourly rate limit that we reserve for holding pull requests. */
const reserve = 1 / 4;

const answersOf = answersPerService<boolean | 'unknown'>(mostRemembered, (enforced) =>
  enforced === true ? yesRemembered : remembered,
);

/**
 * Whether GitHub refuses to merge held pull requests into a branch. The answer is a few minutes old at most.
 * @param branch null for the default branch.
 */
export async function branchEnforcement(
  deps: Needed,
  repository: FoundRepository,
  branch: string | null,
): Promise<boolean | 'unknown'> {
  const { id, products, installation } = repository;
  if (!freezesAreOn(products) || installation.suspendedAt) return false;
  return answersOf(deps).get(keyOf(id, branch), () => look(deps, repository, branch));
}

/** The cached or pending answer for a branch; undefined if we would have to ask GitHub. @param branch null for the default branch. */
export const knownEnforcement = (
  deps: Needed,
  repositoryId: bigint,
  branch: string | null,
): Promise<boolean | 'unknown'> | undefined => answersOf(deps).known(keyOf(repositoryId, branch));

const keyOf = (repositoryId: bigint, branch: string | null): string =>
  JSON.stringify([String(repositoryId), branch]);

async function look(
  deps: Needed,
  repository: FoundRepository,
  branch: string | null,
): Promise<boolean | 'unknown'> {
  const { id, installation } = repository;
  const permissions = installation.permissions as Record<string, string>;
  if (missingPermissions({ permissions, events: [] }).some((name) => vital.has(name))) return false;
  const count = { name: `branches ${id}`, perMinute: looksPerMinute };
  if ((await mayAskNow(deps, installation.id, reserve, count)) !== 'yes') return 'unknown';
  const asking = { deps, repository, signal: AbortSignal.timeout(patience) };
  const name = branch === null ? await readDefaultBranch(asking) : { known: true as const, value: branch };
  if (!name.known) return 'unknown';
  const facts = await readRequirements(asking, { name: name.value, reason: 'freeze' });
  const { state } = judgeRequired(facts, placeFor(deps, repository));
  if (state === 'failed') return false;
  // A branch that does not exist requires nothing, and lacks nothing.
  return state === 'unknown' || facts.requirements.length === 0 ? 'unknown' : true;
}
