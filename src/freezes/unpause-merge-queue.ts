import type { Actor } from '../events/actor.ts';
import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { assertWritable, type FoundRepository, fullName } from '../installations/find-repository.ts';
import { lockRepository } from '../installations/repository-rows.ts';
import { saveDeletion } from './delete-freeze.ts';
import { findPause } from './freeze-store.ts';

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
