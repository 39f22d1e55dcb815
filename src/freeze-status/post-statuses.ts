import { nowOf, sleep } from '../clock.ts';
import type { Deps } from '../deps.ts';
import type { HeadStatus } from '../generated/prisma/client.ts';
import { classifyGitHubError } from '../github/github-error.ts';
import { pauseInstallation } from '../github/pause.ts';
import { postStatuses, syncRepository } from '../jobs/tasks.ts';
import { fullName } from '../repositories/find-repository.ts';
import { type Lease, takeLease } from './installation-lease.ts';
import { postStatus } from './post-status.ts';
import { checkAccessAfter } from './refreshable.ts';

type Waiting = HeadStatus & { repository: { id: bigint; name: string; account: { login: string } } };

/** While another worker writes for the installation, look again after this. */
const lookAgain = 2000;
const longestBackoff = 60_000;

/**
 * Writes the statuses that wait for an installation, one after another, the most urgent first, until none is
 * due. A verdict that changes meanwhile replaces its row, so what is written is always the newest one.
 */
export async function postWaitingStatuses(deps: Deps, installationId: bigint): Promise<void> {
  const lease = await takeLease(deps, installationId);
  if (!lease) {
    await sendLater(deps, installationId, lookAgain);
    return;
  }
  let pause: number | null;
  try {
    pause = await drain(deps, installationId, lease);
  } finally {
    await lease.release();
  }
  if (pause !== null) await sendLater(deps, installationId, pause);
  // A verdict saved between the last look and the release found the lease taken.
  else if (await nextDue(deps, installationId)) await deps.jobs.send([postStatuses(installationId)]);
}

/** At a whole multiple of the wait: all who wait for the same lease come back as one job. */
function sendLater(deps: Deps, installationId: bigint, milliseconds: number): Promise<void> {
  const at = Math.ceil((deps.clock.now() + milliseconds) / lookAgain) * lookAgain;
  return deps.jobs.send([postStatuses(installationId, new Date(at))]);
}

/** Writes until nothing is due. Milliseconds to wait before going on, where something stands in the way. */
async function drain(deps: Deps, installationId: bigint, lease: Lease): Promise<number | null> {
  for (;;) {
    const installation = await deps.db.installation.findUniqueOrThrow({ where: { id: installationId } });
    const pausedFor = (installation.pausedUntil?.getTime() ?? 0) - deps.clock.now();
    if (pausedFor > 0) return pausedFor;
    const write = await nextDue(deps, installationId);
    if (!write) return null;
    await waitForPace(deps, installationId, lease);
    if (!(await lease.renew())) return lookAgain;
    const pause = await attempt(deps, installationId, write);
    if (pause !== null) return pause;
  }
}

async function waitForPace(deps: Deps, installationId: bigint, lease: Lease): Promise<void> {
  const pace = deps.paces.of(installationId);
  for (let wait = pace.take(); wait > 0; wait = pace.take()) {
    await sleep(deps.clock, Math.min(wait, 5000));
    await lease.renew();
  }
}

async function nextDue(deps: Deps, installationId: bigint): Promise<Waiting | null> {
  return deps.db.headStatus.findFirst({
    where: {
      isWaiting: true,
      notBefore: { lte: nowOf(deps.clock) },
      repository: { installation: { id: installationId, suspendedAt: null, deletedAt: null } },
    },
    orderBy: [{ urgency: 'asc' }, { repositoryId: 'asc' }, { sha: 'asc' }],
    include: { repository: { select: { id: true, name: true, account: { select: { login: true } } } } },
  });
}

/** Writes one status. Milliseconds to wait before the next one, where GitHub asks for that or is down. */
async function attempt(deps: Deps, installationId: bigint, write: Waiting): Promise<number | null> {
  const { repositoryId, sha, reading } = write;
  // Counted before the write: after a crash the next attempt looks first whether this one had arrived.
  await deps.db.headStatus.updateMany({
    where: { repositoryId, sha, reading },
    data: { attempts: { increment: 1 } },
  });
  const { account, name } = write.repository;
  const about = { repository: fullName(write.repository), sha, state: write.state };
  try {
    await postStatus(deps, installationId, { owner: account.login, repo: name }, write);
    deps.log.info({ ...about, description: write.description }, 'status written');
    await settle(deps, write);
    return null;
  } catch (error) {
    const failure = classifyGitHubError(error, deps.clock.now());
    deps.log.warn({ ...about, failure }, 'a status could not be written');
    switch (failure.kind) {
      case 'limited':
        await pauseInstallation(deps, installationId, failure.retryAt);
        return Math.max(1000, failure.retryAt - deps.clock.now());
      case 'invalid':
        // The commit is gone or the status cannot be: trying again would fail again.
        await giveUp(deps, { repositoryId, sha, reading });
        return null;
      case 'absent':
      case 'refused':
        await giveUp(deps, { repositoryId });
        await deps.jobs.send([
          syncRepository(repositoryId, installationId, new Date(deps.clock.now() + checkAccessAfter)),
        ]);
        return null;
      case 'down': {
        const backoff = Math.min(longestBackoff, 1000 * 2 ** Math.min(write.attempts, 6));
        const notBefore = new Date(deps.clock.now() + backoff);
        // It may have arrived all the same: whatever is wanted by then, the next attempt looks first.
        await deps.db.headStatus.updateMany({
          where: { repositoryId, sha },
          data: { notBefore, isWaiting: true },
        });
        await sendLater(deps, installationId, backoff);
        // Not the whole wait: GitHub may be failing on this one commit, and the others must not stand behind it.
        return lookAgain;
      }
    }
  }
}

/** Nothing of this repository can be written, or this verdict cannot: a new reading may bring others. */
const giveUp = (deps: Deps, where: { repositoryId: bigint; sha?: string; reading?: bigint }) =>
  deps.db.headStatus.updateMany({ where, data: { isWaiting: false } });

/** Remembers what was written. A verdict that changed meanwhile waits now, whatever it was compared with. */
async function settle(deps: Deps, { repositoryId, sha, state, description }: Waiting): Promise<void> {
  await deps.db.$executeRaw`
    UPDATE head_statuses SET
      is_waiting = (state, description) IS DISTINCT FROM (${state}, ${description}),
      written_state = ${state}, written_description = ${description}, attempts = 0,
      written_during = (SELECT readings FROM repositories WHERE id = ${repositoryId})
    WHERE repository_id = ${repositoryId} AND sha = ${sha}`;
}
