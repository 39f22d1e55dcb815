import type { Tx } from '../database/database.ts';

/** Makes whoever else locks the repository wait until the transaction ends. */
export async function lockRepository(tx: Tx, id: bigint): Promise<void> {
  await tx.$queryRaw`SELECT 1 FROM repositories WHERE id = ${id} FOR UPDATE`;
}
