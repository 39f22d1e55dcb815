import type { SqlTx } from '../database/sql.ts';
import { defaultProducts } from './product.ts';

/** A person or an organization, as GitHub shows it inside other objects. */
export type GitHubAccount = { id: number; login: string; type: string };

/** What we store about an installation. */
export type GitHubInstallation = {
  id: number;
  account: GitHubAccount;
  permissions: Record<string, string>;
  suspendedAt: string | null;
};

const save = `
  WITH owner AS (
    INSERT INTO accounts (id, login, login_key, type, default_products, seen_at)
    VALUES ($2, $3, $4, $5, $6::text[]::"Product"[], $7)
    ON CONFLICT (id) DO UPDATE SET login = excluded.login, login_key = excluded.login_key, type = excluded.type,
      seen_at = excluded.seen_at
    RETURNING id
  )
  INSERT INTO installations (id, account_id, permissions, suspended_at)
  SELECT $1::int8, owner.id, $8::jsonb, $9::timestamptz FROM owner
  ON CONFLICT (id) DO UPDATE SET account_id = excluded.account_id, permissions = excluded.permissions,
    suspended_at = excluded.suspended_at, deleted_at = NULL`;

/** Saves an installation and its account. A new account starts with the default products. */
export async function saveInstallation(
  sql: SqlTx,
  { id, account, permissions, suspendedAt }: GitHubInstallation,
  now: Date,
): Promise<bigint> {
  await sql.query('save-installation', save, [
    BigInt(id),
    ...[BigInt(account.id), account.login, account.login.toLowerCase(), account.type],
    [...defaultProducts],
    now,
    JSON.stringify(permissions),
    suspendedAt === null ? null : new Date(suspendedAt),
  ]);
  return BigInt(id);
}
