import { randomUUID } from 'node:crypto';
import type { Actor } from '../auth/actor.ts';
import { nowOf } from '../clock.ts';
import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { conflict } from '../errors.ts';
import { unenforcedBranches } from '../enforcement/unenforced-branches.ts';
import { appendEvent, placeOf } from '../events/append-event.ts';
import { enforcesFreezes } from '../products/product.ts';
import { assertWritable, type FoundRepository, fullName } from '../repositories/find-repository.ts';
import { assertRoom } from './assert-room.ts';
import { checkFreeze } from './check-freeze.ts';
import { type Freeze, planWindow } from './freeze.ts';
import { attributesOf, insertFreeze } from './freeze-store.ts';
import { requestRefresh } from './request-refresh.ts';

export type NewFreeze = {
  reason: string;
  /** Wall-clock time in `timezone`; null begins now. */
  start: string | null;
  end: string | null;
  timezone: string;
  matchingConditions: unknown[];
  excludeConditions: unknown[];
};

/** A saved freeze, and the branches on which nothing enforces it. */
export type CreatedFreeze = { freeze: Freeze; unenforced: string[] };

/**
 * Schedules a freeze, with its event and the jobs for its boundaries in one transaction.
 * @param onSaved runs in the same transaction.
 * @throws Refusal conflict where no product enforces freezes, the repository cannot be written to or has as many
 *   freezes as it may; invalid
 *   for a window or conditions that cannot be.
 */
export async function createFreeze(
  deps: Deps,
  actor: Actor,
  repository: FoundRepository,
  input: NewFreeze,
  onSaved: (tx: Tx, created: CreatedFreeze) => Promise<void> = async () => {},
): Promise<CreatedFreeze> {
  assertWritable(repository);
  assertEnforced(repository);
  const now = nowOf(deps.clock);
  const freeze: Freeze = {
    id: randomUUID(),
    repositoryId: repository.id,
    reason: input.reason,
    ...checkFreeze(planWindow(input, now), input),
  };
  const created = { freeze, unenforced: await unenforcedBranches(deps, repository, freeze) };
  await deps.db.$transaction(async (tx) => {
    await assertRoom(tx, repository, now);
    await insertFreeze(tx, freeze, actor, now);
    const metadata = { scheduled_freeze_id: freeze.id, scheduled_freeze_attributes: attributesOf(freeze) };
    await appendEvent(tx, placeOf(repository), { type: 'scheduled_freeze.create', metadata }, actor, now);
    if (created.unenforced.length > 0) {
      const found = { scheduled_freeze_id: freeze.id, branches: created.unenforced };
      await appendEvent(
        tx,
        placeOf(repository),
        { type: 'freeze.not_enforced', metadata: { ...found, context: deps.config.statusContext } },
        actor,
        now,
      );
    }
    await requestRefresh(deps, tx, freeze, now);
    await onSaved(tx, created);
  });
  deps.log.info({ repository: fullName(repository), freeze: freeze.id, by: actor.name }, 'freeze created');
  return created;
}

function assertEnforced(repository: FoundRepository): void {
  if (enforcesFreezes(repository.products)) return;
  const { account, name } = repository;
  throw conflict(
    `Freezes are not enforced on ${fullName(repository)}: neither merge_protections nor merge_queue is enabled. ` +
      `Enable one first with PUT /v1/products/${account.login}/${name} and {"products": ["merge_protections"]}.`,
  );
}
