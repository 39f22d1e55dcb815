import type { Need } from '../conditions/needs.ts';
import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { repositoriesReading } from '../freezes/freeze-store.ts';
import { isOfConsequence } from '../outbox/correct.ts';
import { type ForeignStatus, inSteps, type Job, jobs } from '../queue/jobs.ts';
import { numberByTestMerge, numbersAt } from '../reconcile/open-pull-request-store.ts';

/** What an event makes look again. */
export type Wake =
  | { to: 'jobs'; jobs: Job[] }
  /**
   * A status under our context: only where it is on a head that we know, and not the echo of our own. `merges`: what a
   * merge commit merges.
   */
  | { to: 'own-status'; repositoryId: bigint; sha: string; merges: string | null; written: ForeignStatus }
  /** Only where the conditions of a present freeze read one of these facts: such events are frequent. */
  | ({ reads: readonly Need[] } & (
      | { to: 'pull-request'; repositoryId: bigint; number: number; installationId: bigint | null }
      /** The open pull requests with this head SHA. */
      | { to: 'head'; repositoryId: bigint; sha: string; installationId: bigint | null }
      /** `isLater`: in some seconds, since the events come in great numbers. */
      | { to: 'repository'; repositoryId: bigint; isLater: boolean }
      /** Every repository of an organization or a person. */
      | { to: 'account'; accountId: bigint }
    ));

/** Milliseconds; one look serves all events of such a step. */
const later = 10_000;

export type WakeDeps = Pick<Deps, 'db' | 'clock' | 'ownWrites'>;

/** The jobs of an event; none where nothing reads what it may have changed. */
export async function jobsOf(deps: WakeDeps, wakes: Wake[]): Promise<Job[]> {
  const jobs = await Promise.all(wakes.map((wake) => jobsOfWake(deps, wake)));
  return jobs.flat();
}

async function jobsOfWake({ db, clock, ownWrites }: WakeDeps, wake: Wake): Promise<Job[]> {
  if (wake.to === 'jobs') return wake.jobs;
  if (wake.to === 'own-status') {
    const { repositoryId, sha, merges, written } = wake;
    if (ownWrites.isEcho(sha, written)) return [];
    if (await isOfConsequence(db, repositoryId, sha, written))
      return [jobs.correctStatus(repositoryId, sha, written)];
    const number = await numberByTestMerge(db, repositoryId, sha, merges);
    return number === null ? [] : [jobs.reconcilePullRequest(repositoryId, { number, installationId: null })];
  }
  const where = wake.to === 'account' ? { accountId: wake.accountId } : { repositoryId: wake.repositoryId };
  const reading = await repositoriesReading(db, where, wake.reads, nowOf(clock));
  if (reading.length === 0) return [];
  const installationId = 'installationId' in wake ? (wake.installationId?.toString() ?? null) : null;
  switch (wake.to) {
    case 'pull-request':
      return [jobs.reconcilePullRequest(wake.repositoryId, { number: wake.number, installationId })];
    case 'head': {
      // One of them stands for all: a look at it takes in those that share its head.
      const [number] = await numbersAt(db, wake.repositoryId, wake.sha);
      if (number !== undefined)
        return [jobs.reconcilePullRequest(wake.repositoryId, { number, installationId })];
      // No pull request's, or one's whose first look is under way and may have read it already.
      return [jobs.reconcileRepository(wake.repositoryId, inSteps(nowOf(clock), later))];
    }
    case 'repository':
      return [
        jobs.reconcileRepository(wake.repositoryId, wake.isLater ? inSteps(nowOf(clock), later) : undefined),
      ];
    default:
      return reading.map((id) => jobs.reconcileRepository(id));
  }
}
