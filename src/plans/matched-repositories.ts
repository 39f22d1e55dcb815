import { compileNameGlob } from '../conditions/patterns/compile-name-glob.ts';
import type { SqlTx } from '../database/sql.ts';
import { freezeProducts } from '../installations/product.ts';
import type { Plan } from './plan.ts';

/** A repository, as far as it matters to plans. */
export type PlanRepository = {
  id: bigint;
  name: string;
  /** Whether freezes of it can hold anything: where not, a plan makes none. */
  isFreezable: boolean;
};

const installed = `
  SELECT r.id, r.name, NOT r.archived AND r.products && $2::text[]::"Product"[] AS "isFreezable"
  FROM repositories r JOIN installations i ON i.id = r.installation_id
  WHERE r.account_id = $1 AND i.deleted_at IS NULL
  ORDER BY r.name_key`;

/** The repositories of an owner with the App installed, by name. */
export async function repositoriesOfOwner(sql: SqlTx, accountId: bigint): Promise<PlanRepository[]> {
  return sql.query<PlanRepository>('repositories-of-owner', installed, [accountId, [...freezeProducts]]);
}

/** Those that a plan matches. */
export function matchedBy(
  { repositories }: Pick<Plan, 'repositories'>,
  all: PlanRepository[],
): PlanRepository[] {
  const [include, exclude] = [repositories.include, repositories.exclude].map((globs) =>
    globs.map(compileNameGlob),
  );
  return all.filter(
    ({ name }) => include!.some((matches) => matches(name)) && !exclude!.some((matches) => matches(name)),
  );
}

/** The repositories that a plan matches, by name. */
export async function matchedRepositories(
  sql: SqlTx,
  plan: Pick<Plan, 'accountId' | 'repositories'>,
): Promise<PlanRepository[]> {
  return matchedBy(plan, await repositoriesOfOwner(sql, plan.accountId));
}
