import { nowOf, within } from '../time/clock.ts';
import { classifyGitHubError } from '../github/github-error.ts';
import { checkAccessAfter, pauseInstallation } from '../github/ask-github.ts';
import { defineTask } from '../database/queue/define-task.ts';
import { troubleOf } from '../database/trouble.ts';
import { jobs } from '../database/queue/jobs.ts';
import { heldAtOnce } from './instant-hold/hold-store.ts';
import { type Lease, takeLease, takePlace, type WriterState } from './lease.ts';
import { markContested, refuseStatus } from './correct.ts';
import { isContested } from './plan-write.ts';
import { freeText, type Status, wantedOn } from './status.ts';
import {
  countsFirst,
  findStanding,
  isOld,
  lookAtStatuses,
  looksFirst,
  postStatus,
  type StatusList,
  wantedBy,
} from './write-status.ts';
import { giveUp, hasDue, keepCount, type SettledWrite, putOff, settle, type Write } from './write-store.ts';
import { type DuePass, forgetPass, readRevoked, savePass, takePasses } from './instant-hold/pass-store.ts';
import type { StatusDeps } from './status-deps.ts';

/** How long to wait while another worker writes for the installation. */
const lookAgain = 2000;
const longestBackoff = 60_000;
/** How long one installation may keep a worker, before others have their turn. */
const longestTurn = 5000;
/** How long after its first write a batch is settled, so that more urgent statuses can come first. */
const longestBatch = 250;

/**
 * Writes the waiting statuses of an installation one after another, the most urgent first, until none is due. Takes and
 * settles them in small batches, so a later batch writes a verdict that changes meanwhile. If the pace or GitHub asks us
 * to wait, or others may need the worker, a later job continues.
 */
async function drainOutbox(deps: StatusDeps, installationId: bigint): Promise<void> {
  const lease = await takeLease(deps, installationId);
  if (!lease) return goOnAt(deps, installationId, deps.clock.now() + lookAgain);
  let state: WriterState;
  try {
    state = await drain(deps, installationId, lease);
  } finally {
    await lease.release();
  }
  // Even if nothing was due: a verdict saved between the last check and the release found the lease taken.
  if (isOver.has(state.is)) return settleHolds(deps, installationId, lease);
  if (!lease.hasPasses && !(await hasDue(deps.sql, installationId, nowOf(deps.clock))))
    return settleHolds(deps, installationId, lease);
  if ('until' in state && state.until > nowOf(deps.clock))
    await goOnAt(deps, installationId, state.until.getTime());
  else await deps.queue.send([jobs.drainOutbox(installationId)]);
}

/** The states after which this writer has nothing left to do. */
const isOver: ReadonlySet<WriterState['is']> = new Set(['released', 'lost', 'off']);

/** A whole multiple of the wait, so that all who wait for the same lease come back as one job. */
function goOnAt(deps: StatusDeps, installationId: bigint, instant: number): Promise<void> {
  const at = Math.ceil(instant / lookAgain) * lookAgain;
  return deps.queue.send([jobs.drainOutbox(installationId, new Date(at))]);
}

/** Writes until nothing is due or the turn is over. @returns the state at its end. */
async function drain(deps: StatusDeps, installationId: bigint, lease: Lease): Promise<WriterState> {
  const turnEnds = deps.clock.now() + longestTurn;
  while (!deps.stopping.aborted && deps.clock.now() < turnEnds) {
    const state = await lease.take();
    if (state.is === 'passing') {
      const { written, until } = await writePasses(deps, installationId, state);
      lease.spend(written);
      if (until) return { is: 'pacing', until };
      continue;
    }
    if (state.is !== 'writing') return state;
    const until = await writeBatch(deps, installationId, state.writes, lease);
    if (until) return { is: 'paused', until };
    if (state.isAll && (await lease.releaseUnlessDue())) return { is: 'released' };
  }
  return { is: 'holding' };
}

/** How many contexts of instant holds are written before the lease is renewed. */
const mostPasses = 10;

/** Looks whether rulesets of bridges are needed any more, once the statuses are written. */
async function settleHolds({ sql, queue }: StatusDeps, installationId: bigint, lease: Lease): Promise<void> {
  if (!lease.hasHolds) return;
  await queue.send((await heldAtOnce(sql, installationId)).map((id) => jobs.settleInstantHold(id)));
}

