import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { phaseOf } from '../freezes/freeze.ts';
import { listFreezes } from '../freezes/freeze-store.ts';
import { needsOf, parseStoredFreeze, type ParsedFreeze } from '../freezes/parsed-freeze.ts';
import { classifyGitHubError } from '../github/github-error.ts';
import { pauseInstallation } from '../github/pause.ts';
import type { LoadFrom } from '../github/pull-requests/load-pull-requests.ts';
import { freezesAreOn } from '../installations/product.ts';
import { syncRepository } from '../queue/jobs.ts';
import { type FoundRepository, fullName } from '../installations/find-repository.ts';

/** Everything that is needed to judge pull requests of a repository at one instant. */
export type Refreshable = {
  repository: FoundRepository;
  /** The number of this reading of the repository: what it finds never replaces what a later one found. */
  reading: bigint;
  readAt: Date;
  /** The ongoing freezes; none where they are switched off. */
  freezes: ParsedFreeze[];
  from: LoadFrom;
};

/** Why nothing can be read now: never, or not before an instant. */
export type NotRefreshable = { notBefore: Date | null };

/**
 * A repository that GitHub may be asked about, and the instant that this counts for.
 * @param notBefore as for `openRefresh`.
 */
export async function findReadable(
  deps: Pick<Deps, 'db' | 'clock'>,
  repositoryId: bigint,
  notBefore: Date | null = null,
): Promise<{ repository: FoundRepository; readAt: Date } | NotRefreshable> {
  const found = await deps.db.repository.findUnique({
    relationLoadStrategy: 'join',
    where: { id: repositoryId },
    include: { account: true, installation: true },
  });
  const installation = found?.installation;
  if (!found || !installation || installation.suspendedAt || installation.deletedAt || found.archived) {
    return { notBefore: null };
  }
  const readAt = latestOf([nowOf(deps.clock), notBefore, found.refreshedAt]);
  const pauses = [installation.pausedUntil, installation.readsPausedUntil].filter((pause) => pause !== null);
  const paused = Math.max(...pauses.map((pause) => pause.getTime()));
  if (paused > readAt.getTime()) return { notBefore: new Date(paused) };
  return { repository: { ...found, installation }, readAt };
}

/**
 * Prepares the reading of a repository.
 * @param notBefore the boundary that woke us. The database's clock decides when, and may be ahead of ours: at its
 *   boundary a freeze has begun, whatever our clock says. Nor do we go back behind what a replica has seen whose
 *   clock is ahead.
 */
export async function openRefresh(
  deps: Deps,
  repositoryId: bigint,
  notBefore: Date | null = null,
): Promise<Refreshable | NotRefreshable> {
  const readable = await findReadable(deps, repositoryId, notBefore);
  if ('notBefore' in readable) return readable;
  const { repository, readAt } = readable;
  const { installation } = repository;
  const isOn = freezesAreOn(repository.products);
  // Where freezes are off and we never wrote, there is nothing to let go of.
  if (!isOn && !repository.firstStatusAt) return { notBefore: null };
  // Taken before anything is read. Not a time: the clocks of replicas differ.
  const { readings: reading } = await deps.db.repository.update({
    where: { id: repositoryId },
    data: { readings: { increment: 1 } },
    select: { readings: true },
  });
  const all = isOn ? await listFreezes(deps.db, repositoryId, readAt) : [];
  const freezes = all.filter((freeze) => phaseOf(freeze, readAt) === 'ongoing').map(parseStoredFreeze);
  // A new token may be asked for here, and refused or limited as everything else.
  const client = await readOrPause(deps, { repository }, () =>
    deps.github.asInstallation(installation.id, installation.permissions),
  );
  if ('notBefore' in client) return client;
  return {
    repository,
    reading,
    readAt,
    freezes,
    from: { deps, client, repository, needs: needsOf(freezes) },
  };
}

const latestOf = (instants: (Date | null)[]): Date =>
  new Date(Math.max(...instants.map((instant) => instant?.getTime() ?? 0)));

/** A repository that refuses us is asked about again after this: often enough to notice, too seldom to hammer. */
export const checkAccessAfter = 30_000;

/**
 * Runs a reading of GitHub. Where we may not look, whether we still have access is checked. A rate limit is remembered for the installation and becomes the instant to come
 * back at; what else fails is thrown, for the job queue to try again.
 */
export async function readOrPause<Result>(
  deps: Deps,
  { repository }: Pick<Refreshable, 'repository'>,
  read: () => Promise<Result>,
): Promise<Result | NotRefreshable> {
  try {
    return await read();
  } catch (error) {
    const now = deps.clock.now();
    const failure = classifyGitHubError(error, now);
    switch (failure.kind) {
      case 'limited':
        await pauseInstallation(deps, repository.installation.id, failure);
        return { notBefore: new Date(failure.retryAt) };
      case 'absent':
      case 'refused':
        deps.log.warn(
          { err: error, repository: fullName(repository) },
          'GitHub does not let us read a repository',
        );
        await deps.jobs.send([
          syncRepository(repository.id, repository.installation.id, new Date(now + checkAccessAfter)),
        ]);
        return { notBefore: null };
      default:
        throw error;
    }
  }
}
