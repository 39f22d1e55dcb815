import { randomUUID } from 'node:crypto';
import { nowOf } from '../time/clock.ts';
import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { forbidden, invalid, notFound } from '../errors.ts';
import type { Actor } from '../events/actor.ts';
import { appendEvent } from '../events/append-event.ts';
import type { Account, ApplicationKey } from '../generated/prisma/client.ts';
import { lockAccount } from '../installations/find-account.ts';
import { generateKey, hashKey, type KeyScope } from './application-key.ts';

/** The keys of an owner that are not revoked, oldest first. Includes expired ones, so that people see them. */
export async function listKeys(deps: Pick<Deps, 'db'>, account: Account): Promise<ApplicationKey[]> {
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
  deps: Pick<Deps, 'db' | 'clock'>,
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
  deps: Pick<Deps, 'db' | 'clock'>,
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