/** A write that GitHub did not accept. */
type Failed = { write: Write; wanted: Status; list: StatusList | null; error: unknown };

/** Writes as much of a batch as possible and settles it. @returns when to continue, if GitHub limits us or is down. */
async function writeBatch(
  deps: StatusDeps,
  installationId: bigint,
  writes: Write[],
  lease: Lease,
): Promise<Date | null> {
  const outcomes: SettledWrite[] = [];
  let settled = 0;
  let failed: Failed | null = null;
  let tried = 0;
  // The real time that writes take, not the injected clock.
  let mustEnd = Infinity;
  while (tried < writes.length && performance.now() < mustEnd) {
    const writing = writeOne(deps, installationId, writes[tried++]!, lease);
    // Finished writes must not wait for a write that hangs: the next holder of the lease would repeat them.
    if (settled < outcomes.length && !(await isWithin(mustEnd - performance.now(), writing))) {
      await settle(deps, outcomes.slice(settled), []);
      settled = outcomes.length;
    }
    const result = await writing;
    // The current holder of the lease continues.
    if (!result) break;
    if ('error' in result) {
      failed = result;
      break;
    }
    outcomes.push(result);
    mustEnd = Math.min(mustEnd, performance.now() + longestBatch);
  }
  const failure = failed && classifyGitHubError(failed.error, deps.clock.now());
  // A write that GitHub refused has not arrived. `afterFailure` counts what is invalid and what may have arrived.
  const isUntried = failure !== null && ['limited', 'absent', 'forbidden'].includes(failure.kind);
  const returned = writes.slice(isUntried ? tried - 1 : tried);
  const posted = outcomes.filter(({ isNew }) => isNew).length;
  const isRefused = failure?.kind === 'limited' && failure.isSecondary;
  lease.learn({ posted, returned: returned.length, isRefused });
  await settle(deps, outcomes.slice(settled), returned);
  return failed && failure ? afterFailure(deps, installationId, failed, failure, lease) : null;
}

/** Whether a promise settles within this many milliseconds. */
const isWithin = async (milliseconds: number, work: Promise<unknown>): Promise<boolean> =>
  (await within(
    milliseconds,
    work.then(() => true),
  )) ?? false;

/** Writes one status. @returns the outcome; null if the lease was lost meanwhile. */
async function writeOne(
  deps: StatusDeps,
  installationId: bigint,
  write: Write,
  lease: Lease,
): Promise<SettledWrite | Failed | null> {
  let wanted: Status = wantedOn(write);
  let list: StatusList | null = null;
  try {
    if (looksFirst(write)) {
      list = await lookAtStatuses(deps, installationId, write, countsFirst(write), () => lease.keep());
      if (!list) return null;
      await keepCount(deps, write, list);
    }
    const { isFinal, ...status } = wantedBy(write, list);
    wanted = status;
    const standing = findStanding(write, wanted, list);
    if (standing) {
      deps.metrics.countNotWritten('found');
      return { write, ...wanted, ...standing, isNew: false, isFinal };
    }
    if (write.state !== 'success' && isContested(write, nowOf(deps.clock))) await markContested(deps, write);
    const posted = await postStatus(deps, installationId, write, wanted);
    const { waitingSince } = write;
    deps.metrics.countWritten(waitingSince && deps.clock.now() - waitingSince.getTime());
    deps.metrics.countHeard(write.sha, deps.clock.now());
    deps.log.info({ ...placeOf(write), ...wanted }, 'status written');
    return { write, ...wanted, ...posted, isNew: true, isFinal };
  } catch (error) {
    return { write, wanted, list, error };
  }
}

const placeOf = ({ owner, repo, sha }: Write) => ({ repository: `${owner}/${repo}`, sha });

