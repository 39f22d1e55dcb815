import { nowOf } from '../time/clock.ts';
import type { Need } from '../conditions/needs.ts';
import type { SqlRow } from '../database/sql.ts';
import type { Deps } from '../deps.ts';
import { wakenBy } from '../deployments/deployment-store.ts';
import { isNotEnded, repositoriesReading } from '../freezes/freeze-store.ts';
import { type ForeignStatus, inSteps, type Job, jobs } from '../database/queue/jobs.ts';
import { numberByTestMerge } from '../statuses/desired-store.ts';
import { numberAt } from '../statuses/open-pull-request-store.ts';
import { isHandled, type Own, wakesOf } from './handled-events.ts';
import { cachePerService } from '../github/cache.ts';
import type { NamedOwner } from './owner-events.ts';
import { isOfConsequence } from '../statuses/write-store.ts';

const insertDelivery = `
  INSERT INTO webhook_deliveries (guid, event, received_at) VALUES ($3, $4, $5)
  ON CONFLICT DO NOTHING RETURNING guid`;

/** @property owner whom the payload names. */
type WebhookEvent = { guid: string; name: string; payload: object; owner: NamedOwner | null };

/**
 * Turns an event into durable jobs and saves them with its delivery in one statement. A known GUID changes nothing,
 * because GitHub keeps the GUID when it redelivers. If the statement fails, nothing is saved, so a redelivery works. Does
 * not use Probot's handlers, which create a client for each event.
 */
export async function acceptEvent(
  deps: Pick<Deps, 'db' | 'sql' | 'queue' | 'clock' | 'log' | 'ownWrites' | 'config' | 'github'>,
  { guid, name, payload, owner }: WebhookEvent,
): Promise<void> {
  if (!isHandled(name, payload)) return;
  const { queue, clock, log } = deps;
  const wakes = wakesOf[name as keyof typeof wakesOf] as (payload: unknown, own: Own) => Wake[];
  const now = nowOf(clock);
  const woken = await jobsOf(deps, wakes(payload, deps.config));
  const caused = [...woken, ...(await jobsOfOwner(deps, owner))].map((job) => heardAt(job, now));
  const delivery = { guid, event: name };
  // Nothing depends on it, so we save nothing. Checks and pushes come in great numbers.
  if (caused.length === 0) {
    log.debug(delivery, 'delivery of no consequence');
    return;
  }
  const values = [guid, name, now];
  const isNew = await queue.sendAfter({ name: 'accept delivery', text: insertDelivery, values }, caused);
  log.debug(
    { ...delivery, isNew, jobs: caused.map(({ task, key }) => `${task} ${key}`) },
    'delivery accepted',
  );
}

/** The job says when its event came, for the metrics. */
const heardAt = (job: Job, now: Date): Job =>
  job.task === 'reconcile-pull-request' ? { ...job, data: { ...job.data, heardAt: now.toISOString() } } : job;

/** The logins that this process last heard, so that only a new one costs a statement. */
const heard = cachePerService<number, string>(10_000, Infinity);

/**
 * GitHub tells a rename only to Apps that subscribe to it, and once. So each event teaches us the name of its owner: if
 * it is another one than ours, the installation is read again. GitHub decides, so a late event does no harm.
 */
async function jobsOfOwner(
  deps: Pick<Deps, 'sql' | 'github' | 'clock'>,
  owner: NamedOwner | null,
): Promise<Job[]> {
  if (!owner || heard(deps).get(owner.id) === owner.login) return [];
  const text = 'SELECT login FROM accounts WHERE id = $1';
  const [known] = await deps.sql.query<{ login: string }>('login-of-account', text, [BigInt(owner.id)]);
  if (known && known.login !== owner.login) return [jobs.syncInstallation(BigInt(owner.installationId))];
  heard(deps).set(owner.id, owner.login);
  return [];
}

/** What an event causes us to check again. */
export type Wake =
  | { to: 'jobs'; jobs: Job[] }
  /**
   * A status with our context, if it is on a head that we know and not the echo of our own. `merges`: what a merge commit
   * merges.
   */
  | { to: 'own-status'; repositoryId: bigint; sha: string; merges: string | null; written: ForeignStatus }
  /**
   * Only if a deployment of the run waits for us, or if it has begun or ended and another one may wait for that. GitHub
   * may have let it through without us.
   */
  | {
      to: 'deployments';
      repositoryId: bigint;
      runId: string;
      environment: string | null;
      hasBegun: boolean;
    }
  /**
   * A branch that is gone: only if it is the base of an open pull request, or a current freeze names it. `renamedTo`: its
   * new name, if the event has it.
   */
  | { to: 'base'; repositoryId: bigint; branch: string; renamedTo?: string }
  /** Only if the conditions of a current freeze read one of these facts, because such events are frequent. */
  | ({ reads: readonly Need[] } & (
      | { to: 'pull-request'; repositoryId: bigint; number: number; installationId: string | null }
      /** The open pull requests with this head SHA. */
      | { to: 'head'; repositoryId: bigint; sha: string; installationId: string | null }
      /** `isLater`: after some seconds, because the events come in great numbers. */
      | { to: 'repository'; repositoryId: bigint; isLater: boolean }
      /** Every repository of an organization or a person. */
      | { to: 'account'; accountId: bigint }
    ));

