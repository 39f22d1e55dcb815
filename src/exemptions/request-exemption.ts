import { randomUUID } from 'node:crypto';
import { readOwnPullRequest } from '../github/pull-requests/own-repository.ts';
import { greatestNumber } from '../github/pull-requests/pull-request.ts';
import { nowOf } from '../time/clock.ts';
import type { Tx } from '../database/database.ts';
import { conflict, invalid, notFound, type Problem } from '../errors.ts';
import { placeOf } from '../events/append-event.ts';
import { askGitHub } from '../github/ask-github.ts';
import { isGitHubStatus } from '../github/github-error.ts';
import { stackPlacesIn, stacksOf } from '../github/pull-requests/stacks.ts';
import { notEndedAmong } from '../freezes/freeze-store.ts';
import {
  assertWritable,
  type FoundRepository,
  fullName,
  lockRepository,
} from '../installations/find-repository.ts';
import { readSettings } from '../settings/settings.ts';
import { jobs } from '../database/queue/jobs.ts';
import { assertThemselves, type DecisionCaller } from './decide-exemption.ts';
import type { ExemptDeployment } from './exemption.ts';
import {
  assertApprovalLimit,
  assertRequestLimit,
  appendExemptionEvent,
  inLog,
  insertExemption,
  wakeFor,
} from './save-exemption.ts';
import type { ExemptionRecord } from './exemption-store.ts';
import type { FreezeDeps } from '../freezes/freeze-deps.ts';
import { day } from '../time/units.ts';

/** What every request says. */
type Wish = {
  reason: string;
  publicReason: string | null;
  /** Null for a day from now. */
  expiresAt: Date | null;
};

export type NewExemption = Wish & {
  /** Null for every freeze, including future ones. */
  freezeIds: string[] | null;
  anyHead: boolean;
  /** The head commit that the caller means; null for the one that GitHub shows. */
  headSha: string | null;
};

/** A deployment to exempt: of a commit or of a run, also before that exists. The other one is null. */
export type NewDeploymentExemption = Wish & Omit<ExemptDeployment, 'attempt'>;

/** Runs in the transaction, before anything is saved. */
type BeforeSaving = (tx: Tx, exemption: ExemptionRecord) => Promise<void>;

const longestExemption = 30 * day;

/**
 * Saves an exemption, with its events and the job for its end, in one transaction. An admin's exemption is approved at
 * once, unless the repository requires two people. Otherwise, and for writers, it is requested.
 * @param beforeSaving runs in the same transaction, before anything is saved.
 * @param isAnnounced whether the caller tells the conversation of it.
 * @throws Refusal not-found if the pull request does not exist; conflict if it is closed, the repository cannot be
 *   written to, its head is another one than the caller means, the caller has too many open requests or made too many in
 *   an hour, or the pull request has too many approved exemptions; invalid; unavailable while GitHub does not answer.
 */
export async function requestExemption(
  deps: FreezeDeps,
  { actor, notAdmin }: DecisionCaller,
  repository: FoundRepository,
  number: bigint,
  input: NewExemption,
  beforeSaving: BeforeSaving,
  isAnnounced = false,
): Promise<ExemptionRecord> {
  assertWritable(repository);
  // Checked before we ask GitHub, so that a request that would be refused anyway costs no question.
  if (notAdmin) await assertRequestLimit(deps.db, repository, actor, nowOf(deps.clock));
  const { headSha, seenAt, baseRef } = await readHead(deps, repository, number);
  if (input.headSha && input.headSha !== headSha)
    throw conflict(
      `Commits were pushed to ${fullName(repository)}#${number}: its head is ${headSha}, not ${input.headSha}. Check the new commits, then try again with this head.`,
    );
  const { anyHead, freezeIds, ...wish } = input;
  const pinned = { pullRequest: Number(number), headSeenAt: seenAt, baseRef, anyHead, freezeIds };
  const subject = { ...pinned, headSha, deployment: null };
  return save(deps, { actor, notAdmin }, repository, subject, wish, beforeSaving, isAnnounced);
}

/**
 * The same for a deployment. GitHub is not asked about it, because its run may not exist yet.
 * @throws Refusal like `requestExemption`, but not-found.
 */
