import {
  assertWritable,
  type FoundRepository,
  fullName,
  lockRepository,
} from '../installations/find-repository.ts';
import type { Actor } from '../events/actor.ts';
import { nowOf } from '../time/clock.ts';
import type { Tx } from '../database/database.ts';
import { conflict } from '../errors.ts';
import { appendEvent, placeOf } from '../events/append-event.ts';
import type { AuditEvent } from '../events/audit-event.ts';
import {
  type FreezeChange,
  planChange,
  planFreeze,
  type PlannedChange,
  type SavedFreeze,
} from './check-freeze.ts';
import {
  attributesOf,
  type Freeze,
  freezeInEvent,
  type NewFreeze,
  saysTheSame,
  type StoredFreeze,
} from './freeze.ts';
import { assertOwnFreeze, changeFreezeRow, findPause, notEnded, requireFreeze } from './freeze-store.ts';
import { type Unenforced, warningOfRepeat, type Ahead } from './freeze-warnings.ts';
import { listFreezes } from './list-freezes.ts';
import { requestReconcile } from './request-reconcile.ts';
import { toRow } from './freeze-columns.ts';
import type { FreezeDeps } from './freeze-deps.ts';

/** A transaction in which a change to a freeze is saved. */
type Saving = {
  deps: Pick<FreezeDeps, 'config' | 'queue'>;
  tx: Tx;
  actor: Actor;
  repository: FoundRepository;
  now: Date;
};

/**
 * Creates a freeze: checks what it would do, and saves it with its event and the jobs for its boundaries in one
 * transaction.
 * @param beforeSaving runs first in the same transaction.
 * @throws Refusal conflict if freezes are switched off, or if the repository cannot be written to or has too many freezes;
 *   invalid if the window or the conditions are wrong.
 */
export async function createFreeze(
  deps: FreezeDeps,
  actor: Actor,
  repository: FoundRepository,
  input: NewFreeze,
  beforeSaving: (tx: Tx, saved: SavedFreeze) => Promise<void> = async () => {},
): Promise<SavedFreeze> {
  const { freeze, warnings } = await planFreeze(deps, repository, input);
  const ahead = await deps.lookAhead(deps, repository, freeze);
  const now = nowOf(deps.clock);
  const others = await listFreezes(deps.sql, repository, now);
  const repeats = warningOfRepeat(freeze, others, now);
  const saved = { freeze, warnings: [...warnings, ...ahead.warnings, ...repeats] };
  await deps.db.$transaction(async (tx) => {
    await beforeSaving(tx, saved);
    await saveNewFreeze({ deps, tx, actor, repository, now }, freeze, ahead);
  });
  deps.log.info({ repository: fullName(repository), freeze: freeze.id, by: actor.name }, 'freeze created');
  return saved;
}

/**
 * Saves a new freeze in a transaction, with its event and its jobs.
 * @throws Refusal conflict if it lies ahead and the repository has as many freezes as it may.
 */
async function saveNewFreeze(
  { deps, tx, actor, repository, now }: Saving,
  freeze: Freeze,
  { unenforced }: Ahead,
): Promise<void> {
  await lockRepository(tx, repository.id);
  if (freeze.startsAt > now) await assertRoom(tx, repository, now);
  const { id, repositoryId } = freeze;
  const stamps = { createdAt: now, createdBy: actor, updatedAt: now, updatedBy: actor };
  await tx.freeze.create({ data: { ...toRow(freeze), id, repositoryId, ...stamps } });
  const metadata = freezeInEvent(freeze);
  await appendEvent(tx, placeOf(repository), { type: 'scheduled_freeze.create', metadata }, actor, now);
  if (unenforced.length > 0) {
    const event = notEnforced(metadata, unenforced, deps.config.statusContext);
    await appendEvent(tx, placeOf(repository), event, actor, now);
  }
  await requestReconcile(deps, tx, freeze, now);
}