/** Milliseconds of a step. One job serves all events of a step. */
const later = 10_000;

export type WakeDeps = Pick<Deps, 'db' | 'sql' | 'clock' | 'ownWrites'>;

/** Whether a branch is the base of an open pull request, and whether conditions of a current freeze may name it. */
const whoReadsBase = `
  SELECT EXISTS (SELECT FROM open_pull_requests WHERE repository_id = $1 AND base_ref = $2) AS is_base,
    EXISTS (SELECT FROM freezes WHERE repository_id = $1 AND ${isNotEnded('$4')}
      AND strpos(matching_conditions::text, $3) > 0) AS is_named`;
type BaseRow = SqlRow & { is_base: boolean; is_named: boolean };

/** The jobs of an event; none if nothing reads what it may have changed. */
export async function jobsOf(deps: WakeDeps, wakes: Wake[]): Promise<Job[]> {
  const jobs = await Promise.all(wakes.map((wake) => jobsOfWake(deps, wake)));
  return jobs.flat();
}

async function jobsOfWake({ db, sql, clock, ownWrites }: WakeDeps, wake: Wake): Promise<Job[]> {
  if (wake.to === 'jobs') return wake.jobs;
  if (wake.to === 'own-status') {
    const { repositoryId, sha, merges, written } = wake;
    if (ownWrites.isEcho(sha, written)) return [];
    if (await isOfConsequence(db, repositoryId, sha, written))
      return [jobs.correctStatus(repositoryId, sha, written)];
    const number = await numberByTestMerge(sql, repositoryId, sha, merges);
    return number === null ? [] : [jobs.reconcilePullRequest(repositoryId, { number, installationId: null })];
  }
  if (wake.to === 'deployments') {
    const { repositoryId, runId, environment, hasBegun } = wake;
    const wakes = await wakenBy(sql, repositoryId, BigInt(runId), environment);
    return [
      ...(wakes.its
        ? [jobs.lookAtRun(repositoryId, runId, { environment: null, installationId: null })]
        : []),
      ...(!wakes.its && wakes.others && hasBegun ? [jobs.reviewDeployments(repositoryId)] : []),
      ...(wakes.isPastUs ? [jobs.noteRules({ repositoryId })] : []),
    ];
  }
  if (wake.to === 'base') {
    const { repositoryId, branch, renamedTo = null } = wake;
    const at = inSteps(nowOf(clock), later);
    const [row] = await sql.query<BaseRow>('who-reads-base', whoReadsBase, [
      repositoryId,
      branch,
      JSON.stringify(branch).slice(1, -1),
      nowOf(clock),
    ]);
    return [
      ...(row!.is_base ? [jobs.reconcileRepository(repositoryId, at)] : []),
      ...(row!.is_named ? [jobs.tellRenamed(repositoryId, branch, renamedTo, at)] : []),
    ];
  }
  const where =
    wake.to === 'account'
      ? { accountId: wake.accountId }
      : { repositoryId: wake.repositoryId, ...(wake.to === 'head' && { sha: wake.sha }) };
  const reading = await repositoriesReading(db, where, wake.reads, nowOf(clock));
  if (reading.length === 0) return [];
  switch (wake.to) {
    case 'pull-request': {
      const { number, installationId } = wake;
      return [jobs.reconcilePullRequest(wake.repositoryId, { number, installationId })];
    }
    case 'head': {
      const { installationId } = wake;
      // One pull request is enough: its observation includes those that share its head.
      const number = await numberAt(sql, wake.repositoryId, wake.sha);
      // Checks come in great numbers, and those of a request are only for a card.
      const at = reading[0]!.isToJudge ? undefined : inSteps(nowOf(clock), later);
      if (number !== null)
        return [jobs.reconcilePullRequest(wake.repositoryId, { number, installationId }, at)];
      // The head of no known pull request, or of one whose first observation is running and may have read it already.
      return [jobs.reconcileRepository(wake.repositoryId, inSteps(nowOf(clock), later))];
    }
    case 'repository':
      return [
        jobs.reconcileRepository(wake.repositoryId, wake.isLater ? inSteps(nowOf(clock), later) : undefined),
      ];
    default:
      return reading.map(({ repositoryId }) => jobs.reconcileRepository(repositoryId));
  }
}
