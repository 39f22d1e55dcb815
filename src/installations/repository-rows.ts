import type { Tx } from '../database/database.ts';
import type { Row, SqlTx } from '../database/sql.ts';
import type { Account, Installation, Repository } from '../generated/prisma/client.ts';
import type { Product } from './product.ts';
import { settingSql } from './setting-fields.ts';

/** What a request is about, by its path. */
export type RepositoryPath = { owner: string; repository: string };

// How statements in frequent requests read a repository with its account and installation.

export type FoundRepository = Pick<
  Repository,
  | 'id'
  | 'accountId'
  | 'installationId'
  | 'name'
  | 'private'
  | 'archived'
  | 'products'
  | 'reconcileRequestedAt'
  | 'reconciledAt'
  | 'observations'
  | 'stacks'
> & {
  /** The setting that counts: the repository's own, else its owner's. */
  longestOpenEndHours: number | null;
  account: Pick<Account, 'id' | 'login' | 'type'>;
  installation: Pick<Installation, 'id' | 'permissions' | 'suspendedAt' | 'pausedUntil'>;
};

const installed = `
  SELECT r.id AS repository_id, r.name AS repository_name, r.private, r.archived, r.products::text[] AS products,
    r.reconcile_requested_at, r.reconciled_at, r.observations, ${settingSql('longestOpenEndHours')}::int AS longest_open_end_hours, r.stacks,
    a.id AS owner_id, a.login AS owner_login, a.type AS owner_type,
    i.id AS installation_id, i.permissions, i.suspended_at, i.paused_until
  FROM repositories r JOIN accounts a ON a.id = r.account_id JOIN installations i ON i.id = r.installation_id`;

/** SQL that selects a repository by its id, `$1`. */
export const repositoryOfId = `${installed} WHERE r.id = $1`;

/** The repositories with these ids, in the order of the ids. */
export async function repositoriesOfIds(sql: SqlTx, ids: bigint[]): Promise<FoundRepository[]> {
  const rows = await sql.query('read-repositories', `${installed} WHERE r.id = ANY ($1)`, [ids]);
  const found = new Map(rows.map((row) => [row['repository_id'], repositoryOfRow(row)!]));
  return ids.flatMap((id) => found.get(id) ?? []);
}

/**
 * SQL that selects the repository with a name, in lower case. A name may belong to another repository now: the
 * repository that we saw last has it.
 * @param owner the parameter with the owner's login, such as `$1`. @param name the parameter with its name.
 */
export const repositoryNamed = (owner: string, name: string): string => `
  ${installed}
  WHERE r.name_key = ${name} AND a.login_key = ${owner} AND i.deleted_at IS NULL
  ORDER BY r.seen_at DESC LIMIT 1`;

/** A row of one of these. Every column is null if an outer join found none. */
export function repositoryOfRow(row: Row): FoundRepository | null {
  if (row['repository_id'] === null) return null;
  const accountId = row['owner_id'] as bigint;
  const installationId = row['installation_id'] as bigint;
  return {
    id: row['repository_id'] as bigint,
    accountId,
    installationId,
    name: row['repository_name'] as string,
    private: row['private'] as boolean,
    archived: row['archived'] as boolean,
    products: row['products'] as Product[],
    reconcileRequestedAt: row['reconcile_requested_at'] as Date | null,
    reconciledAt: row['reconciled_at'] as Date | null,
    observations: row['observations'] as bigint,
    longestOpenEndHours: row['longest_open_end_hours'] as number | null,
    stacks: row['stacks'] as Repository['stacks'],
    account: { id: accountId, login: row['owner_login'] as string, type: row['owner_type'] as string },
    installation: {
      id: installationId,
      permissions: row['permissions'] as Installation['permissions'],
      suspendedAt: row['suspended_at'] as Date | null,
      pausedUntil: row['paused_until'] as Date | null,
    },
  };
}

/**
 * One JSON value about a repository. The statement that finds the key and the repository of a request can read it along:
 * a second statement costs the frequent requests too much processor time (`npm run bench -- api`).
 */
export type RepositoryRead<Value> = {
  /** The name of the statement. The same SQL always has the same name. */
  name: string;
  /** A scalar subquery about `named.repository_id` and `named.owner_id` that returns JSON. Its parameters begin at $1. */
  sql: string;
  values: unknown[];
  valueOf(json: unknown, repository: Pick<FoundRepository, 'id' | 'accountId'>): Value;
};

/** Reads the value with a statement of its own. */
export async function readAlone<Value>(
  connection: SqlTx,
  { name, sql, values, valueOf }: RepositoryRead<Value>,
  { id, accountId }: Pick<FoundRepository, 'id' | 'accountId'>,
): Promise<Value> {
  const [first, second] = [values.length + 1, values.length + 2];
  const text = `
    SELECT (${sql}) AS value FROM (SELECT $${first}::int8 AS repository_id, $${second}::int8 AS owner_id) named`;
  const [row] = await connection.query<{ value: unknown }>(name, text, [...values, id, accountId]);
  return valueOf(row!.value, { id, accountId });
}

/** Locks the repository until the transaction ends. Other transactions that lock it wait. */
export async function lockRepository(tx: Tx, id: bigint): Promise<void> {
  await tx.$queryRaw`SELECT 1 FROM repositories WHERE id = ${id} FOR UPDATE`;
}
