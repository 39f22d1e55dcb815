import { createHash, randomInt, timingSafeEqual, randomUUID } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { SqlRow, Sql } from '../database/sql.ts';
import type { Account, ApplicationKey } from '../generated/prisma/client.ts';
import {
  type FoundRepository,
  findByName,
  type RepositoryPath,
  repositoryOfRow,
  type RepositoryRead,
} from '../installations/find-repository.ts';
import { nowOf } from '../time/clock.ts';
import type { Tx } from '../database/database.ts';
import { forbidden, invalid, notFound } from '../errors.ts';
import type { Actor } from '../events/actor.ts';
import { appendEvent } from '../events/append-event.ts';
import { lockAccount } from '../installations/find-account.ts';
import type { AuthDeps } from './auth-deps.ts';

// The form of application keys: `hf_<scope>_<32 random base62 characters><6 of checksum>`. With the checksum, we refuse
// a mistyped key without asking the database, and secret scanners can tell a key from a lookalike.

export const keyScopes = ['admin', 'ci'] as const;
export type KeyScope = (typeof keyScopes)[number];

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const keyShape = /^hf_(admin|ci)_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

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
  const match = keyShape.exec(credential);
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
  LEFT JOIN LATERAL (${findByName(`$${length + 2}`, `$${length + 3}`)}) named ON true
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

function keyOfRow(row: SqlRow): CallingKey {
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

/** The keys of an owner that are not revoked, oldest first. Includes expired ones, so that people see them. */
export async function listKeys(deps: Pick<AuthDeps, 'db'>, account: Account): Promise<ApplicationKey[]> {
  return deps.db.applicationKey.findMany({
    where: { accountId: account.id, revokedAt: null },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
}

/**
 * Makes a key for an owner. The secret is in the answer and nowhere else. A key that a key makes expires no later than
 * the key that made it.
 * @param beforeSaving runs in the same transaction, before the key is saved.
 * @throws Refusal invalid if `expiresAt` has passed; forbidden if the key that makes it was revoked meanwhile.
 */
export async function createKey(
  deps: Pick<AuthDeps, 'db' | 'clock'>,
  actor: Actor,
  account: Account,
  wanted: { name: string; scope: KeyScope; expiresAt: Date | null },
  beforeSaving: (tx: Tx, key: ApplicationKey) => Promise<void> = async () => {},
): Promise<{ key: ApplicationKey; secret: string }> {
  const now = nowOf(deps.clock);
  if (wanted.expiresAt && wanted.expiresAt <= now) {
    const message =
      'expires_at has passed. Send an instant in the future, or leave it out for a key that does not expire.';
    throw invalid([{ path: ['body', 'expires_at'], message, type: 'value_error' }]);
  }
  const secret = generateKey(wanted.scope);
  const key = await deps.db.$transaction(async (tx) => {
    await lockAccount(tx, account.id);
    const made: ApplicationKey = {
      id: randomUUID(),
      accountId: account.id,
      ...wanted,
      expiresAt: earlierOf(wanted.expiresAt, await latestExpiry(tx, actor)),
      secretHash: hashKey(secret),
      createdAt: now,
      createdBy: actor,
      lastUsedAt: null,
      revokedAt: null,
      revokedBy: null,
    };
    await beforeSaving(tx, made);
    const { revokedBy: _nobody, ...data } = made;
    await tx.applicationKey.create({ data: { ...data, createdBy: actor } });
    await appendEvent(
      tx,
      { accountId: account.id },
      { type: 'application_key.create', metadata: describe(made) },
      actor,
      now,
    );
    return made;
  });
  return { key, secret };
}

/** The latest end of what the actor makes; null for a person, and for a key that does not expire. */
async function latestExpiry(tx: Tx, actor: Actor): Promise<Date | null> {
  if (actor.type === 'user') return null;
  const maker = await tx.applicationKey.findUniqueOrThrow({ where: { id: actor.id } });
  if (maker.revokedAt !== null)
    throw forbidden('The application key that is calling was revoked meanwhile. Use another credential.');
  return maker.expiresAt;
}

const earlierOf = (one: Date | null, other: Date | null): Date | null =>
  one && other ? (one < other ? one : other) : (one ?? other);

/**
 * Revokes a key, and all keys that it made. Every replica refuses them from now on.
 * @throws Refusal not-found if the owner has no such key, or if it is already revoked.
 */
export async function revokeKey(
  deps: Pick<AuthDeps, 'db' | 'clock'>,
  actor: Actor,
  account: Account,
  id: string,
): Promise<void> {
  const now = nowOf(deps.clock);
  await deps.db.$transaction(async (tx) => {
    await lockAccount(tx, account.id);
    const keys = await liveKeysFrom(tx, account.id, id);
    if (!keys.some((key) => key.id === id))
      throw notFound(`${account.login} has no application key ${id}. List them to see which there are.`);
    await tx.applicationKey.updateMany({
      where: { id: { in: keys.map((key) => key.id) } },
      data: { revokedAt: now, revokedBy: actor },
    });
    for (const key of keys) {
      const metadata = { ...describe(key), ...(key.id !== id && { revoked_with: id }) };
      const event = { type: 'application_key.revoke', metadata } as const;
      await appendEvent(tx, { accountId: account.id }, event, actor, now);
    }
  });
}

const describe = (key: ApplicationKey) => ({ key_id: key.id, key_name: key.name, key_scope: key.scope });

// A key can make keys. Keys that it made end with it, at any depth. Keys that a person made stay.

/** The key with this id and all keys that it made, directly or not, that are not revoked. Oldest first. */
async function liveKeysFrom(tx: Tx, accountId: bigint, id: string): Promise<ApplicationKey[]> {
  const rows = await tx.$queryRaw<{ id: string }[]>`
    WITH RECURSIVE line AS (
      SELECT id FROM application_keys WHERE id = ${id}::uuid AND account_id = ${accountId}
      UNION
      SELECT made.id FROM application_keys made JOIN line
        ON made.created_by->>'type' = 'application' AND made.created_by->>'id' = line.id::text
      WHERE made.account_id = ${accountId}
    )
    SELECT id::text FROM line`;
  return tx.applicationKey.findMany({
    where: { id: { in: rows.map((row) => row.id) }, revokedAt: null },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
}