/** The event that some branches of a freeze do not require our check. @param context its name. */
export function notEnforced(
  freeze: ReturnType<typeof freezeInEvent>,
  unenforced: Unenforced[],
  context: string,
): Extract<AuditEvent, { type: 'freeze.not_enforced' }> {
  const branches = unenforced.map(({ branch }) => branch);
  const [why] = unenforced.flatMap((each) => each.why ?? []);
  return {
    type: 'freeze.not_enforced',
    metadata: { ...freeze, branches, context, ...(why !== undefined && { why }) },
  };
}

/**
 * How many freezes of a repository may be current when somebody makes another one ahead, because we judge each of them on
 * every pull request. One that begins now always has room: somebody needs it now. Future freezes of plans do not count:
 * the number of plans is limited, and so is what each creates ahead.
 */
export const mostFreezes = 1000;

/**
 * Checks that one more freeze may be made ahead in this transaction, which has locked the repository.
 * @throws Refusal conflict.
 */
export async function assertRoom(tx: Tx, repository: FoundRepository, now: Date): Promise<void> {
  const NOT = { planId: { not: null }, startsAt: { gt: now } };
  const count = await tx.freeze.count({ where: { repositoryId: repository.id, ...notEnded(now), NOT } });
  if (count < mostFreezes) return;
  const name = fullName(repository);
  throw conflict(
    `${name} has ${mostFreezes.toLocaleString('en')} freezes that are not over, the most there can be. Delete one first: GET /v1/repos/${name}/scheduled_freeze lists them, the earliest start first; those whose end is null stay until they are deleted.`,
  );
}

/**
 * Changes a freeze, and says what the change warns of. A change without effect writes nothing and is no event.
 * @throws Refusal like `planChange`; forbidden if the caller is a job that may not change it; conflict if a concurrent
 *   change won.
 */
export async function updateFreeze(
  deps: FreezeDeps,
  actor: Actor,
  repository: FoundRepository,
  id: string,
  change: FreezeChange,
): Promise<SavedFreeze> {
  const planned = await planChange(deps, repository, id, change);
  const { before, after, warnings } = planned;
  // Runs in parallel, so that neither the change nor its statuses wait for it.
  const ahead = deps.lookAhead(deps, repository, after);
  await assertOwnFreeze(deps.db, actor, id);
  const isNew = !saysTheSame(before, after);
  if (isNew) {
    const now = nowOf(deps.clock);
    await deps.db.$transaction((tx) => saveChange({ deps, tx, actor, repository, now }, planned));
    deps.log.info({ repository: fullName(repository), freeze: id, by: actor.name }, 'freeze changed');
  }
  return { freeze: isNew ? after : before, warnings: [...warnings, ...(await ahead).warnings] };
}

/**
 * Saves a change to a freeze in a transaction, with its event and its jobs.
 * @throws Refusal conflict when a concurrent change won.
 */
export async function saveChange(
  { deps, tx, actor, repository, now }: Saving,
  { before, after }: Pick<PlannedChange, 'before' | 'after'>,
): Promise<void> {
  const isEnded = after.endsAt !== null && after.endsAt <= now;
  const change = { ...toRow(after), updatedAt: now, updatedBy: actor };
  await changeFreezeRow(tx, after, change, isEnded ? toRow(before) : null);
  const { scheduled_freeze_attributes, ...about } = freezeInEvent(after);
  const metadata = {
    ...about,
    scheduled_freeze_attributes_before: attributesOf(before),
    scheduled_freeze_attributes_after: scheduled_freeze_attributes,
  };
  await appendEvent(tx, placeOf(repository), { type: 'scheduled_freeze.update', metadata }, actor, now);
  await requestReconcile(deps, tx, after, now, before);
}

/**
 * Deletes a freeze and releases what it held. The row keeps who deleted it, when and why.
 * @param beforeSaving runs first in the same transaction.
 * @throws Refusal forbidden if the caller is a job that may not end it; not-found if the freeze is deleted, has ended or
 *   belongs to another repository; conflict if a concurrent change won or the repository cannot be written to.
 */
