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

/** How many repositories of an owner are not archived, and the names of some of them, in their order. */
export async function usedRepositories(
  { db }: Pick<Deps, 'db'>,
  accountId: bigint,
  skip: number,
  take: number,
): Promise<{ count: number; names: string[] }> {
  const where = { accountId, archived: false, installation: { deletedAt: null } };
  const [count, rows] = await Promise.all([
    db.repository.count({ where }),
    db.repository.findMany({ where, orderBy: { nameKey: 'asc' }, select: { name: true }, skip, take }),
  ]);
  return { count, names: rows.map(({ name }) => name) };
}
