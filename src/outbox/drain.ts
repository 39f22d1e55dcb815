import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import type { HeadStatus } from '../generated/prisma/client.ts';
import { classifyGitHubError } from '../github/github-error.ts';
import { pauseInstallation } from '../github/pause.ts';
import { jobs } from '../queue/jobs.ts';
import { type FoundRepository, fullName } from '../installations/find-repository.ts';
import { type Status, wantedOn } from './status.ts';
import { type Lease, takeLease } from './lease.ts';
import type { StatusList } from './list-statuses.ts';
import { markContested } from './not-held.ts';
import {
  countsFirst,
  findStanding,
  lookAtStatuses,
  looksFirst,
  postStatus,
  wantedBy,
} from './write-status.ts';
import { refuseStatus } from './refuse-status.ts';
import { checkAccessAfter } from '../reconcile/observe.ts';
import { keepCount, settleStatus } from './settle.ts';
import { isContested } from './status-budget.ts';
import { statusTarget } from './status-target.ts';

type Waiting = { head: HeadStatus; repository: Omit<FoundRepository, 'installation'> };

/** While another worker writes for the installation, look again after this. */
const lookAgain = 2000;
const longestBackoff = 60_000;
/** So long one installation may keep a worker; then others that wait have their turn. */
const longestTurn = 5000;

/**
 * Writes the statuses that wait for an installation, one after another, the most urgent first, until none is
 * due. A verdict that changes meanwhile replaces its row, so what is written is always the newest one. Where the
 * pace or GitHub asks to wait, or others may wait for the worker, a later job goes on.
 */
export async function drainOutbox(deps: Deps, installationId: bigint): Promise<void> {
  const lease = await takeLease(deps, installationId);
  if (!lease) {
    await goOnAt(deps, installationId, deps.clock.now() + lookAgain);
    return;
  }
  let goOn: Date | 'stopped' | null;
  try {
    goOn = await drain(deps, installationId, lease);
  } finally {
    await lease.release();
  }
  if (goOn === 'stopped') return;
  if (goOn && goOn > nowOf(deps.clock)) await goOnAt(deps, installationId, goOn.getTime());
  // Also where nothing was due: a verdict saved between the last look and the release found the lease taken.
  else if (goOn || (await nextDue(deps, installationId)))
    await deps.queue.send([jobs.drainOutbox(installationId)]);
}

/** At a whole multiple of the wait: all who wait for the same lease come back as one job. */
function goOnAt(deps: Deps, installationId: bigint, instant: number): Promise<void> {
  const at = Math.ceil(instant / lookAgain) * lookAgain;
  return deps.queue.send([jobs.drainOutbox(installationId, new Date(at))]);
}

/** Writes until nothing is due. When to go on, where something stands in the way. */
async function drain(deps: Deps, installationId: bigint, lease: Lease): Promise<Date | 'stopped' | null> {
  const turnEnds = deps.clock.now() + longestTurn;
  for (;;) {
    const write = await nextDue(deps, installationId);
    if (!write) return null;
    if (deps.stopping.aborted || deps.clock.now() >= turnEnds) return nowOf(deps.clock);
    const turn = await lease.takeTurn();
    if (turn.may === 'stop') return 'stopped';
    if (turn.may === 'wait') return turn.until;
    const pause = await attempt(deps, installationId, write, lease);
    if (pause) return pause;
  }
}

async function nextDue(deps: Deps, installationId: bigint): Promise<Waiting | null> {
  const found = await deps.db.headStatus.findFirst({
    relationLoadStrategy: 'join',
    where: { installationId, isWaiting: true, notBefore: { lte: nowOf(deps.clock) } },
    orderBy: [{ urgency: 'asc' }, { repositoryId: 'asc' }, { sha: 'asc' }],
    include: { repository: { include: { account: true } } },
  });
  if (!found) return null;
  const { repository, ...head } = found;
  return { head, repository };
}

