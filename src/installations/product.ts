import type { GitHubDeps } from '../github/github-deps.ts';

export const productNames = [
  'ci_insights',
  'merge_protections',
  'workflow_automation',
  'merge_queue',
] as const;

export type Product = (typeof productNames)[number];

/** The products of a new owner. Each of them switches freezes on. */
export const defaultProducts: readonly Product[] = ['merge_protections', 'merge_queue'];

/** If one of these is enabled, we judge freezes and write statuses. Whether GitHub enforces them is another question. */
export const freezeProducts: readonly Product[] = ['merge_protections', 'merge_queue'];

export const freezesAreOn = (enabled: readonly Product[]): boolean =>
  freezeProducts.some((product) => enabled.includes(product));

type RepositoryProducts = { name: string; archived: boolean; products: Product[] };

/** The repositories of an owner where the App is installed, also archived ones, by name. */
export async function listRepositories(
  deps: Pick<GitHubDeps, 'db'>,
  accountId: bigint,
): Promise<RepositoryProducts[]> {
  return deps.db.repository.findMany({
    where: { accountId, installation: { deletedAt: null } },
    select: { name: true, archived: true, products: true },
    orderBy: { nameKey: 'asc' },
  });
}

/** How many repositories of an owner are not archived, and the names of some of them, in their order. */
export async function usedRepositories(
  { db }: Pick<GitHubDeps, 'db'>,
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
