import type { Actor } from '../events/actor.ts';
import { nowOf } from '../clock.ts';
import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { conflict } from '../errors.ts';
import { appendEvent, placeOf } from '../events/append-event.ts';
import { assertWritable, type FoundRepository, fullName } from '../installations/find-repository.ts';
import { assertOwnFreeze } from './assert-own-freeze.ts';
import { checkFreeze } from './check-freeze.ts';
import { type Holdable, reviseWindow, saysTheSame } from './freeze.ts';
import { attributesOf, saveFreeze, type StoredFreeze } from './freeze-store.ts';
import { limitOpenEnd, warningsOfOpenEnd } from './open-end.ts';
import { requestReconcile } from './request-reconcile.ts';
import { requireFreeze } from './require-freeze.ts';

/** `undefined` leaves a field as it is. */
export type FreezeChange = {
  reason?: string;
  /** null takes it away. */
  publicReason?: string | null;
  /** null begins now. */
  start?: string | null;
  /** null never ends. */
  end?: string | null;
  timezone?: string;
  matchingConditions?: unknown[];
  excludeConditions?: unknown[];
  holds?: Holdable[];
  environments?: string[];
};

/** A freeze as it is, as it is to be, and what to warn of. */
export type PlannedChange = { before: StoredFreeze; after: StoredFreeze; warnings: string[] };

/**
 * What a change would make of a freeze, not saved yet.
 * @throws Refusal start-already-passed when the start of a begun freeze would move; not-found for a freeze that is
 *   deleted, ended or not of this repository; conflict where the repository cannot be written to; invalid.
 */
export async function planChange(
  deps: Deps,
  repository: FoundRepository,
  id: string,
  change: FreezeChange,
): Promise<PlannedChange> {
  const before = await requireFreeze(deps, repository, id);
  assertWritable(repository);
  const now = nowOf(deps.clock);
  // What had no end keeps none, and a pause is meant to have none.
  const isOpened = change.end === null && before.end !== null && !before.isPause;
  const hours = isOpened ? repository.longestOpenEndHours : null;
  const checked = checkFreeze(limitOpenEnd(reviseWindow(before, change, now), hours, now), {
    matchingConditions: change.matchingConditions ?? before.matchingConditions,
    excludeConditions: change.excludeConditions ?? before.excludeConditions,
  });
  const after = {
    ...before,
    reason: change.reason ?? before.reason,
    publicReason: revisePublicReason(before.publicReason, change.publicReason),
    holds: change.holds ?? before.holds,
    environments: change.environments ?? before.environments,
    ...checked,
  };
  return { before, after, warnings: warningsOfOpenEnd(checked, hours) };
}

/**
 * Saves a change of a freeze. What changes nothing is not written, and is no event.
 * @throws Refusal forbidden for a job that may not change it; conflict when a concurrent change won.
 */
export async function updateFreeze(
  deps: Deps,
  actor: Actor,
  repository: FoundRepository,
  planned: PlannedChange,
): Promise<StoredFreeze> {
  const { before, after } = planned;
  await assertOwnFreeze(deps.db, actor, before.id);
  if (saysTheSame(before, after)) return before;
  const now = nowOf(deps.clock);
  await deps.db.$transaction((tx) => saveChange(deps, tx, actor, repository, planned, now));
  deps.log.info({ repository: fullName(repository), freeze: before.id, by: actor.name }, 'freeze changed');
  return after;
}

/**
 * Saves a change of a freeze in a transaction, with its event and its jobs.
 * @throws Refusal conflict when a concurrent change won.
 */
export async function saveChange(
  deps: Pick<Deps, 'queue'>,
  tx: Tx,
  actor: Actor,
  repository: FoundRepository,
  { before, after }: Pick<PlannedChange, 'before' | 'after'>,
  now: Date,
): Promise<void> {
  if (!(await saveFreeze(tx, after, actor, now))) {
    throw conflict('A concurrent change of this freeze won. List the freezes and try again.');
  }
  const metadata = {
    scheduled_freeze_id: before.id,
    scheduled_freeze_attributes_before: attributesOf(before),
    scheduled_freeze_attributes_after: attributesOf(after),
  };
  await appendEvent(tx, placeOf(repository), { type: 'scheduled_freeze.update', metadata }, actor, now);
  await requestReconcile(deps, tx, after, now);
}

type PublicReason = FreezeChange['publicReason'];

/** What was never set is not taken away: answers go on without it. */
const revisePublicReason = (before: PublicReason, change: PublicReason): PublicReason =>
  change === undefined || (change === null && before === undefined) ? before : change;