/** Writes one status. When to go on, where GitHub asks to wait or is down. */
async function attempt(
  deps: Deps,
  installationId: bigint,
  { head, repository }: Waiting,
  lease: Lease,
): Promise<Date | null> {
  const { repositoryId, sha, observation } = head;
  // Counted before the write: after a crash the next attempt looks first whether this one had arrived.
  const { count } = await deps.db.headStatus.updateMany({
    where: { repositoryId, sha, observation, isWaiting: true },
    data: { attempts: { increment: 1 } },
  });
  // Another verdict has taken its place.
  if (count === 0) return null;
  const about = { repository: fullName(repository), sha };
  const place = { owner: repository.account.login, repo: repository.name };
  const look = (isCounting: boolean) =>
    lookAtStatuses(deps, installationId, place, sha, isCounting, () => lease.keep());
  let wanted: Status = wantedOn(head);
  let list: StatusList | null = null;
  try {
    if (looksFirst(head)) {
      list = await look(countsFirst(head));
      // Whoever has the lease by now goes on.
      if (!list) return null;
      await keepCount(deps, head, list);
    }
    const { isFinal, ...status } = wantedBy(head, list);
    wanted = status;
    const standing = findStanding(head, wanted, list);
    if (standing) {
      await settleStatus(deps, head, { ...wanted, ...standing, isNew: false, isFinal });
      return null;
    }
    if (head.state !== 'success' && isContested(head, nowOf(deps.clock)))
      await markContested(deps, repository, head, null);
    const targetUrl = await statusTarget(deps, { ...head, state: wanted.state, repository });
    const posted = await postStatus(deps, installationId, place, sha, wanted, targetUrl);
    deps.log.info({ ...about, ...wanted }, 'status written');
    await settleStatus(deps, head, { ...wanted, ...posted, isNew: true, isFinal });
    return null;
  } catch (error) {
    const now = deps.clock.now();
    const failure = classifyGitHubError(error, now);
    deps.log.warn({ ...about, state: wanted.state, failure }, 'a status could not be written');
    switch (failure.kind) {
      case 'limited':
        await pauseInstallation(deps, installationId, failure);
        return new Date(Math.max(now + 1000, failure.retryAt));
      case 'invalid':
        // What stands there tells whether it holds all the same; where that cannot be read, it does not.
        list ??= head.notHeld === 'refused' ? null : await look(true).catch(() => null);
        if (list) await keepCount(deps, head, list);
        await refuseStatus(deps, repository, head, wanted, list, failure.message);
        return null;
      case 'absent':
      case 'refused':
        await giveUp(deps, repositoryId);
        await deps.queue.send([
          jobs.syncRepository(repositoryId, installationId, new Date(now + checkAccessAfter)),
        ]);
        return null;
      case 'down': {
        const backoff = Math.min(longestBackoff, 1000 * 2 ** Math.min(head.attempts, 6));
        // It may have arrived all the same: whatever is wanted by then, the next attempt looks first, also where
        // another worker, who took our lease for lost, has written meanwhile.
        await deps.db.headStatus.updateMany({
          where: { repositoryId, sha },
          data: { notBefore: new Date(now + backoff), isWaiting: true, attempts: head.attempts + 1 },
        });
        await goOnAt(deps, installationId, now + backoff);
        // Not the whole wait: GitHub may be failing on this one commit, and the others must not stand behind it.
        return new Date(now + lookAgain);
      }
    }
  }
}

/**
 * Nothing of this repository can be written: a new observation may bring others. What should hold and was never written
 * keeps an attempt: so it does not count as held, and the next write looks first.
 */
const giveUp = ({ db }: Deps, repositoryId: bigint) =>
  db.$executeRaw`
    UPDATE head_statuses SET is_waiting = false, waiting_since = NULL,
      attempts = CASE WHEN is_waiting AND state <> 'success' AND written_state IS NULL THEN 1 ELSE 0 END
    WHERE repository_id = ${repositoryId}`;
