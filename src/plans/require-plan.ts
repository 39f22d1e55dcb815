import { nowOf } from '../clock.ts';
import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../errors.ts';
import type { Account } from '../generated/prisma/client.ts';
import { findPlan, type StoredPlan } from './plan-store.ts';

/**
 * The plan of this id, while it is not over.
 * @throws Refusal not-found.
 */
export async function requirePlan(
  tx: Tx,
  { clock }: Pick<Deps, 'clock'>,
  account: Pick<Account, 'id' | 'login'>,
  id: string,
): Promise<StoredPlan> {
  const plan = await findPlan(tx, { id, accountId: account.id }, nowOf(clock));
  if (plan) return plan;
  throw notFound(`${account.login} has no freeze plan ${id}. It may be over or deleted.`);
}
