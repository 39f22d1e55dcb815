import type { SqlTx } from '../database/sql.ts';
import type { GitHubClient } from '../github/github-app.ts';
import { defaultProducts } from './product.ts';

/** A person or an organization, as GitHub shows it inside other objects. */
type GitHubAccount = { id: number; login: string; type: string };

/** What we store about an installation. */
type GitHubInstallation = {
  id: number;
  account: GitHubAccount;
  permissions: Record<string, string>;
  suspendedAt: string | null;
};

const upsertInstallation = `
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
  await sql.query('save-installation', upsertInstallation, [
    BigInt(id),
    ...[BigInt(account.id), account.login, account.login.toLowerCase(), account.type],
    [...defaultProducts],
    now,
    JSON.stringify(permissions),
    suspendedAt === null ? null : new Date(suspendedAt),
  ]);
  return BigInt(id);
}

type InstallationAnswer = Awaited<ReturnType<GitHubClient['rest']['apps']['getInstallation']>>['data'];

/** The fields of GitHub's installation that we store. Enterprises have no login, so we use their slug. */
export function readInstallation(answer: InstallationAnswer): GitHubInstallation {
  const account = answer.account;
  if (!account) throw new Error(`GitHub's installation ${answer.id} has no account`);
  return {
    id: Number(answer.id),
    account: {
      id: Number(account.id),
      login: 'login' in account ? account.login : account.slug,
      type: 'type' in account ? account.type : 'Enterprise',
    },
    permissions: answer.permissions as Record<string, string>,
    suspendedAt: answer.suspended_at,
  };
}

/** What we store about a repository. */
export type GitHubRepository = {
  id: number;
  name: string;
  private: boolean;
  archived: boolean;
  owner: GitHubAccount;
};

// Sorted by id, so that two transactions that save the same rows do not deadlock.
const upsertRepositories = `
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
  return (await sql.query<{ id: bigint }>('save-repositories', upsertRepositories, values)).map(
    ({ id }) => id,
  );
}

// A repository that an installation can no longer see keeps its freezes, in case the App comes back.

/** An installation lost a repository. If another installation has it after a transfer, nothing changes. */
export async function loseRepository(sql: SqlTx, id: bigint, installationId: bigint): Promise<void> {
  const text = 'UPDATE repositories SET installation_id = NULL WHERE id = $1 AND installation_id = $2';
  await sql.query('lose-repository', text, [id, installationId]);
}

const loseOthers = `
  UPDATE repositories SET installation_id = NULL
  WHERE installation_id = $1 AND id NOT IN (SELECT unnest($2::int8[]))`;

/** Removes all repositories from an installation except these. */
export async function loseAllBut(sql: SqlTx, installationId: bigint, ids: bigint[]): Promise<void> {
  await sql.query('lose-others', loseOthers, [installationId, ids]);
}

const uninstall = `
  WITH gone AS (UPDATE installations SET deleted_at = $2 WHERE id = $1 AND deleted_at IS NULL)
  UPDATE repositories SET installation_id = NULL WHERE installation_id = $1`;

/** The App was uninstalled from an account. */
export async function markUninstalled(sql: SqlTx, installationId: bigint, now: Date): Promise<void> {
  await sql.query('uninstall', uninstall, [installationId, now]);
}
