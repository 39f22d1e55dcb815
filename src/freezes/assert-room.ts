import type { Tx } from '../database/database.ts';
import { conflict } from '../errors.ts';
import { type FoundRepository, fullName } from '../installations/find-repository.ts';
import { lockRepository } from '../installations/lock-repository.ts';
import { notEnded } from './freeze-store.ts';

/**
 * Freezes of a repository that are not over: each of them is judged on every pull request. Those that plans made for the
 * time ahead do not count. An owner's plans are bounded, and so is what each makes ahead; without this, thirty that
 * repeat every day would leave no room for the freeze that somebody needs now.
 */
export const mostFreezes = 1000;

/**
 * Holds while one more freeze may be saved in this transaction: others who save one wait for its end.
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
