import type { Actor } from '../events/actor.ts';
import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { appendEvent, placeOf } from '../events/append-event.ts';
import type { Account } from '../generated/prisma/client.ts';
import { jobs } from '../queue/jobs.ts';
import { assertWritable, type FoundRepository } from './find-repository.ts';
import { lockRepository } from './lock-repository.ts';
import { type Product, products } from './product.ts';

/** The products in the order of the interface, so that equal sets look the same. */
const ordered = (chosen: readonly Product[]): Product[] =>
  products.filter((product) => chosen.includes(product));

/**
 * Sets the enabled products of a repository and updates its statuses: without `merge_protections` and `merge_queue`,
 * nothing is held.
 * @throws Refusal conflict if the repository cannot be written to.
 */
export async function setRepositoryProducts(
  deps: Deps,
  actor: Actor,
  repository: FoundRepository,
  chosen: readonly Product[],
): Promise<void> {
  assertWritable(repository);
  const after = ordered(chosen);
  const now = nowOf(deps.clock);
  await deps.db.$transaction(async (tx) => {
    const { id } = repository;
    // The lock on the row orders concurrent changes, so that the log shows the real effect of each.
    await lockRepository(tx, id);
    const { products: before } = await tx.repository.findUniqueOrThrow({ where: { id } });
    const changed = products.filter((product) => before.includes(product) !== after.includes(product));
    if (changed.length === 0) return;
    await tx.repository.update({ where: { id }, data: { products: after, reconcileRequestedAt: now } });
    for (const product of changed) {
      const type = after.includes(product) ? 'product.enabled' : 'product.disabled';
      await appendEvent(tx, placeOf(repository), { type, metadata: { product } }, actor, now);
    }
    await deps.queue.send([jobs.reconcileRepository(id), jobs.keepPlans(repository.accountId)], tx);
  });
}

/** Sets the products of an owner's new repositories. Existing repositories keep theirs. */
export async function setDefaultProducts(
  deps: Deps,
  actor: Actor,
  account: Account,
  chosen: readonly Product[],
): Promise<void> {
  const after = ordered(chosen);
  const now = nowOf(deps.clock);
  await deps.db.$transaction(async (tx) => {
    const { id } = account;
    await tx.$queryRaw`SELECT 1 FROM accounts WHERE id = ${id} FOR UPDATE`;
    const { defaultProducts: before } = await tx.account.findUniqueOrThrow({ where: { id } });
    await tx.account.update({ where: { id }, data: { defaultProducts: after } });
    const metadata = { products_before: ordered(before), products_after: after };
    await appendEvent(tx, { accountId: id }, { type: 'default_products.update', metadata }, actor, now);
  });
}
