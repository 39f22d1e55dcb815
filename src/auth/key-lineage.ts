import type { Tx } from '../database/database.ts';
import type { ApplicationKey } from '../generated/prisma/client.ts';

// A key can make keys. Keys that it made end with it, at any depth. Keys that a person made stay.

/** Locks the owner's keys, so that others who create or revoke keys wait until the transaction ends. */
export async function lockKeys(tx: Tx, accountId: bigint): Promise<void> {
  await tx.$queryRaw`SELECT 1 FROM accounts WHERE id = ${accountId} FOR NO KEY UPDATE`;
}

/** The key with this id and all keys that it made, directly or not, that are not revoked. Oldest first. */
export async function liveKeysFrom(tx: Tx, accountId: bigint, id: string): Promise<ApplicationKey[]> {
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

/** GitHub's id of the person who made a key, directly or through other keys; null if it is not known. */
export async function makerOfKey(tx: Tx, id: string): Promise<number | null> {
  const [row] = await tx.$queryRaw<{ id: string }[]>`
    WITH RECURSIVE line AS (
      SELECT created_by FROM application_keys WHERE id = ${id}::uuid
      UNION ALL
      SELECT maker.created_by FROM application_keys maker JOIN line
        ON line.created_by->>'type' = 'application' AND maker.id::text = line.created_by->>'id'
    )
    SELECT created_by->>'id' AS id FROM line WHERE created_by->>'type' = 'user'`;
  return row ? Number(row.id) : null;
}
