import type { Tx } from '../database/database.ts';

/** Makes whoever else locks the repository wait until the transaction ends. */
export async function lockRepository(tx: Tx, id: bigint): Promise<void> {
  await tx.$queryRaw`SELECT 1 FROM repositories WHERE id = ${id} FOR UPDATE`;
}

/** Makes whoever locks or changes the repository's row wait until the transaction ends; others who share it do not. */
export async function shareRepository(tx: Tx, id: bigint): Promise<void> {
  await tx.$queryRaw`SELECT 1 FROM repositories WHERE id = ${id} FOR SHARE`;
}
