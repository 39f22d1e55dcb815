import { randomUUID } from 'node:crypto';
import { nowOf } from '../clock.ts';
import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { conflict, invalid, type Problem } from '../errors.ts';
import { placeOf } from '../events/append-event.ts';
import { notEndedAmong } from '../freezes/freeze-store.ts';
import { assertWritable, type FoundRepository, fullName } from '../installations/find-repository.ts';
import { lockRepository } from '../installations/repository-rows.ts';
import { readSettings } from '../installations/settings.ts';
import { jobs } from '../queue/jobs.ts';
import { assertRoomForApproval, assertRoomForRequest } from './assert-room.ts';
import type { Caller } from './decide-exemption.ts';
import { tellExemption } from './exemption-events.ts';
import { type ExemptionRecord, insertExemption } from './exemption-store.ts';
import { readHead } from './read-head.ts';

export type NewExemption = {
  reason: string;
  publicReason: string | null;
  /** Null for every freeze, including future ones. */
  freezeIds: string[] | null;
  anyHead: boolean;
  /** The head commit that the caller means; null for the one that GitHub shows. */
  headSha: string | null;
  /** Null for a day from now. */
  expiresAt: Date | null;
};

const day = 86_400_000;
const longest = 30 * day;

/**
 * Saves an exemption, with its events and the job for its end, in one transaction. An admin's exemption is approved at
 * once, unless the repository requires two people. Otherwise, and for writers, it is requested.
 * @param beforeSaving runs in the same transaction, before anything is saved.
 * @param isAnnounced whether the caller tells the conversation of it.
 * @throws Refusal not-found if the pull request does not exist; conflict if it is closed, the repository cannot be
 *   written to, its head is another one than the caller means, the caller has too many open requests or made too many in an hour, or the pull request has too many
 *   approved exemptions; invalid; unavailable while GitHub does not answer.
 */
export async function requestExemption(
  deps: Deps,
  { actor, notAdmin }: Caller,
  repository: FoundRepository,
  number: bigint,
  input: NewExemption,
  beforeSaving: (tx: Tx, exemption: ExemptionRecord) => Promise<void>,
  isAnnounced = false,
): Promise<ExemptionRecord> {
  assertWritable(repository);
  // Checked before we ask GitHub, so that a request that would be refused anyway costs no question.
  if (notAdmin) await assertRoomForRequest(deps.db, repository, actor, nowOf(deps.clock));
  const { headSha, seenAt, baseRef } = await readHead(deps, repository, number);
  if (input.headSha && input.headSha !== headSha)
    throw conflict(
      `Commits were pushed to ${fullName(repository)}#${number}: its head is ${headSha}, not ${input.headSha}. Check the new commits, then try again with this head.`,
    );
  const now = nowOf(deps.clock);
  const expiresAt = input.expiresAt ?? new Date(now.getTime() + day);
  const exemption = await deps.db.$transaction(async (tx) => {
    await lockRepository(tx, repository.id);
    const { twoPersonExemptions: isForTwo } = await readSettings(tx, repository.id);
    const isApproved = notAdmin === null && !isForTwo;
    const requested: ExemptionRecord = {
      id: randomUUID(),
      repositoryId: repository.id,
      pullRequest: Number(number),
      headSha,
      headSeenAt: seenAt,
      baseRef,
      anyHead: input.anyHead,
      freezeIds: input.freezeIds,
      reason: input.reason,
      publicReason: input.publicReason,
      expiresAt,
      state: 'requested',
      requestedBy: actor,
      requestedAt: now,
      decidedBy: null,
      decidedAt: null,
      decisionReason: null,
      approvedAt: null,
      endedAt: null,
      endedBy: null,
      usedAt: null,
      announcedAt: null,
    };
    const approval = { state: 'approved', decidedBy: actor, decidedAt: now, approvedAt: now } as const;
    const saved = isApproved ? { ...requested, ...approval } : requested;
    await beforeSaving(tx, saved);
    await check(tx, repository, input.freezeIds, expiresAt, now);
    if (isApproved) await assertRoomForApproval(tx, repository, saved, now);
    else await assertRoomForRequest(tx, repository, actor, now);
    await insertExemption(tx, saved);
    const place = placeOf(repository);
    await tellExemption(tx, place, saved, { type: 'exemption.requested' }, actor, now);
    if (isApproved) await tellExemption(tx, place, saved, { type: 'exemption.approved' }, actor, now);
    const told = { number: saved.pullRequest, installationId: String(repository.installation.id) };
    const next = isApproved
      ? [jobs.reconcilePullRequest(repository.id, told)]
      : isAnnounced
        ? []
        : [jobs.announceRequest(repository.id, saved.id)];
    await deps.queue.send([...next, jobs.endExemptions(repository.id, expiresAt)], tx);
    return saved;
  });
  const about = { repository: fullName(repository), pullRequest: exemption.pullRequest };
  deps.log.info(
    { ...about, exemption: exemption.id, state: exemption.state, by: actor.name },
    'exemption requested',
  );
  return exemption;
}

/** @throws Refusal invalid, which names every problem. */
async function check(
  tx: Tx,
  { id: repositoryId }: FoundRepository,
  freezeIds: string[] | null,
  expiresAt: Date,
  now: Date,
): Promise<void> {
  const known = await notEndedAmong(tx, repositoryId, freezeIds ?? [], now);
  const unknown = (freezeIds ?? []).flatMap((id, index): Problem[] => {
    const message = `This repository has no scheduled or ongoing freeze ${id}. Leave it out, or send null for every freeze.`;
    return known.has(id) ? [] : [{ path: ['body', 'freeze_ids', index], message, type: 'value_error' }];
  });
  const problem = problemOf(expiresAt, now);
  const all = problem
    ? [...unknown, { path: ['body', 'expires_at'], message: problem, type: 'value_error' }]
    : unknown;
  if (all.length > 0) throw invalid(all);
}

function problemOf(expiresAt: Date, now: Date): string | null {
  if (expiresAt <= now) return 'expires_at has passed. Send an instant in the future.';
  if (expiresAt.getTime() - now.getTime() <= longest) return null;
  return 'An exemption lasts 30 days at most. Send an earlier expires_at.';
}
