import { randomUUID } from 'node:crypto';
import { nowOf } from '../clock.ts';
import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { invalid, notFound } from '../errors.ts';
import { appendEvent } from '../events/append-event.ts';
import type { Account, ApplicationKey } from '../generated/prisma/client.ts';
import type { Actor } from './actor.ts';
import { generateKey, hashKey, type KeyScope } from './application-key.ts';

/** The keys of an owner that are not revoked, oldest first; expired ones too, so that they can be seen. */
export async function listKeys(deps: Pick<Deps, 'db'>, account: Account): Promise<ApplicationKey[]> {
  return deps.db.applicationKey.findMany({
    where: { accountId: account.id, revokedAt: null },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
}

/**
 * Makes a key for an owner. The secret is in the answer and nowhere else.
 * @param beforeSaving runs first in the same transaction.
 * @throws Refusal invalid when `expiresAt` has passed.
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
  const key: ApplicationKey = {
    id: randomUUID(),
    accountId: account.id,
    ...wanted,
    secretHash: hashKey(secret),
    createdAt: now,
    createdBy: actor,
    revokedAt: null,
    revokedBy: null,
  };
  await deps.db.$transaction(async (tx) => {
    await beforeSaving(tx, key);
    const { revokedBy: _nobody, ...data } = key;
    await tx.applicationKey.create({ data: { ...data, createdBy: actor } });
    await appendEvent(
      tx,
      { accountId: account.id },
      { type: 'application_key.create', metadata: describe(key) },
      actor,
      now,
    );
  });
  return { key, secret };
}

/**
 * Revokes a key: every replica refuses it from now on.
 * @throws Refusal not-found when the owner has no such key, or it is revoked already.
 */
export async function revokeKey(
  deps: Pick<Deps, 'db' | 'clock'>,
  actor: Actor,
  account: Account,
  id: string,
): Promise<void> {
  const now = nowOf(deps.clock);
  await deps.db.$transaction(async (tx) => {
    const { count } = await tx.applicationKey.updateMany({
      where: { id, accountId: account.id, revokedAt: null },
      data: { revokedAt: now, revokedBy: actor },
    });
    if (count === 0)
      throw notFound(`${account.login} has no application key ${id}. List them to see which there are.`);
    const key = await tx.applicationKey.findUniqueOrThrow({ where: { id } });
    await appendEvent(
      tx,
      { accountId: account.id },
      { type: 'application_key.revoke', metadata: describe(key) },
      actor,
      now,
    );
  });
}

const describe = (key: ApplicationKey) => ({ key_id: key.id, key_name: key.name, key_scope: key.scope });
