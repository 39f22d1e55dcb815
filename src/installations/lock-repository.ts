import type { Tx } from '../database/database.ts';

/** Locks the repository until the transaction ends. Other transactions that lock it wait. */
export async function lockRepository(tx: Tx, id: bigint): Promise<void> {
  await tx.$queryRaw`SELECT 1 FROM repositories WHERE id = ${id} FOR UPDATE`;
}
