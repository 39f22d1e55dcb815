import { nowOf } from '../time/clock.ts';
import type { Tx } from '../database/database.ts';
import { endMerged, type Merge as MergedPullRequest } from '../exemptions/end-exemptions.ts';
import { exemptionsSince } from '../exemptions/exemption-store.ts';
import { wasExemptAt } from '../exemptions/exemption.ts';
import { appendEvent, placeOf } from '../events/append-event.ts';
import { type Freeze, freezeInEvent } from '../freezes/freeze.ts';
import { phaseOf } from '../freezes/freeze-window.ts';
import { freezesSince } from '../freezes/freeze-store.ts';
import { needsOf, parseStoredFreezes } from '../freezes/judge-freeze.ts';
import { freezesAreOn } from '../installations/product.ts';
import { type LoadedPullRequest, loadPullRequest } from '../github/pull-requests/load-pull-requests.ts';
import { readOwnPullRequest } from '../github/pull-requests/own-repository.ts';
import { asOpen } from '../github/pull-requests/pull-request.ts';
import { fullName, lockRepository } from '../installations/find-repository.ts';
import { holdsOf } from './judge.ts';
import { observe, type Observed, openObservation } from './observe.ts';
import { defineTask } from '../database/queue/define-task.ts';
import { jobs } from '../database/queue/jobs.ts';
import type { StatusDeps } from './status-deps.ts';

/** Milliseconds after which we no longer judge a merge by the freezes of its time. */
const longestMergeDelay = 86_400_000;

type Merge = MergedPullRequest & { pullRequest: LoadedPullRequest };

/**
 * Records a pull request that was merged although a freeze held it: an admin bypassed the check, the check is not
 * required, or the merge was faster than our status. Judges the current data of the pull request as if it were still
 * open. A merge with an exemption is no bypass, and uses the exemption.
 * @throws NotNow, or GitHub's error while it cannot answer. The worker tries again.
 */
async function findBypass(deps: StatusDeps, repositoryId: bigint, number: number): Promise<void> {
  const since = new Date(deps.clock.now() - longestMergeDelay);
  const recent = await freezesSince(deps.db, repositoryId, since, nowOf(deps.clock));
  const parsed = await parseStoredFreezes(recent.map(({ freeze }) => freeze));
  const candidates = recent.map((found, index) => ({ ...found, parsed: parsed[index]! }));
  const exemptions = await exemptionsSince(deps.db, repositoryId, number, since);
  // Most merges happen without a freeze and cost no more than this.
  if (candidates.length === 0 && exemptions.length === 0) return;
  const opened = await openObservation(deps, repositoryId);
  const needs = needsOf(candidates.map(({ parsed }) => parsed));
  // Freezes that ended meanwhile decide too, as of the merge.
  const from = { ...opened.from, needs, isDecided: undefined };
  const observed: Observed = { ...opened, from };
  const merge = await observe(deps, observed.repository, () => readMerge(observed, number));
  if (!merge) return;
  await endMerged(deps, observed.repository, merge);
  // If freezes are switched off, nothing was held.
  if (!freezesAreOn(observed.repository.products)) return;
  const then = candidates
    .filter(({ createdAt, deletedAt }) => createdAt <= merge.at && !(deletedAt && deletedAt <= merge.at))
    .filter(({ parsed }) => phaseOf(parsed.freeze, merge.at) === 'ongoing')
    .map(({ parsed }) => parsed);
  const holds = holdsOf(then, asOpen(merge.pullRequest.facts), merge.at);
  // A pull request that could not be judged was held for safety. Whether the freeze selects it is unknown.
  for (const { freeze, unjudged } of holds)
    if (unjudged === null && !wasExemptAt(exemptions, merge, freeze.id, merge.at))
      await record(deps, observed, merge, freeze);
}

/** How and when a pull request was merged; null if it was not. */
async function readMerge({ from, repository }: Observed, number: number): Promise<Merge | null> {
  const data = await readOwnPullRequest(from.client, repository.id, number);
  if (!data.merged_at || !data.merged_by) return null;
  const pullRequest = await loadPullRequest(from, number);
  if (!pullRequest) return null;
  const { id, login } = data.merged_by;
  return {
    number,
    headSha: data.head.sha,
    at: new Date(data.merged_at),
    by: { id, login },
    pullRequest,
    baseRef: data.base.ref,
  };
}

async function record(
  deps: StatusDeps,
  { repository }: Observed,
  { pullRequest: { facts, status }, number, at, by, baseRef }: Merge,
  freeze: Freeze,
): Promise<void> {
  await deps.db.$transaction(async (tx) => {
    await lockRepository(tx, repository.id);
    if (await isRecorded(tx, repository.id, number, freeze.id)) return;
    if (await wasRestoredAfter(tx, repository.id, freeze.id, at)) return;
    const metadata = {
      ...freezeInEvent(freeze),
      // A later status came after the merge.
      shown_state: status && status.at <= at ? status.state : null,
      head_sha: facts.headSha,
      merged_at: at.toISOString(),
    };
    const place = { ...placeOf(repository), pullRequest: { number, base: baseRef } };
    const actor = { type: 'user', id: by.id, name: by.login } as const;
    await appendEvent(tx, place, { type: 'freeze.bypassed', metadata }, actor, nowOf(deps.clock));
    deps.log.warn(
      { repository: fullName(repository), pullRequest: number, freeze: freeze.id, by: by.login },
      'a frozen pull request was merged',
    );
  });
}

/** Whether the merge is already recorded. Webhooks may repeat. */
async function isRecorded(tx: Tx, repositoryId: bigint, number: number, freezeId: string): Promise<boolean> {
  const where = {
    repositoryId,
    type: 'freeze.bypassed',
    pullRequest: number,
    metadata: { path: ['scheduled_freeze_id'], equals: freezeId },
  };
  return (await tx.auditEvent.count({ where })) > 0;
}

/** Whether a freeze was deleted or ended at an instant, and restored later: it did not hold then. */
async function wasRestoredAfter(tx: Tx, repositoryId: bigint, freezeId: string, at: Date): Promise<boolean> {
  const about = { path: ['scheduled_freeze_id'], equals: freezeId };
  const where = { repositoryId, type: 'scheduled_freeze.restore', receivedAt: { gt: at }, metadata: about };
  const restored = await tx.auditEvent.findMany({ where, select: { metadata: true } });
  return restored.some(({ metadata }) => new Date((metadata as { ended_at: string }).ended_at) <= at);
}

export const findBypassTask = defineTask(jobs.findBypass, (deps: StatusDeps, { repositoryId, number }) =>
  findBypass(deps, BigInt(repositoryId), number),
);
