import { nowOf } from '../time/clock.ts';
import type { Tx } from '../database/database.ts';
import type { Actor } from '../events/actor.ts';
import { appendEvent, placeOf } from '../events/append-event.ts';
import type { AuditEvent } from '../events/audit-event.ts';
import type { HeadStatus } from '../generated/prisma/client.ts';
import { defineTask } from '../database/queue/define-task.ts';
import { askStep, type ForeignStatus, inSteps, jobs } from '../database/queue/jobs.ts';
import { type FoundRepository, fullName } from '../installations/find-repository.ts';
import { wantedOn, type Status } from './status.ts';
import { inSeconds } from '../time/local-time.ts';
import { isContested, isFull, isUsedUp, tierOf, tiers } from './plan-write.ts';
import {
  lockStatusOn,
  saveForeign,
  endRefused,
  markHead,
  type Write,
  type StatusEvent,
  saysWanted,
} from './write-store.ts';
import type { StatusList } from './write-status.ts';
import type { StatusDeps } from './status-deps.ts';

/** Whether a status came after our last write, by its id, or by its time if a restored GitHub starts its ids again. */
function isLater({ writtenId, writtenAt }: HeadStatus, { id, at }: StatusEvent): boolean {
  if (writtenId === null || BigInt(id) > writtenId) return true;
  return at !== undefined && writtenAt !== null && inSeconds(new Date(at)) > inSeconds(writtenAt);
}

/** Whether an event says that the commit has another status than we want. */
const isContradicted = (head: HeadStatus, event: StatusEvent): boolean =>
  isLater(head, event) && !saysWanted(head, event);

/**
 * Counts a status that somebody else wrote with our context. If it differs from what we want, we write ours again and
 * record who wrote it. If others use up the commit's statuses, we write the last one.
 */
export async function correctStatus(
  deps: StatusDeps,
  repositoryId: bigint,
  sha: string,
  foreign: ForeignStatus,
): Promise<void> {
  const repository = await deps.db.repository.findUnique({
    where: { id: repositoryId },
    include: { account: true, installation: true },
  });
  const { installation } = repository ?? {};
  if (!repository || !installation) return;
  // This includes our own: an attempt whose answer was lost may arrive late. We correct it without recording it.
  const isOurs = foreign.by === (await deps.github.botLogin());
  await deps.db.$transaction(async (tx) => {
    const found = await lockStatusOn(tx, repositoryId, sha);
    if (!found) return;
    const isContrary = isContradicted(found, foreign);
    if (isOurs && !isContrary) return;
    const head =
      isOurs || isCounted(found, foreign)
        ? found
        : await saveForeign(tx, found, { overwrites: { increment: 1 } });
    const isLast = !head.isFinal && isUsedUp(head);
    if (!isContrary && !isLast) return;
    const now = nowOf(deps.clock);
    const notBefore = isLast ? now : head.isWaiting ? head.notBefore : latest(now, head.repeatAfter);
    const tier = isLast ? tiers.closesHole : tierOf(wantedOn(head), foreign);
    // Merge groups have theirs already.
    const comesSooner = !head.isMergeGroup && (!head.isWaiting || tier < head.tier);
    const updated = await saveForeign(tx, head, {
      isWaiting: true,
      waitingSince: head.waitingSince ?? now,
      ...(comesSooner && { tier, urgency: 0 }),
      notBefore,
      // The write checks first, because our answer to an earlier event may have arrived by then.
      attempts: Math.max(1, head.attempts),
      contradictedBy: BigInt(foreign.id),
      ...(isContrary && { writtenState: foreign.state, writtenDescription: foreign.description }),
    });
    if (isContrary && !isOurs) await record(deps, tx, { ...repository, installation }, updated, foreign);
    await deps.queue.send([jobs.drainOutbox(installation.id, notBefore > now ? notBefore : undefined)], tx);
  });
}

const isCounted = ({ countedId }: HeadStatus, { id }: StatusEvent): boolean =>
  countedId !== null && BigInt(id) <= countedId;

