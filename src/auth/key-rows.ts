import type { Row, Sql } from '../database/sql.ts';
import type { Account, ApplicationKey } from '../generated/prisma/client.ts';
import { type FoundRepository, repositoryNamed, repositoryOfRow } from '../installations/repository-rows.ts';
import { sameHash } from './application-key.ts';

/** The fields of a calling application key that a request needs. */
export type CallingKey = Pick<
  ApplicationKey,
  'id' | 'accountId' | 'name' | 'scope' | 'createdAt' | 'expiresAt' | 'lastUsedAt' | 'revokedAt'
> & { account: Pick<Account, 'id' | 'login' | 'loginKey'> };

/** What a request is about, by its path. */
export type RepositoryPath = { owner: string; repository: string };

const keyColumns = `k.id AS key_id, k.name AS key_name, k.scope::text AS scope, k.secret_hash, k.created_at, k.expires_at,
  k.last_used_at, k.revoked_at, o.id AS account_id, o.login, o.login_key`;
const keyHashed = 'application_keys k JOIN accounts o ON o.id = k.account_id';

const keyAlone = `SELECT ${keyColumns}, NULL AS repository_id FROM ${keyHashed} WHERE k.secret_hash = $1`;
const keyAndRepository = `
  SELECT ${keyColumns}, named.* FROM ${keyHashed}
  LEFT JOIN LATERAL (${repositoryNamed('$2', '$3')}) named ON true
  WHERE k.secret_hash = $1`;

/** A calling key, with the known repository of the path. */
export type KeyRow = { key: CallingKey; repository: FoundRepository | null };

/**
 * The key with this hash, also if it is revoked or expired, and the known repository of a path.
 * @returns null if there is no such key.
 */
export async function readKey(
  sql: Pick<Sql, 'read'>,
  secretHash: string,
  path: RepositoryPath | null,
): Promise<KeyRow | null> {
  const [row] = path
    ? await sql.read('key-and-repository', keyAndRepository, [
        ...[secretHash, path.owner.toLowerCase(), path.repository.toLowerCase()],
      ])
    : await sql.read('key-alone', keyAlone, [secretHash]);
  if (!row || !sameHash(row['secret_hash'] as string, secretHash)) return null;
  return { key: keyOfRow(row), repository: repositoryOfRow(row) };
}

function keyOfRow(row: Row): CallingKey {
  const accountId = row['account_id'] as bigint;
  return {
    id: row['key_id'] as string,
    accountId,
    name: row['key_name'] as string,
    scope: row['scope'] as CallingKey['scope'],
    createdAt: row['created_at'] as Date,
    expiresAt: row['expires_at'] as Date | null,
    lastUsedAt: row['last_used_at'] as Date | null,
    revokedAt: row['revoked_at'] as Date | null,
    account: { id: accountId, login: row['login'] as string, loginKey: row['login_key'] as string },
  };
}
