import type { Actor } from '../events/actor.ts';
import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { type FoundRepository, fullName } from '../installations/find-repository.ts';
import { lockRepository } from '../installations/lock-repository.ts';
import { type Ahead, planFreeze, saveNewFreeze } from './create-freeze.ts';
import { type Freeze, saysTheSame } from './freeze.ts';
import { findPause } from './freeze-store.ts';
import { saveChange } from './update-freeze.ts';

/**
 * The requested pause, not saved yet: a freeze of everything that begins now and has no end.
 * @throws Refusal conflict if freezes are switched off or the repository cannot be written to.
 */
export function planPause(deps: Pick<Deps, 'clock'>, repository: FoundRepository, reason: string): Freeze {
  const everything = { matchingConditions: [], excludeConditions: [] };
  const input = { reason, start: null, end: null, timezone: 'UTC', ...everything };
  const { freeze } = planFreeze(deps, { ...repository, longestOpenEndHours: null }, input);
  return { ...freeze, isPause: true };
}

/**
 * Pauses the merge queue of a repository. If it is paused already, changes the reason, and makes the pause hold
 * everything without an end again. Two calls at the same time create one pause.
 * @param ahead the result of `lookAhead`.
 * @returns the freeze that pauses it.
 * @throws Refusal conflict if the repository has too many freezes, or a concurrent change of the pause won.
 */
export async function pauseMergeQueue(
  deps: Deps,
  actor: Actor,
  repository: FoundRepository,
  pause: Freeze,
  ahead: Ahead,
): Promise<Freeze> {
  const now = nowOf(deps.clock);
  const paused = await deps.db.$transaction(async (tx) => {
    await lockRepository(tx, repository.id);
    const before = await findPause(tx, repository.id, now);
    if (!before) {
      await saveNewFreeze(deps, tx, actor, repository, pause, ahead, now);
      return pause;
    }
    const { reason, end, endsAt, matchingConditions, excludeConditions } = pause;
    const everything = { matchingConditions, excludeConditions, holds: undefined, environments: undefined };
    const after = { ...before, reason, end, endsAt, ...everything };
    if (!saysTheSame(before, after)) await saveChange(deps, tx, actor, repository, { before, after }, now);
    return after;
  });
  deps.log.info(
    { repository: fullName(repository), freeze: paused.id, by: actor.name },
    'merge queue paused',
  );
  return paused;
}
