import type { Actor } from '../events/actor.ts';
import { nowOf } from '../time/clock.ts';
import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { conflict } from '../errors.ts';
import { appendEvent, placeOf } from '../events/append-event.ts';
import { assertWritable, type FoundRepository, fullName } from '../installations/find-repository.ts';
import { assertOwnFreeze, saveFreeze, requireFreeze } from './freeze-store.ts';
import { checkFreeze } from './check-freeze.ts';
import {
  attributesOf,
  eachField,
  type FreezeFields,
  freezeInEvent,
  type NewFreeze,
  saysTheSame,
} from './freeze.ts';
import { reviseWindow, limitOpenEnd, warningsOfOpenEnd } from './freeze-window.ts';
import type { StoredFreeze } from './freeze-columns.ts';
import { requestReconcile } from './request-reconcile.ts';

/** `undefined` keeps a field. */
export type FreezeChange = Partial<NewFreeze>;

/** A freeze before and after a change, and the warnings. */
type PlannedChange = { before: StoredFreeze; after: StoredFreeze; warnings: string[] };

/**
 * The result of a change to a freeze, not saved yet.
 * @throws Refusal start-already-passed if the start of a freeze that has begun would move; not-found if the freeze is
 *   deleted, has ended or belongs to another repository; conflict if the repository cannot be written to; invalid.
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
  // A freeze that had no end keeps none, and a pause never has an end.
  const isOpened = change.end === null && before.end !== null && !before.isPause;
  const hours = isOpened ? repository.longestOpenEndHours : null;
  const fields = revisedFields(before, change);
  const checked = checkFreeze(limitOpenEnd(reviseWindow(before, change, now), hours, now), fields);
  return { before, after: { ...before, ...fields, ...checked }, warnings: warningsOfOpenEnd(checked, hours) };
}

/**
 * Saves a change to a freeze. A change without effect writes nothing and is no event.
 * @throws Refusal forbidden if the caller is a job that may not change it; conflict if a concurrent change won.
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
 * Saves a change to a freeze in a transaction, with its event and its jobs.
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
  const { scheduled_freeze_attributes, ...about } = freezeInEvent(after);
  const metadata = {
    ...about,
    scheduled_freeze_attributes_before: attributesOf(before),
    scheduled_freeze_attributes_after: scheduled_freeze_attributes,
  };
  await appendEvent(tx, placeOf(repository), { type: 'scheduled_freeze.update', metadata }, actor, now);
  await requestReconcile(deps, tx, after, now, before);
}

/** Removing a field that was never set changes nothing, so answers still leave it out. */
const revisedFields = (before: FreezeFields, change: FreezeChange) =>
  eachField<NewFreeze>((name) => {
    const sent = change[name];
    return sent === undefined || (sent === null && before[name] === undefined) ? before[name] : sent;
  });
