import { nowOf } from '../time/clock.ts';
import type { Tx } from '../database/database.ts';
import { type Actor, ourselves } from '../events/actor.ts';
import { type EventPlace, placeOf } from '../events/append-event.ts';
import { notEndedAmong } from '../freezes/freeze-store.ts';
import { defineTask, presentOf } from '../database/queue/define-task.ts';
import { jobs } from '../database/queue/jobs.ts';
import { type EndedBy, type LeftBehind, movedBy, wasApprovedAt } from './exemption.ts';
import { type ExemptionRecord, openExemptions } from './exemption-store.ts';
import { changeExemption } from './save-exemption.ts';
import type { FreezeDeps } from '../freezes/freeze-deps.ts';

// Ends exemptions without a decision by a person. Verdicts do not depend on this: it records the end, writes the audit
// event, and requests new verdicts.

type Repository = Parameters<typeof placeOf>[0];

/** How an exemption ends. @property usedAt when the pull request was merged, if the exemption was used. */
type End = { exemption: ExemptionRecord; by: EndedBy; usedAt?: Date };

/**
 * Ends the exemptions of a repository that expired or whose freezes are all over, and requests new verdicts for their
 * pull requests. Only reads the database.
 * @param at the instant that it was planned for, because the clock of the worker may be behind.
 */
async function endExemptions(deps: FreezeDeps, repositoryId: bigint, at: Date | null): Promise<void> {
  const now = nowOf(deps.clock);
  const then = presentOf(now, at);
  await deps.db.$transaction(async (tx) => {
    const open = await openExemptions(tx, repositoryId);
    const covered = new Set(open.flatMap(({ freezeIds }) => freezeIds ?? []));
    const live = await notEndedAmong(tx, repositoryId, [...covered], then);
    const ends = open.flatMap((exemption): End[] => {
      if (exemption.expiresAt <= then) return [{ exemption, by: 'time' }];
      return exemption.freezeIds?.every((id) => !live.has(id)) ? [{ exemption, by: 'freezes' }] : [];
    });
    if (ends.length === 0) return;
    const repository = await tx.repository.findUniqueOrThrow({
      where: { id: repositoryId },
      include: { account: true },
    });
    await end(tx, placeOf(repository), ends, ourselves, now);
    // What an exemption let through has gone: only pull requests are held again.
    const numbers = new Set(
      ends.flatMap(({ exemption: { deployment, pullRequest } }) => (deployment ? [] : pullRequest)),
    );
    await deps.queue.send(
      [...numbers].map((number) => jobs.reconcilePullRequest(repositoryId, { number, installationId: null })),
      tx,
    );
  });
}

/** Ends exemptions of pull requests that now have another head or base branch, according to an observation. */
export async function endLeftBehind(
  deps: FreezeDeps,
  repository: Repository,
  left: LeftBehind[],
): Promise<void> {
  if (left.length === 0) return;
  const causes = new Map(left.map(({ exemption, by }) => [exemption.id, by]));
  const numbers = left.map(({ exemption }) => exemption.pullRequest);
  await endOpen(deps, repository, numbers, ourselves, (exemption) => {
    const by = causes.get(exemption.id);
    return by ? [{ exemption, by }] : [];
  });
}

/** Ends open exemptions of some pull requests. */
async function endOpen(
  deps: FreezeDeps,
  repository: Repository,
  numbers: number[],
  user: Actor,
  endOf: (exemption: ExemptionRecord) => End[],
): Promise<void> {
  await deps.db.$transaction(async (tx) => {
    const open = await openExemptions(tx, repository.id, numbers);
    await end(tx, placeOf(repository), open.flatMap(endOf), user, nowOf(deps.clock));
  });
}

/** A merged pull request. */
export type Merge = {
  number: number;
  headSha: string;
  baseRef: string;
  at: Date;
  by: { id: number; login: string };
};

/** Ends the exemptions of a merged pull request. Those that applied were used. */
export async function endMerged(deps: FreezeDeps, repository: Repository, merge: Merge): Promise<void> {
  const merger: Actor = { type: 'user', id: merge.by.id, name: merge.by.login };
  await endOpen(deps, repository, [merge.number], merger, (exemption) => [endOfMerged(exemption, merge)]);
}

function endOfMerged(exemption: ExemptionRecord, merge: Merge): End {
  const moved = movedBy(exemption, merge);
  if (moved) return { exemption, by: moved };
  if (merge.at >= exemption.expiresAt) return { exemption, by: 'time' };
  const isUsed = exemption.state === 'approved' && wasApprovedAt(exemption, merge.at);
  return { exemption, by: 'merged', ...(isUsed && { usedAt: merge.at }) };
}

/**
 * Ends the exemption that a deployment went out with. One that it did not go out with is free for another run.
 * @param taken open, and set aside for the deployment.
 */
export async function endTaken(
  tx: Tx,
  place: EventPlace,
  taken: ExemptionRecord,
  wentOut: boolean,
  now: Date,
): Promise<void> {
  if (wentOut) {
    const change = { state: 'used', endedAt: now, usedAt: now } as const;
    await changeExemption(tx, place, taken, change, ourselves, now);
  } else {
    const ofCommit = taken.deployment?.sha && { runId: null };
    await tx.exemption.updateMany({ where: { id: taken.id }, data: { attempt: null, ...ofCommit } });
  }
}

/** @param user the actor for a used exemption. For the others, the actor is Holdfast. */
async function end(tx: Tx, place: EventPlace, ends: End[], user: Actor, now: Date): Promise<void> {
  for (const { exemption, by: endedBy, usedAt = null } of ends) {
    const change = { state: usedAt ? 'used' : 'expired', endedAt: now, endedBy, usedAt } as const;
    // Somebody may have decided meanwhile, or another worker may have ended it: then nothing changes.
    await changeExemption(tx, place, exemption, change, usedAt ? user : ourselves, now);
  }
}

export const endExemptionsTask = defineTask(jobs.endExemptions, (deps: FreezeDeps, { repositoryId, at }) =>
  endExemptions(deps, BigInt(repositoryId), at === undefined ? null : new Date(at)),
);

/**
 * Sets an exemption aside for an attempt of a run, before GitHub is told to let it go.
 * @returns false if it no longer lets any go, or another one goes out with it.
 */
export async function takeExemption(
  tx: Tx,
  { id }: ExemptionRecord,
  { runId, attempt }: { runId: bigint; attempt: number },
  now: Date,
): Promise<boolean> {
  const isFree = { state: 'approved', attempt: null } as const;
  // GitHub asks once for each job, so that more jobs of that attempt can come.
  const isTheirs = { state: { in: ['approved' as const, 'used' as const] }, runId, attempt };
  const { count } = await tx.exemption.updateMany({
    where: { id, expiresAt: { gt: now }, OR: [isFree, isTheirs] },
    data: { runId, attempt },
  });
  return count > 0;
}
