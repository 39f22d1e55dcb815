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
  /** Its setting: a freeze without an end is given one so many hours after it begins. */
  longestOpenEndHours: number | null;
};

/** One column of JSON: a driver looks at each column of each row, and there may be 10,000. */
const installed = `
  SELECT json_agg(json_build_array(r.id::text, r.name, NOT r.archived AND r.products && $2::text[]::"Product"[],
    r.longest_open_end_hours) ORDER BY r.name_key) AS repositories
  FROM repositories r JOIN installations i ON i.id = r.installation_id
  WHERE r.account_id = $1 AND i.deleted_at IS NULL`;

type Row = {
  repositories: [id: string, name: string, isFreezable: boolean, longestOpenEndHours: number | null][] | null;
};

/** The repositories of an owner with the App installed, by name. */
export async function repositoriesOfOwner(sql: SqlTx, accountId: bigint): Promise<PlanRepository[]> {
  const [row] = await sql.query<Row>('repositories-of-owner', installed, [accountId, [...freezeProducts]]);
  return (row!.repositories ?? []).map(([id, name, isFreezable, longestOpenEndHours]) => ({
    ...{ id: BigInt(id), name, isFreezable, longestOpenEndHours },
  }));
}

/** Those that a plan matches. */
export function matchedBy<Repository extends Pick<PlanRepository, 'name'>>(
  { repositories }: Pick<Plan, 'repositories'>,
  all: Repository[],
): Repository[] {
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
