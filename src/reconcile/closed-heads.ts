import { createHash } from 'node:crypto';
import type { Deps } from '../deps.ts';
import type { ParsedFreeze } from '../freezes/parsed-freeze.ts';
import { inSteps, refreshClosedHeads as refreshLater } from '../queue/jobs.ts';
import { loadClosedPullRequests } from '../github/pull-requests/load-pull-requests.ts';
import { asOpen } from '../github/pull-requests/pull-request.ts';
import { lockRepository } from '../installations/lock-repository.ts';
import { nextChangeAmong } from './judge.ts';
import { openRefresh, readOrPause } from './observe.ts';
import { closedSince, saveClosedHeads } from './closed-heads/save-closed-heads.ts';

/** What time alone changes of closed pull requests is looked at no more often. Milliseconds. */
const step = 10 * 60_000;

/**
 * What the verdicts on closed pull requests depend on: which freezes are ongoing, and their conditions.
 * @returns a digest; empty where there are none.
 */
export function judgedBy(freezes: ParsedFreeze[]): string {
  if (freezes.length === 0) return '';
  const all = freezes.map(({ freeze }) => [freeze.id, freeze.matchingConditions, freeze.excludeConditions]);
  return createHash('sha256').update(JSON.stringify(all.toSorted())).digest('base64url');
}

/**
 * Looks at the closed pull requests of a repository while a freeze is on, and has their heads held; without one it
 * reads nothing and lets go. Asked for where a look finds other freezes than the last time.
 * @throws what GitHub throws while it cannot answer; the job queue tries again.
 */
export async function refreshClosedHeads(deps: Deps, repositoryId: bigint): Promise<void> {
  const comeBack = async (at: Date | null) => {
    if (at) await deps.jobs.send([refreshLater(repositoryId, at)]);
  };
  const refresh = await openRefresh(deps, repositoryId);
  if ('notBefore' in refresh) return comeBack(refresh.notBefore);
  const { freezes, readAt, from } = refresh;
  const closed = await readOrPause(deps, refresh, async () =>
    freezes.length === 0 ? [] : loadClosedPullRequests(from, closedSince(readAt)),
  );
  if ('notBefore' in closed) return comeBack(closed.notBefore);
  const facts = closed.map((pullRequest) => asOpen(pullRequest.facts));
  const next = nextChangeAmong(freezes, facts, readAt);
  await deps.db.$transaction(async (tx) => {
    await lockRepository(tx, repositoryId);
    await saveClosedHeads(deps, tx, refresh, closed, 'all');
    await tx.repository.update({
      where: { id: repositoryId },
      data: { closedJudgedBy: judgedBy(freezes) },
    });
    if (!next) return;
    const soonest = inSteps(readAt, step);
    await deps.jobs.send([refreshLater(repositoryId, next > soonest ? next : soonest)], tx);
  });
}
