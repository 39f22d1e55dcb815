import { createHash } from 'node:crypto';
import type { Deps } from '../deps.ts';
import type { ParsedFreeze } from '../freezes/parsed-freeze.ts';
import { inSteps, jobs } from '../queue/jobs.ts';
import { loadClosedPullRequests } from '../github/pull-requests/load-pull-requests.ts';
import { asOpen } from '../github/pull-requests/pull-request.ts';
import { lockRepository } from '../installations/lock-repository.ts';
import { nextChangeAmong } from './judge.ts';
import { openObservation, observeOrPause } from './observe.ts';
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
export async function reconcileClosedHeads(deps: Deps, repositoryId: bigint): Promise<void> {
  const comeBack = async (at: Date | null) => {
    if (at) await deps.queue.send([jobs.reconcileClosedHeads(repositoryId, at)]);
  };
  const observed = await openObservation(deps, repositoryId);
  if ('notBefore' in observed) return comeBack(observed.notBefore);
  const { freezes, observedAt, from } = observed;
  const closed = await observeOrPause(deps, observed, async () =>
    freezes.length === 0 ? [] : loadClosedPullRequests(from, closedSince(observedAt)),
  );
  if ('notBefore' in closed) return comeBack(closed.notBefore);
  const facts = closed.map((pullRequest) => asOpen(pullRequest.facts));
  const next = nextChangeAmong(freezes, facts, observedAt);
  await deps.db.$transaction(async (tx) => {
    await lockRepository(tx, repositoryId);
    await saveClosedHeads(deps, tx, observed, closed, 'all');
    await tx.repository.update({
      where: { id: repositoryId },
      data: { closedJudgedBy: judgedBy(freezes) },
    });
    if (!next) return;
    const soonest = inSteps(observedAt, step);
    await deps.queue.send([jobs.reconcileClosedHeads(repositoryId, next > soonest ? next : soonest)], tx);
  });
}
