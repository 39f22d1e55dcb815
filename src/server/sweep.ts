import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { retentionDays } from '../events/list-events.ts';
import { replayedFor } from '../api/idempotency.ts';
import { knownFor } from '../github/limits/known-credentials.ts';
import {
  askForUnchecked,
  branchesInFlight,
  comingBoundaries,
  unfinished,
  withOverExemptions,
  unkeptPlans,
  withPassedBoundary,
  withUnaskedMergeStates,
} from './overdue.ts';
import { defineTask } from '../queue/define-task.ts';
import { jobs } from '../queue/jobs.ts';
import { installationsWithWaiting } from '../statuses/write-store.ts';

const hour = 3_600_000;
const day = 24 * hour;
/** GitHub redelivers for at most 7 days. */
const deliveriesKept = 8 * day;

/**
 * Repairs what was missed: boundaries that passed, unfinished reconciliations, waiting statuses, merge groups, ended
 * exemptions, failed webhook deliveries, and anything else in repositories that were not observed for an hour. Also plans
 * the next boundaries, whose jobs may have been lost, deletes old rows, and keeps up the embedded database.
 */
export async function sweep(deps: Deps): Promise<void> {
  const { db } = deps;
  const now = nowOf(deps.clock);
  const missed = new Set([...(await withPassedBoundary(db, now)), ...(await unfinished(db, now))]);
  const unchecked = (await askForUnchecked(db, now)).filter((id) => !missed.has(id));
  const [boundaries, queues, installations, unasked, exempting] = [
    await comingBoundaries(db, now),
    await branchesInFlight(db),
    await installationsWithWaiting(db, now),
    await withUnaskedMergeStates(db, now),
    await withOverExemptions(db, now),
  ];
  await deps.queue.send([
    ...queues.map(({ repositoryId, branch }) => jobs.reconcileMergeQueue(repositoryId, branch)),
    ...[...missed, ...unchecked].map((id) => jobs.reconcileRepository(id)),
    ...boundaries.map(({ repositoryId, at }) => jobs.reconcileRepository(repositoryId, at)),
    ...installations.map((id) => jobs.drainOutbox(id)),
    ...unasked.map((id) => jobs.askMergeStates(id, now)),
    jobs.remindOfFreezes(),
    ...exempting.map((id) => jobs.endExemptions(id)),
    ...(await unkeptPlans(db, now)).map((id) => jobs.keepPlan(id)),
    jobs.recoverDeliveries(),
  ]);
  await forget(deps, now);
  await deps.keepUp();
  if (missed.size > 0) deps.log.info({ repositories: missed.size }, 'sweep: reconciling what was missed');
  if (unchecked.length > 0)
    deps.log.debug({ repositories: unchecked.length }, 'sweep: checking what was not checked for an hour');
}

async function forget(deps: Deps, now: Date): Promise<void> {
  const before = (age: number) => ({ lt: new Date(now.getTime() - age) });
  await deps.db.webhookDelivery.deleteMany({ where: { receivedAt: before(deliveriesKept) } });
  await deps.db.commentAnswer.deleteMany({ where: { takenAt: before(deliveriesKept) } });
  await deps.db.idempotencyRecord.deleteMany({ where: { answeredAt: before(replayedFor) } });
  await deps.db.minuteCount.deleteMany({ where: { minute: before(hour) } });
  await deps.db.knownCredential.deleteMany({ where: { goodAt: before(knownFor) } });
  await deps.db.usedSignIn.deleteMany({ where: { expiresAt: { lte: now } } });
  await deps.db.session.deleteMany({ where: { expiresAt: { lte: now } } });
  await deps.db.auditEvent.deleteMany({ where: { receivedAt: before(retentionDays * day) } });
}

export const sweepTask = defineTask(jobs.sweep, sweep);
