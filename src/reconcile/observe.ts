import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { phaseOf } from '../freezes/freeze.ts';
import { listFreezes } from '../freezes/freeze-store.ts';
import { needsOf, parseStoredFreeze, type ParsedFreeze } from '../freezes/parsed-freeze.ts';
import { classifyGitHubError } from '../github/github-error.ts';
import { checkAccessAfter, pauseInstallation } from '../github/pause.ts';
import type { LoadFrom } from '../github/pull-requests/load-pull-requests.ts';
import { freezesAreOn } from '../installations/product.ts';
import { jobs } from '../queue/jobs.ts';
import { type FoundRepository, fullName } from '../installations/find-repository.ts';

/** Everything that is needed to judge pull requests of a repository at one instant. */
export type Observed = {
  repository: FoundRepository;
  /** The number of this observation of the repository: what it finds never replaces what a later one found. */
  observation: bigint;
  observedAt: Date;
  /** The ongoing freezes; none where they are switched off. */
  freezes: ParsedFreeze[];
  from: LoadFrom;
};

/** Why nothing can be read now: never, or not before an instant. */
export type NotObservable = { notBefore: Date | null };

/**
 * A repository that GitHub may be asked about, and the instant that this counts for.
 * @param notBefore as for `openObservation`.
 */
export async function findObservable(
  deps: Pick<Deps, 'db' | 'clock'>,
  repositoryId: bigint,
  notBefore: Date | null = null,
): Promise<{ repository: FoundRepository; observedAt: Date } | NotObservable> {
  const found = await deps.db.repository.findUnique({
    relationLoadStrategy: 'join',
    where: { id: repositoryId },
    include: { account: true, installation: true },
  });
  const installation = found?.installation;
  if (!found || !installation || installation.suspendedAt || installation.deletedAt || found.archived) {
    return { notBefore: null };
  }
  const observedAt = latestOf([nowOf(deps.clock), notBefore, found.reconciledAt]);
  const pauses = [installation.pausedUntil, installation.readsPausedUntil].filter((pause) => pause !== null);
  const paused = Math.max(...pauses.map((pause) => pause.getTime()));
  if (paused > observedAt.getTime()) return { notBefore: new Date(paused) };
  return { repository: { ...found, installation }, observedAt };
}

/**
 * Prepares the observation of a repository.
 * @param notBefore the boundary that woke us. The database's clock decides when, and may be ahead of ours: at its
 *   boundary a freeze has begun, whatever our clock says. Nor do we go back behind what a replica has seen whose
 *   clock is ahead.
 */
export async function openObservation(
  deps: Deps,
  repositoryId: bigint,
  notBefore: Date | null = null,
): Promise<Observed | NotObservable> {
  const readable = await findObservable(deps, repositoryId, notBefore);
  if ('notBefore' in readable) return readable;
  const { repository, observedAt } = readable;
  const { installation } = repository;
  const isOn = freezesAreOn(repository.products);
  // Where freezes are off and we never wrote, there is nothing to let go of.
  if (!isOn && !repository.firstStatusAt) return { notBefore: null };
  // Taken before anything is read. Not a time: the clocks of replicas differ.
  const { observations: observation } = await deps.db.repository.update({
    where: { id: repositoryId },
    data: { observations: { increment: 1 } },
    select: { observations: true },
  });
  const all = isOn ? await listFreezes(deps.db, repositoryId, observedAt) : [];
  const freezes = all.filter((freeze) => phaseOf(freeze, observedAt) === 'ongoing').map(parseStoredFreeze);
  // A new token may be asked for here, and refused or limited as everything else.
  const client = await observeOrPause(deps, { repository }, () =>
    deps.github.asInstallation(installation.id, installation.permissions),
  );
  if ('notBefore' in client) return client;
  return {
    repository,
    observation,
    observedAt,
    freezes,
    from: { deps, client, repository, needs: needsOf(freezes) },
  };
}

const latestOf = (instants: (Date | null)[]): Date =>
  new Date(Math.max(...instants.map((instant) => instant?.getTime() ?? 0)));

/**
 * Runs an observation of GitHub. Where we may not look, whether we still have access is checked. A rate limit is remembered for the installation and becomes the instant to come
 * back at; what else fails is thrown, for the job queue to try again.
 */
export async function observeOrPause<Result>(
  deps: Deps,
  { repository }: Pick<Observed, 'repository'>,
  read: () => Promise<Result>,
): Promise<Result | NotObservable> {
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
        await deps.queue.send([
          jobs.syncRepository(repository.id, repository.installation.id, new Date(now + checkAccessAfter)),
        ]);
        return { notBefore: null };
      default:
        throw error;
    }
  }
}
