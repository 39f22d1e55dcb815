import type { Deps } from '../deps.ts';
import type { Product } from './product.ts';

export type RepositoryProducts = { name: string; products: Product[] };

/** The repositories of an owner where the App is installed, by name. */
export async function listRepositories(
  deps: Pick<Deps, 'db'>,
  accountId: bigint,
): Promise<RepositoryProducts[]> {
  return deps.db.repository.findMany({
    where: { accountId, installation: { deletedAt: null } },
    select: { name: true, products: true },
    orderBy: { nameKey: 'asc' },
  });
}
