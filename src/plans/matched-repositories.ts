import { compileNameGlob } from '../conditions/patterns/compile-name-glob.ts';
import type { Tx } from '../database/database.ts';
import { freezesAreOn } from '../installations/product.ts';
import type { Repository } from '../generated/prisma/client.ts';
import type { Plan } from './plan.ts';

/** A repository that a plan matches, as far as it matters to plans. */
export type Matched = Pick<Repository, 'id' | 'name' | 'archived' | 'products'>;

/** The repositories of the owner, with the App installed, that a plan matches, by name. */
export async function matchedRepositories(
  tx: Tx,
  { accountId, repositories }: Pick<Plan, 'accountId' | 'repositories'>,
): Promise<Matched[]> {
  const [include, exclude] = [repositories.include, repositories.exclude].map((globs) =>
    globs.map(compileNameGlob),
  );
  const rows = await tx.repository.findMany({
    where: { accountId, installation: { deletedAt: null } },
    select: { id: true, name: true, archived: true, products: true },
    orderBy: { nameKey: 'asc' },
  });
  return rows.filter(
    ({ name }) => include!.some((matches) => matches(name)) && !exclude!.some((matches) => matches(name)),
  );
}

/** Whether freezes of a repository can hold anything: where not, a plan makes none. */
export const canBeFrozen = ({ archived, products }: Matched): boolean => !archived && freezesAreOn(products);