async function record(
  deps: StatusDeps,
  tx: Tx,
  repository: FoundRepository,
  head: HeadStatus,
  { state, description, by, byId }: ForeignStatus,
): Promise<void> {
  const { sha } = head;
  const now = nowOf(deps.clock);
  const actor = { type: 'user', id: byId, name: by } as const;
  deps.log.warn({ repository: fullName(repository), sha, by, state }, 'our status was overwritten');
  const metadata = { sha, state, description, expected_state: wantedOn(head).state };
  await appendEvent(tx, placeOf(repository), { type: 'freeze_status.overwritten', metadata }, actor, now);
  if (head.state !== 'success' && isContested(head, now)) await markContested(deps, head, actor, tx);
}

const latest = (one: Date, other: Date | null): Date => (other && other > one ? other : one);

/** Why a head that should be held is not held. */
type NotHeld = Extract<AuditEvent, { type: 'freeze_status.refused' | 'freeze_status.contested' }>;

/**
 * Marks a head that a freeze should hold as not held, and writes an audit event, once while freezes hold it. Runs in a
 * transaction. If the verdict changed to free meanwhile, does nothing.
 * @param by who caused it, if known.
 */
async function markNotHeld(
  deps: Pick<StatusDeps, 'clock' | 'log'>,
  tx: Tx,
  { repositoryId, sha }: Pick<HeadStatus, 'repositoryId' | 'sha'>,
  event: NotHeld,
  by: Actor | null,
): Promise<void> {
  const notHeld = event.type === 'freeze_status.refused' ? 'refused' : 'contested';
  if (!(await markHead(tx, { repositoryId, sha }, notHeld))) return;
  const repository = await tx.repository.findUniqueOrThrow({
    where: { id: repositoryId },
    include: { account: true },
  });
  deps.log.warn({ repository: fullName(repository), sha, why: notHeld }, 'a frozen commit is not held');
  await appendEvent(tx, placeOf(repository), event, by, nowOf(deps.clock));
}

type Contested = Pick<
  HeadStatus,
  'repositoryId' | 'sha' | 'state' | 'writtenState' | 'writtenDescription' | 'timesWritten'
>;

/** The same for a head where somebody overwrites our status more often than we repeat it. @param by null if unknown. */
export function markContested(
  deps: StatusDeps,
  head: Contested,
  by: Actor | null = null,
  tx?: Tx,
): Promise<void> {
  const { sha, writtenState, writtenDescription, state, timesWritten } = head;
  const metadata = {
    sha,
    state: writtenState,
    description: writtenDescription,
    expected_state: state,
    times_written: timesWritten,
  };
  const mark = (within: Tx) =>
    markNotHeld(deps, within, head, { type: 'freeze_status.contested', metadata }, by);
  return tx ? mark(tx) : deps.db.$transaction(mark);
}

/**
 * Handles a permanent refusal by GitHub: the commit is gone or has all its statuses. We try again only after a new
 * observation. We never silently drop a status that must hold: if the current status does not hold the commit, its head
 * counts as not held.
 * @param list the current statuses; null if unknown.
 * @param why GitHub's message.
 */
export async function refuseStatus(
  deps: StatusDeps,
  write: Pick<Write, 'repositoryId' | 'sha' | 'observation' | 'state'>,
  wanted: Status,
  list: StatusList | null,
  why: string,
): Promise<void> {
  const { sha } = write;
  const newest = list?.statuses[0];
  const now = nowOf(deps.clock);
  const isHeld = newest !== undefined && newest.state !== 'success';
  const learned = {
    ...(newest && { writtenState: newest.state, writtenDescription: newest.description }),
    ...(list?.count && isFull(list.count) && { isFinal: true }),
  };
  await deps.db.$transaction(async (tx) => {
    const isMeant = await endRefused(tx, write, learned, {
      isHeld: isHeld && write.state !== 'success',
      now,
    });
    if (!isMeant || write.state === 'success') return;
    // It was not asked about as long as its status waited.
    await deps.queue.send([jobs.askMergeStates(write.repositoryId, inSteps(now, askStep))], tx);
    if (isHeld) return;
    const metadata = { sha, state: wanted.state, description: wanted.description, why };
    await markNotHeld(deps, tx, write, { type: 'freeze_status.refused', metadata }, null);
  });
}

export const correctStatusTask = defineTask(
  jobs.correctStatus,
  (deps: StatusDeps, { repositoryId, sha, written }) =>
    correctStatus(deps, BigInt(repositoryId), sha, written),
);
