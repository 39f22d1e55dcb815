import { createHash, randomInt, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Row, Sql } from '../database/sql.ts';
import type { Account, ApplicationKey } from '../generated/prisma/client.ts';
import {
  type FoundRepository,
  repositoryNamed,
  type RepositoryPath,
  repositoryOfRow,
  type RepositoryRead,
} from '../installations/repository-rows.ts';

// The form of application keys: `hf_<scope>_<32 random base62 characters><6 of checksum>`. With the checksum, we refuse
// a mistyped key without asking the database, and secret scanners can tell a key from a lookalike.

export const keyScopes = ['admin', 'ci'] as const;
export type KeyScope = (typeof keyScopes)[number];

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const shape = /^hf_(admin|ci)_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let place = 0; place < 6; place++) {
    digits = alphabet[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** A new secret: 190 bits of randomness. Shown once, never stored. */
export function generateKey(scope: KeyScope): string {
  const random = Array.from({ length: 32 }, () => alphabet[randomInt(62)]).join('');
  const body = `hf_${scope}_${random}`;
  return body + checksum(body);
}

/** Whether a credential looks like an application key, well-formed or not. */
export const looksLikeKey = (credential: string): boolean => credential.startsWith('hf_');

/** Whether the credential has the form of a key and its checksum is right. */
export function isWellFormedKey(credential: string): boolean {
  const match = shape.exec(credential);
  return match !== null && checksum(credential.slice(0, -6)) === match[3];
}

/** The stored form of a key: SHA-256 in hexadecimal. The secret is random, so it needs no salt or stretching. */
export const hashKey = (credential: string): string => createHash('sha256').update(credential).digest('hex');

/** Compares two SHA-256 hashes in constant time. */
const sameHash = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

/** The fields of a calling application key that a request needs. */
export type CallingKey = Pick<
  ApplicationKey,
  'id' | 'accountId' | 'name' | 'scope' | 'createdAt' | 'expiresAt' | 'lastUsedAt' | 'revokedAt'
> & { account: Pick<Account, 'id' | 'login' | 'loginKey'> };

const keyColumns = `k.id AS key_id, k.name AS key_name, k.scope::text AS scope, k.secret_hash, k.created_at, k.expires_at,
  k.last_used_at, k.revoked_at, o.id AS account_id, o.login, o.login_key`;
const keyHashed = 'application_keys k JOIN accounts o ON o.id = k.account_id';

const keyAlone = `SELECT ${keyColumns}, NULL AS repository_id FROM ${keyHashed} WHERE k.secret_hash = $1`;
const keyAndRepository = ({ sql, values: { length } }: RepositoryRead<unknown>) => `
  SELECT ${keyColumns}, named.*, (${sql}) AS value FROM ${keyHashed}
  LEFT JOIN LATERAL (${repositoryNamed(`$${length + 2}`, `$${length + 3}`)}) named ON true
  WHERE k.secret_hash = $${length + 1}`;

const nothing: RepositoryRead<null> = { name: 'repository', sql: 'NULL', values: [], valueOf: () => null };

export type KeyRow = { key: CallingKey; repository: FoundRepository | null; value: unknown };

/**
 * The key with this hash, also if it is revoked or expired, and the known repository of a path.
 * @param read what to read of that repository. Without such a key it reads nothing.
 * @returns null if there is no such key.
 */
export async function readKey(
  sql: Pick<Sql, 'read'>,
  secretHash: string,
  path: RepositoryPath | null,
  read: RepositoryRead<unknown> | null,
): Promise<KeyRow | null> {
  const along = read ?? nothing;
  const [row] = path
    ? await sql.read(`key-and-${along.name}`, keyAndRepository(along), [
        ...[...along.values, secretHash],
        ...[path.owner.toLowerCase(), path.repository.toLowerCase()],
      ])
    : await sql.read('key-alone', keyAlone, [secretHash]);
  if (!row || !sameHash(row['secret_hash'] as string, secretHash)) return null;
  const repository = repositoryOfRow(row);
  return { key: keyOfRow(row), repository, value: repository && along.valueOf(row['value'], repository) };
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
