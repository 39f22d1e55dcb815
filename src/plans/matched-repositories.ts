import { administersAll, type Administered } from '../installations/find-account.ts';
import { compileAhead, compileNameGlob, isPlainName } from '../conditions/patterns/compile-name-glob.ts';
import type { SqlTx } from '../database/sql.ts';
import { freezeProducts } from '../installations/product.ts';
import { settingSql } from '../installations/setting-fields.ts';
import type { Plan } from './plan.ts';
import type { Tx } from '../database/database.ts';
import { conflict } from '../errors.ts';
import { notEnded } from '../freezes/freeze-store.ts';

/** What plans need to know about a repository. */
export type PlanRepository = {
  id: bigint;
  name: string;
  archived: boolean;
  /** Whether freezes can hold anything in it. If not, a plan creates none. */
  isFreezable: boolean;
  /** Its setting: a freeze without an end gets an end this many hours after it begins. */
  longestOpenEndHours: number | null;
};

/** Five lists in one JSON column, because drivers parse every column of every row, and there may be 10,000 rows. */
const matchedSql = `
  SELECT json_build_array(json_agg(id), json_agg(name), json_agg(archived), json_agg(is_freezable), json_agg(hours)) AS lists
  FROM (
    SELECT r.id::text AS id, r.name, r.archived, NOT r.archived AND r.products && $2::text[]::"Product"[] AS is_freezable,
      ${settingSql('longestOpenEndHours')}::int AS hours
    FROM repositories r JOIN accounts a ON a.id = r.account_id JOIN installations i ON i.id = r.installation_id
    WHERE r.account_id = $1 AND i.deleted_at IS NULL ORDER BY r.name_key
  ) AS r`;

/** Each list is null if there are no repositories. */
type MatchedRow = {
  lists:
    | [
        ids: string[],
        names: string[],
        areArchived: boolean[],
        areFreezable: boolean[],
        hours: (number | null)[],
      ]
    | null[];
};

/** The repositories of an owner where the App is installed, also archived ones, by name. */
export async function repositoriesOfOwner(sql: SqlTx, accountId: bigint): Promise<PlanRepository[]> {
  const [row] = await sql.query<MatchedRow>('repositories-of-owner', matchedSql, [
    accountId,
    [...freezeProducts],
  ]);
  const [ids, names, areArchived, areFreezable, hours] = row!.lists;
  return (ids ?? []).map((id, at) => ({
    id: BigInt(id),
    name: names![at]!,
    archived: areArchived![at]!,
    isFreezable: areFreezable![at]!,
    longestOpenEndHours: hours![at]!,
  }));
}

/** The repositories that the globs of a plan name, in their given order, also archived ones: for questions of rights. */
export function namedBy<Repository extends Pick<PlanRepository, 'name'>>(
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

/** What a plan matches. In an archived repository nothing merges or deploys: it counts nowhere, and is only named. */
export type Matched<Repository> = { used: Repository[]; archived: Repository[] };

/** The repositories that a plan matches, in their given order. */
export const matchedBy = <Repository extends Pick<PlanRepository, 'name' | 'archived'>>(
  plan: Pick<Plan, 'repositories'>,
  all: Repository[],
): Matched<Repository> => usedAmong(namedBy(plan, all));

/** Tells archived repositories from those that are used. */
export const usedAmong = <Repository extends Pick<PlanRepository, 'archived'>>(
  all: Repository[],
): Matched<Repository> => ({
  used: all.filter(({ archived }) => !archived),
  archived: all.filter(({ archived }) => archived),
});

/** The repositories that a plan matches, by name. */
export async function matchedRepositories(
  sql: SqlTx,
  plan: Pick<Plan, 'accountId' | 'repositories'>,
): Promise<Matched<PlanRepository>> {
  await compileAhead([...plan.repositories.include, ...plan.repositories.exclude]);
  return matchedBy(plan, await repositoriesOfOwner(sql, plan.accountId));
}

/** The names in a list of globs; null if the list has a pattern. */
export const plainNames = (globs: string[]): string[] | null => (globs.every(isPlainName) ? globs : null);

/**
 * The repositories that a person must have rights in to change a plan, by names or globs: those that it names, those that
 * it would name, and those with its ongoing freezes, which change or end with it.
 * @param added what it would have.
 */
export async function touchedByChange(
  tx: Tx,
  plan: Plan,
  now: Date,
  added: string[] = [],
): Promise<Plan['repositories']> {
  const isOn = { planId: plan.id, detached: false, startsAt: { lte: now }, ...notEnded(now) };
  const frozen = await tx.repository.findMany({
    where: { accountId: plan.accountId, freezes: { some: isOn } },
    select: { name: true },
  });
  const names = frozen.map(({ name }) => name);
  return { include: [...plan.repositories.include, ...added, ...names], exclude: [] };
}

/**
 * Checks that the caller may freeze everything that a change affects. The plan is locked, because others may have
 * changed it since we asked GitHub.
 * @throws Refusal conflict.
 */
export async function assertMayChange(
  tx: Tx,
  administered: Administered,
  plan: Plan,
  now: Date,
  added?: string[],
): Promise<void> {
  if (administered === null) return;
  const { include } = await touchedByChange(tx, plan, now, added);
  if (administersAll(administered, plainNames(include))) return;
  throw conflict('A concurrent change of this plan won. Read it and try again.');
}
