import type { Tx } from '../database/database.ts';
import { conflict } from '../errors.ts';
import { type FoundRepository, fullName } from '../installations/find-repository.ts';
import { lockRepository } from '../installations/repository-rows.ts';
import { notEnded } from './freeze-store.ts';

/**
 * How many freezes of a repository may be current, because we judge each of them on every pull request. Future freezes of
 * plans do not count: the number of plans is limited, and so is what each creates ahead. If they counted, thirty daily
 * plans would leave no room for the freeze that somebody needs now.
 */
export const mostFreezes = 1000;

/**
 * Checks that one more freeze may be saved in this transaction. Other transactions that save one wait.
 * @throws Refusal conflict.
 */
export async function assertRoom(tx: Tx, repository: FoundRepository, now: Date): Promise<void> {
  await lockRepository(tx, repository.id);
  const NOT = { planId: { not: null }, startsAt: { gt: now } };
  const count = await tx.freeze.count({ where: { repositoryId: repository.id, ...notEnded(now), NOT } });
  if (count < mostFreezes) return;
  const name = fullName(repository);
  throw conflict(
    `${name} has ${mostFreezes.toLocaleString('en')} freezes that are not over, the most there can be. Delete one first: GET /v1/repos/${name}/scheduled_freeze lists them, the earliest start first; those whose end is null stay until they are deleted.`,
  );
}
