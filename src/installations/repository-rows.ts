import type { Row } from '../database/sql.ts';
import type { Account, Installation, Repository } from '../generated/prisma/client.ts';
import type { Product } from './product.ts';

// How statements on the hot roads read a repository with the account and the installation that it hangs on.

/** A repository where the App is installed. */
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
  | 'longestOpenEndHours'
> & {
  account: Pick<Account, 'id' | 'login' | 'type'>;
  installation: Pick<Installation, 'id' | 'permissions' | 'suspendedAt' | 'pausedUntil'>;
};

const installed = `
  SELECT r.id AS repository_id, r.name AS repository_name, r.private, r.archived, r.products::text[] AS products,
    r.reconcile_requested_at, r.reconciled_at, r.observations, r.longest_open_end_hours,
    a.id AS owner_id, a.login AS owner_login, a.type AS owner_type,
    i.id AS installation_id, i.permissions, i.suspended_at, i.paused_until
  FROM repositories r JOIN accounts a ON a.id = r.account_id JOIN installations i ON i.id = r.installation_id`;

/** SQL for a repository by its id, as `$1`. */
export const repositoryOfId = `${installed} WHERE r.id = $1`;

/**
 * SQL for the one repository of a name, in lower case. A name that was given up may belong to another repository now:
 * the one seen last holds it.
 * @param owner the parameter that holds the owner's login, such as `$1`; @param name the one that holds its name.
 */
export const repositoryNamed = (owner: string, name: string): string => `
  ${installed}
  WHERE r.name_key = ${name} AND a.login_key = ${owner} AND i.deleted_at IS NULL
  ORDER BY r.seen_at DESC LIMIT 1`;

/** A row of one of these; every column is null where an outer join found none. */
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
    account: { id: accountId, login: row['owner_login'] as string, type: row['owner_type'] as string },
    installation: {
      id: installationId,
      permissions: row['permissions'] as Installation['permissions'],
      suspendedAt: row['suspended_at'] as Date | null,
      pausedUntil: row['paused_until'] as Date | null,
    },
  };
}