export async function requestDeploymentExemption(
  deps: FreezeDeps,
  caller: DecisionCaller,
  repository: FoundRepository,
  { environment, sha, runId, ...wish }: NewDeploymentExemption,
  beforeSaving: BeforeSaving,
): Promise<ExemptionRecord> {
  assertWritable(repository);
  const subject = {
    ...{ pullRequest: 0, headSha: sha ?? '', headSeenAt: nowOf(deps.clock), baseRef: '', anyHead: false },
    freezeIds: null,
    deployment: { environment, sha, runId, attempt: null },
  };
  return save(deps, caller, repository, subject, wish, beforeSaving, true);
}

type RequestedSubject = Pick<
  ExemptionRecord,
  'pullRequest' | 'headSha' | 'headSeenAt' | 'baseRef' | 'anyHead' | 'freezeIds' | 'deployment'
>;

async function save(
  deps: FreezeDeps,
  { actor, notAdmin }: DecisionCaller,
  repository: FoundRepository,
  subject: RequestedSubject,
  { reason, publicReason, ...wish }: Wish,
  beforeSaving: BeforeSaving,
  isAnnounced: boolean,
): Promise<ExemptionRecord> {
  const now = nowOf(deps.clock);
  const expiresAt = wish.expiresAt ?? new Date(now.getTime() + day);
  const exemption = await deps.db.$transaction(async (tx) => {
    await lockRepository(tx, repository.id);
    const { twoPersonExemptions: isForTwo } = await readSettings(tx, repository.id);
    if (isForTwo) assertThemselves(deps, repository, subject, actor);
    const isApproved = notAdmin === null && !isForTwo;
    const requested: ExemptionRecord = {
      id: randomUUID(),
      repositoryId: repository.id,
      ...subject,
      ...{ reason, publicReason, expiresAt },
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
    await check(tx, repository, subject.freezeIds, expiresAt, now);
    if (isApproved) await assertApprovalLimit(tx, repository, saved, now);
    else await assertRequestLimit(tx, repository, actor, now);
    await insertExemption(tx, saved);
    const place = placeOf(repository);
    await appendExemptionEvent(tx, place, requested, actor, now);
    if (isApproved) await appendExemptionEvent(tx, place, saved, actor, now);
    // A request is told, and whoever decides on it is shown the checks of its pull request.
    const isAbout = isApproved || saved.deployment === null;
    const next = [
      ...(isAbout ? [wakeFor(repository, saved)] : []),
      ...(isApproved || isAnnounced ? [] : [jobs.announceRequest(repository.id, saved.id)]),
    ];
    await deps.queue.send([...next, jobs.endExemptions(repository.id, expiresAt)], tx);
    return saved;
  });
  const about = { ...inLog(repository, exemption), exemption: exemption.id, state: exemption.state };
  deps.log.info({ ...about, by: actor.name }, 'exemption requested');
  return exemption;
}

/** What an exemption is pinned to. @property seenAt when the pull request last changed, according to GitHub's clock. */
type Head = { headSha: string; seenAt: Date; baseRef: string };

/**
 * The head of an open pull request that GitHub shows now.
 * @throws Refusal not-found if the pull request does not exist; conflict if it is closed; unavailable while GitHub does
 *   not answer.
 */
async function readHead(deps: FreezeDeps, repository: FoundRepository, number: bigint): Promise<Head> {
  const name = fullName(repository);
  const absent = notFound(`${name} has no pull request ${number}.`);
  if (number > greatestNumber) throw absent;
  const pullRequest = await askGitHub(
    deps,
    repository.installation.id,
    `which head ${name}#${number} has`,
    async () => {
      const client = await deps.github.asInstallation(repository.installation.id);
      try {
        return await readOwnPullRequest(client, repository.id, Number(number));
      } catch (error) {
        throw isGitHubStatus(error, 404) ? absent : error;
      }
    },
  );
  if (pullRequest.state !== 'open')
    throw conflict(`${name}#${number} is closed, so nothing holds it. Reopen it on GitHub first.`);
  const { head, base, updated_at } = pullRequest;
  const stack = stackPlacesIn(stacksOf(repository)).get(Number(number));
  return { headSha: head.sha, seenAt: new Date(updated_at), baseRef: stack?.base ?? base.ref };
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
  if (expiresAt.getTime() - now.getTime() <= longestExemption) return null;
  return 'An exemption lasts 30 days at most. Send an earlier expires_at.';
}
