import type { Actor } from '../events/actor.ts';
import { nowOf } from '../time/clock.ts';
import type { Deps } from '../deps.ts';
import {
  type FoundRepository,
  fullName,
  assertWritable,
  lockRepository,
} from '../installations/find-repository.ts';
import { planFreeze, type SavedFreeze, saveNewFreeze } from './create-freeze.ts';
import { saysTheSame } from './freeze.ts';
import { findPause } from './freeze-store.ts';
import { saveChange } from './update-freeze.ts';
import { saveDeletion } from './delete-freeze.ts';

/**
 * Pauses the merge queue of a repository: a freeze of everything that begins now and has no end. If it is paused already,
 * changes the reason, and makes the pause hold everything without an end again. Two calls at the same time create one
 * pause.
 * @returns the freeze that pauses it, and why it may not hold anything.
 * @throws Refusal conflict if freezes are switched off, if the repository cannot be written to or has too many freezes, or
 *   if a concurrent change of the pause won.
 */
export async function pauseMergeQueue(
  deps: Deps,
  actor: Actor,
  repository: FoundRepository,
  reason: string,
): Promise<SavedFreeze> {
  const everything = { matchingConditions: [], excludeConditions: [] };
  const input = { reason, start: null, end: null, timezone: 'UTC', ...everything };
  const { freeze } = planFreeze(deps, { ...repository, longestOpenEndHours: null }, input);
  const pause = { ...freeze, isPause: true };
  const ahead = await deps.lookAhead(deps, repository, pause);
  const now = nowOf(deps.clock);
  const paused = await deps.db.$transaction(async (tx) => {
    await lockRepository(tx, repository.id);
    const before = await findPause(tx, repository.id, now);
    if (!before) {
      await saveNewFreeze(deps, tx, actor, repository, pause, ahead, now);
      return pause;
    }
    const { id, version, publicReason, start, timezone, startsAt } = before;
    const after = { ...pause, id, version, publicReason, start, timezone, startsAt };
    if (!saysTheSame(before, after)) await saveChange(deps, tx, actor, repository, { before, after }, now);
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
  deps: Deps,
  actor: Actor,
  repository: FoundRepository,
): Promise<void> {
  const now = nowOf(deps.clock);
  const ended = await deps.db.$transaction(async (tx) => {
    await lockRepository(tx, repository.id);
    const pause = await findPause(tx, repository.id, now);
    if (!pause) return null;
    assertWritable(repository);
    await saveDeletion(deps, tx, actor, repository, pause, 'Unpaused', now);
    return pause;
  });
  if (!ended) return;
  const what = { repository: fullName(repository), freeze: ended.id, by: actor.name };
  deps.log.info(what, 'merge queue unpaused');
}