/** Handles a failed write. @returns when to continue, if GitHub limits us or is down. */
async function afterFailure(
  deps: StatusDeps,
  installationId: bigint,
  { write, wanted, list, error }: Failed,
  failure: ReturnType<typeof classifyGitHubError>,
  lease: Lease,
): Promise<Date | null> {
  const { repositoryId } = write;
  const now = deps.clock.now();
  deps.metrics.countNotWritten(failure.kind);
  // Of a database that is away, the log tells by itself.
  const trouble = troubleOf(error);
  deps.log.warn(
    { ...placeOf(write), state: wanted.state, failure, ...(trouble && { err: trouble }) },
    'a status could not be written',
  );
  switch (failure.kind) {
    case 'limited':
      await pauseInstallation(deps, installationId, failure);
      return new Date(Math.max(now + 1000, failure.retryAt));
    case 'invalid': {
      // The current status says whether the commit is held anyway. If we cannot read it, it counts as not held.
      const look = () => lookAtStatuses(deps, installationId, write, true, () => lease.keep());
      const found = list ?? (write.notHeld === 'refused' ? null : await look().catch(() => null));
      const stands = found && !isOld(write, found) ? found : null;
      if (stands) await keepCount(deps, write, stands);
      await refuseStatus(deps, write, wanted, stands, failure.message);
      return null;
    }
    case 'absent':
    case 'forbidden':
      await giveUp(deps.db, repositoryId);
      await deps.queue.send([
        jobs.syncRepository(repositoryId, installationId, new Date(now + checkAccessAfter)),
      ]);
      return null;
    case 'down': {
      const backoff = Math.min(longestBackoff, 1000 * 2 ** Math.min(write.attempts, 6));
      await putOff(deps.db, write, new Date(now + backoff));
      await goOnAt(deps, installationId, now + backoff);
      // A shorter wait, because GitHub may only fail for this commit, and the others must not wait for it.
      return new Date(now + lookAgain);
    }
  }
}

export const drainOutboxTask = defineTask(
  jobs.drainOutbox,
  (deps: StatusDeps, { installationId }) => drainOutbox(deps, BigInt(installationId)),
  { takers: 16 },
);

/** How long to wait after GitHub failed. */
const tryAgainAfter = 2000;

/**
 * Writes the context of instant holds on commits that no freeze holds: until then their pull requests are blocked.
 * @returns which were written, and when to go on if GitHub limits us or is down.
 */
async function writePasses(
  deps: StatusDeps,
  installationId: bigint,
  { passes, turns, places }: Extract<WriterState, { is: 'passing' }>,
): Promise<{ written: DuePass[]; until: Date | null }> {
  const written: DuePass[] = [];
  const most = Math.min(places, mostPasses);
  for (const pass of await takePasses(deps.sql, installationId, { passes, turns, most })) {
    const until = await write(deps, installationId, pass);
    if (until) return { written, until };
    written.push(pass);
  }
  return { written, until: null };
}

/** @returns when to go on, if GitHub limits us or is down. */
async function write(deps: StatusDeps, installationId: bigint, pass: DuePass): Promise<Date | null> {
  const until = await post(deps, installationId, pass);
  if (until) return until;
  const former = await savePass(deps.sql, pass);
  return former ? post(deps, installationId, { ...pass, ...free, context: former }) : null;
}

/** @returns when to go on, if GitHub limits us or is down. */
async function post(deps: StatusDeps, installationId: bigint, pass: DuePass): Promise<Date | null> {
  const { owner, repo, sha, context, state, description } = pass;
  const led = { groupNumber: pass.openNumber, closedNumber: null };
  const about = { repository: `${owner}/${repo}`, sha, context, state };
  try {
    await postStatus(deps, installationId, { ...pass, ...led }, { state, description }, context);
    deps.log.info(about, 'the context of an instant hold was written');
  } catch (error) {
    const now = deps.clock.now();
    const failure = classifyGitHubError(error, now);
    deps.metrics.countNotWritten(failure.kind);
    deps.log.warn({ ...about, failure }, 'the context of an instant hold could not be written');
    if (failure.kind === 'limited') {
      await pauseInstallation(deps, installationId, failure);
      return new Date(Math.max(now + tryAgainAfter, failure.retryAt));
    }
    if (failure.kind === 'down') return new Date(now + tryAgainAfter);
    // GitHub takes no status there. The next beginning has another context.
  }
  return null;
}

const free = { state: 'success', description: freeText } as const;

/**
 * Writes success on open heads that were let through and held again, once the hold is over: a status that waits for ever
 * would look like a check that never ends. Every status of a freeze comes before it. The next check goes on.
 */
export async function finishRevoked(deps: StatusDeps, repositoryId: bigint): Promise<void> {
  for (const pass of await readRevoked(deps.sql, repositoryId)) {
    if (await takePlace(deps, pass.installationId)) return;
    if (await post(deps, pass.installationId, pass)) return;
    await forgetPass(deps.db, pass);
  }
}
