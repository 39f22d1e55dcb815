import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import type { HeadStatus } from '../generated/prisma/client.ts';
import { classifyGitHubError } from '../github/github-error.ts';
import { pauseInstallation } from '../github/pause.ts';
import { postStatuses, syncRepository } from '../jobs/tasks.ts';
import { fullName } from '../repositories/find-repository.ts';
import { type Lease, takeLease } from './installation-lease.ts';
import { type Posted, postStatus } from './post-status.ts';
import { checkAccessAfter } from './refreshable.ts';
import { statusTarget } from './status-target.ts';
import { mostKept } from './written-statuses.ts';

type Waiting = HeadStatus & { repository: { id: bigint; name: string; account: { login: string } } };

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
export async function postWaitingStatuses(deps: Deps, installationId: bigint): Promise<void> {
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
    await deps.jobs.send([postStatuses(installationId)]);
}

/** At a whole multiple of the wait: all who wait for the same lease come back as one job. */
function goOnAt(deps: Deps, installationId: bigint, instant: number): Promise<void> {
  const at = Math.ceil(instant / lookAgain) * lookAgain;
  return deps.jobs.send([postStatuses(installationId, new Date(at))]);
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
  return deps.db.headStatus.findFirst({
    relationLoadStrategy: 'join',
    where: { installationId, isWaiting: true, notBefore: { lte: nowOf(deps.clock) } },
    orderBy: [{ urgency: 'asc' }, { repositoryId: 'asc' }, { sha: 'asc' }],
    include: { repository: { select: { id: true, name: true, account: { select: { login: true } } } } },
  });
}

/** Writes one status. When to go on, where GitHub asks to wait or is down. */
async function attempt(
  deps: Deps,
  installationId: bigint,
  write: Waiting,
  lease: Lease,
): Promise<Date | null> {
  const { repositoryId, sha, reading } = write;
  // Counted before the write: after a crash the next attempt looks first whether this one had arrived.
  const { count } = await deps.db.headStatus.updateMany({
    where: { repositoryId, sha, reading, isWaiting: true },
    data: { attempts: { increment: 1 } },
  });
  // Another verdict has taken its place.
  if (count === 0) return null;
  const { account, name } = write.repository;
  const about = { repository: fullName(write.repository), sha, state: write.state };
  try {
    const place = { owner: account.login, repo: name };
    const post = { ...write, targetUrl: await statusTarget(deps, write) };
    const posted = await postStatus(deps, installationId, place, post, () => lease.keep());
    // Whoever has the lease by now goes on.
    if (!posted) return null;
    deps.log.info({ ...about, description: write.description }, 'status written');
    await settle(deps, write, posted);
    return null;
  } catch (error) {
    const now = deps.clock.now();
    const failure = classifyGitHubError(error, now);
    deps.log.warn({ ...about, failure }, 'a status could not be written');
    switch (failure.kind) {
      case 'limited':
        await pauseInstallation(deps, installationId, failure);
        return new Date(Math.max(now + 1000, failure.retryAt));
      case 'invalid':
        // The commit is gone or the status cannot be: trying again would fail again.
        await giveUp(deps, { repositoryId, sha, reading });
        return null;
      case 'absent':
      case 'refused':
        await giveUp(deps, { repositoryId });
        await deps.jobs.send([
          syncRepository(repositoryId, installationId, new Date(now + checkAccessAfter)),
        ]);
        return null;
      case 'down': {
        const backoff = Math.min(longestBackoff, 1000 * 2 ** Math.min(write.attempts, 6));
        // It may have arrived all the same: whatever is wanted by then, the next attempt looks first, also where
        // another worker, who took our lease for lost, has written meanwhile.
        await deps.db.headStatus.updateMany({
          where: { repositoryId, sha },
          data: { notBefore: new Date(now + backoff), isWaiting: true, attempts: write.attempts + 1 },
        });
        await goOnAt(deps, installationId, now + backoff);
        // Not the whole wait: GitHub may be failing on this one commit, and the others must not stand behind it.
        return new Date(now + lookAgain);
      }
    }
  }
}

/** Nothing of this repository can be written, or this verdict cannot: a new reading may bring others. */
const giveUp = (deps: Deps, where: { repositoryId: bigint; sha?: string; reading?: bigint }) =>
  deps.db.headStatus.updateMany({ where, data: { isWaiting: false, waitingSince: null, attempts: 0 } });

/**
 * Remembers what was written, among the latest of its SHA. A verdict that changed meanwhile waits now, whatever it was
 * compared with.
 */
async function settle(
  deps: Deps,
  { repositoryId, sha, state, description }: Waiting,
  posted: Posted,
): Promise<void> {
  // Somebody may have written after us, and `correctStatus` known it before we came here: that stands.
  await deps.db.$executeRaw`
    WITH posted AS (
      SELECT coalesce(written_id <= ${posted.id}, true) AS is_newest FROM head_statuses
      WHERE repository_id = ${repositoryId} AND sha = ${sha} FOR UPDATE
    ), settled AS (
      UPDATE head_statuses SET
        is_waiting = is_newest IS FALSE OR (state, description) IS DISTINCT FROM (${state}, ${description}),
        waiting_since = CASE WHEN is_newest IS FALSE OR (state, description) IS DISTINCT FROM (${state}, ${description})
          THEN coalesce(waiting_since, ${nowOf(deps.clock)}) END,
        written_state = CASE WHEN is_newest THEN ${state} ELSE written_state END,
        written_description = CASE WHEN is_newest THEN ${description} ELSE written_description END,
        written_at = CASE WHEN is_newest THEN ${posted.at} ELSE written_at END,
        written_id = greatest(written_id, ${posted.id}),
        attempts = CASE WHEN is_newest THEN 0 ELSE attempts END,
        writes = writes + 1,
        written_during = (SELECT readings FROM repositories WHERE id = ${repositoryId})
      FROM posted WHERE repository_id = ${repositoryId} AND sha = ${sha}
      RETURNING 1
    ), kept AS (
      INSERT INTO written_statuses (repository_id, sha, id, state, description, at)
      SELECT ${repositoryId}, ${sha}, ${posted.id}, ${state}, ${description}, ${posted.at} FROM settled
      ON CONFLICT DO NOTHING
    )
    DELETE FROM written_statuses WHERE repository_id = ${repositoryId} AND sha = ${sha} AND id IN (
      SELECT id FROM written_statuses WHERE repository_id = ${repositoryId} AND sha = ${sha} AND id <> ${posted.id}
      ORDER BY id DESC OFFSET ${mostKept - 1})`;
}