export async function deleteFreeze(
  deps: FreezeDeps,
  actor: Actor,
  repository: FoundRepository,
  id: string,
  reason: string,
  beforeSaving: (tx: Tx) => Promise<void> = async () => {},
): Promise<void> {
  const now = nowOf(deps.clock);
  const freeze = await requireFreeze(deps, repository, id);
  await assertOwnFreeze(deps.db, actor, id);
  assertWritable(repository);
  await deps.db.$transaction(async (tx) => {
    await beforeSaving(tx);
    await saveDeletion({ deps, tx, actor, repository, now }, freeze, reason);
  });
  deps.log.info({ repository: fullName(repository), freeze: id, by: actor.name }, 'freeze deleted');
}

/**
 * Saves the deletion of a freeze in a transaction, with its event and its jobs.
 * @throws Refusal conflict when a concurrent change won.
 */
async function saveDeletion(
  { deps, tx, actor, repository, now }: Saving,
  freeze: StoredFreeze,
  reason: string,
): Promise<void> {
  await changeFreezeRow(tx, freeze, { deletedAt: now, deletedBy: actor, deleteReason: reason }, {});
  const metadata = { ...freezeInEvent(freeze), reason };
  await appendEvent(tx, placeOf(repository), { type: 'scheduled_freeze.delete', metadata }, actor, now);
  await requestReconcile(deps, tx, freeze, now);
}

/**
 * Pauses the merge queue of a repository: a freeze of everything that begins now and has no end. If it is paused already,
 * changes the reason, and makes the pause hold everything without an end again. Two calls at the same time create one
 * pause.
 * @returns the freeze that pauses it, and why it may not hold anything.
 * @throws Refusal conflict if freezes are switched off, if the repository cannot be written to or has too many freezes, or
 *   if a concurrent change of the pause won.
 */
export async function pauseMergeQueue(
  deps: FreezeDeps,
  actor: Actor,
  repository: FoundRepository,
  reason: string,
): Promise<SavedFreeze> {
  const everything = { matchingConditions: [], excludeConditions: [] };
  const input = { reason, start: null, end: null, timezone: 'UTC', ...everything };
  const { freeze } = await planFreeze(deps, { ...repository, longestOpenEndHours: null }, input);
  const pause = { ...freeze, isPause: true };
  const ahead = await deps.lookAhead(deps, repository, pause);
  const now = nowOf(deps.clock);
  const paused = await deps.db.$transaction(async (tx) => {
    const saving = { deps, tx, actor, repository, now };
    await lockRepository(tx, repository.id);
    const before = await findPause(tx, repository.id, now);
    if (!before) {
      await saveNewFreeze(saving, pause, ahead);
      return pause;
    }
    const { id, version, publicReason, start, timezone, startsAt } = before;
    const after = { ...pause, id, version, publicReason, start, timezone, startsAt };
    if (!saysTheSame(before, after)) await saveChange(saving, { before, after });
    return after;
  });
  deps.log.info(
    { repository: fullName(repository), freeze: paused.id, by: actor.name },
    'merge queue paused',
  );
  return { freeze: paused, warnings: ahead.warnings };
}

/**
 * Ends the pause of a repository's merge queue, if there is one.
 * @throws Refusal conflict if a concurrent change of the pause won, or the paused repository cannot be written to.
 */
export async function unpauseMergeQueue(
  deps: FreezeDeps,
  actor: Actor,
  repository: FoundRepository,
): Promise<void> {
  const now = nowOf(deps.clock);
  const ended = await deps.db.$transaction(async (tx) => {
    await lockRepository(tx, repository.id);
    const pause = await findPause(tx, repository.id, now);
    if (!pause) return null;
    assertWritable(repository);
    await saveDeletion({ deps, tx, actor, repository, now }, pause, 'Unpaused');
    return pause;
  });
  if (!ended) return;
  const what = { repository: fullName(repository), freeze: ended.id, by: actor.name };
  deps.log.info(what, 'merge queue unpaused');
}
