import type { SqlTx } from '../database/sql.ts';
import { defaultProducts } from './product.ts';
import type { GitHubAccount } from './save-installation.ts';

/** What we store about a repository. */
export type GitHubRepository = {
  id: number;
  name: string;
  private: boolean;
  archived: boolean;
  owner: GitHubAccount;
};

// Sorted by id, so that two transactions that save the same rows do not deadlock.
const save = `
  WITH given AS (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS given (id int8, name text, name_key text, private boolean,
      archived boolean, owner_id int8, login text, login_key text, type text)
  ), owners AS (
    INSERT INTO accounts (id, login, login_key, type, default_products, seen_at)
    SELECT DISTINCT ON (owner_id) owner_id, login, login_key, type, $4::text[]::"Product"[], $3::timestamptz
    FROM given ORDER BY owner_id
    ON CONFLICT (id) DO UPDATE SET login = excluded.login, login_key = excluded.login_key, type = excluded.type,
      seen_at = excluded.seen_at
    RETURNING id, default_products
  )
  INSERT INTO repositories (id, account_id, installation_id, name, name_key, private, archived, products, seen_at,
    reconcile_requested_at)
  SELECT given.id, owners.id, $2, name, name_key, private, archived, default_products, $3, $3
  FROM given JOIN owners ON owners.id = owner_id ORDER BY given.id
  ON CONFLICT (id) DO UPDATE SET account_id = excluded.account_id, installation_id = excluded.installation_id,
    name = excluded.name, name_key = excluded.name_key, private = excluded.private, archived = excluded.archived,
    seen_at = excluded.seen_at, reconcile_requested_at = excluded.reconcile_requested_at
  RETURNING id`;

/**
 * Saves repositories by their ids, which survive renames and transfers. A new repository gets its owner's default
 * products. Marks each for reconciliation; the caller sends the jobs.
 * @returns their ids.
 */
export async function saveRepositories(
  sql: SqlTx,
  repositories: GitHubRepository[],
  installationId: bigint,
  now: Date,
): Promise<bigint[]> {
  const given = repositories.map(({ id, name, private: isPrivate, archived, owner }) => ({
    id,
    name,
    name_key: name.toLowerCase(),
    private: isPrivate,
    archived,
    owner_id: owner.id,
    login: owner.login,
    login_key: owner.login.toLowerCase(),
    type: owner.type,
  }));
  const values = [JSON.stringify(given), installationId, now, [...defaultProducts]];
  return (await sql.query<{ id: bigint }>('save-repositories', save, values)).map(({ id }) => id);
}
