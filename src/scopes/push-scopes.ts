import type { Actor } from '../events/actor.ts';
import { nowOf } from '../clock.ts';
import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../errors.ts';
import { isGitHubStatus } from '../github/github-error.ts';
import { repositoriesReading } from '../freezes/freeze-store.ts';
import { jobs } from '../queue/jobs.ts';
import { shareRepository } from '../installations/lock-repository.ts';
import { assertWritable, type FoundRepository, fullName } from '../installations/find-repository.ts';

/** GraphQL's integers end here, and GitHub's numbers with them. */
const greatestOnGitHub = 2_147_483_647n;

export type PushedScopes = { scopes: string[]; allScopes: boolean };

/**
 * Replaces the scopes of a pull request. The same push again changes nothing.
 * @param number exact over the interface's whole range, which is wider than a float or an int8.
 * @param beforeSaving runs first in the same transaction.
 * @throws Refusal not-found where GitHub says that there is no such pull request; conflict where the repository
 *   cannot be written to. While GitHub cannot say, the scopes are stored all the same.
 */
export async function pushScopes(
  deps: Deps,
  actor: Actor,
  repository: FoundRepository,
  number: bigint,
  pushed: PushedScopes,
  beforeSaving: (tx: Tx) => Promise<void> = async () => {},
): Promise<void> {
  assertWritable(repository);
  if (!(await mayExist(deps, repository, number))) {
    throw notFound(`${fullName(repository)} has no pull request ${number}.`);
  }
  const now = nowOf(deps.clock);
  await deps.db.$transaction(async (tx) => {
    await beforeSaving(tx);
    // A freeze that is being created either sees these scopes in its look, or is seen here.
    await shareRepository(tx, repository.id);
    const isChanged = await save(tx, repository.id, number, pushed, actor, now);
    if (isChanged && number <= greatestOnGitHub) {
      // Most pushes come while no freeze asks for scopes; one that begins later reads them.
      const reading = await repositoriesReading(tx, { repositoryId: repository.id }, ['scopes'], now);
      const told = { number: Number(number), installationId: String(repository.installation.id) };
      await deps.queue.send(
        reading.map((id) => jobs.reconcilePullRequest(id, told)),
        tx,
      );
    }
  });
}

/** @returns whether they differ from what was pushed before. */
async function save(
  tx: Tx,
  repositoryId: bigint,
  number: bigint,
  { scopes, allScopes }: PushedScopes,
  by: Actor,
  now: Date,
): Promise<boolean> {
  const count = await tx.$executeRaw`
    INSERT INTO pull_request_scopes AS known (repository_id, number, scopes, all_scopes, pushed_at, pushed_by)
    VALUES (${repositoryId}, ${String(number)}::numeric, ${[...new Set(scopes)]}::text[], ${allScopes}, ${now},
      ${JSON.stringify(by)}::jsonb)
    ON CONFLICT (repository_id, number) DO UPDATE SET scopes = excluded.scopes, all_scopes = excluded.all_scopes,
      pushed_at = excluded.pushed_at, pushed_by = excluded.pushed_by
    WHERE (known.scopes, known.all_scopes) IS DISTINCT FROM (excluded.scopes, excluded.all_scopes)`;
  return count === 1;
}

/** False only where GitHub clearly says no. */
async function mayExist(deps: Deps, repository: FoundRepository, number: bigint): Promise<boolean> {
  const isKnown =
    number <= greatestOnGitHub &&
    (await deps.db.openPullRequest.findUnique({
      where: { repositoryId_number: { repositoryId: repository.id, number: Number(number) } },
    }));
  if (isKnown) return true;
  try {
    const client = await deps.github.asInstallation(repository.installation.id);
    await client.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', {
      owner: repository.account.login,
      repo: repository.name,
      // A string: as a number it would lose its last digits.
      pull_number: String(number) as unknown as number,
    });
    return true;
  } catch (error) {
    if (isGitHubStatus(error, 404)) return false;
    deps.log.warn(
      { err: error, number: String(number) },
      'GitHub could not confirm a pull request; scopes kept',
    );
    return true;
  }
}
