import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { Refusal } from '../errors.ts';
import type { Actor } from '../events/actor.ts';
import { deleteFreeze } from '../freezes/delete-freeze.ts';
import type { Account } from '../generated/prisma/client.ts';
import type { Administered } from '../installations/find-account.ts';
import { repositoriesOfIds } from '../installations/repository-rows.ts';
import { deletePlan } from './delete-plan.ts';
import type { Ongoing } from './ongoing.ts';

/**
 * Ends something ongoing: a plan as a whole, or freezes one after another. Ignores what somebody else ended meanwhile.
 * @param administered the repositories that the caller is an admin of.
 * @param beforeSaving runs first in the transaction that ends the plan, or each freeze.
 * @throws Refusal conflict if a concurrent change won or a repository cannot be written to.
 */
export async function endOngoing(
  deps: Deps,
  actor: Actor,
  { account, administered }: { account: Account; administered: Administered },
  { plan, freezes }: Ongoing,
  reason: string,
  beforeSaving: (tx: Tx) => Promise<void> = async () => {},
): Promise<void> {
  if (plan)
    return deletePlan(deps, actor, account, administered, plan.id, reason, beforeSaving).catch(unlessGone);
  const ids = freezes.map(({ repositoryId }) => repositoryId);
  const repositories = await repositoriesOfIds(deps.sql, ids);
  for (const { id, repositoryId } of freezes) {
    const repository = repositories.find((each) => each.id === repositoryId)!;
    await deleteFreeze(deps, actor, repository, id, reason, beforeSaving).catch(unlessGone);
  }
}

/** Ignores not-found: somebody else ended it first. */
function unlessGone(error: unknown): void {
  if (!(error instanceof Refusal) || error.code !== 'not-found') throw error;
}
