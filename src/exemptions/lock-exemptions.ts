import type { Tx } from '../database/database.ts';

/**
 * Makes whoever else decides on exemptions of the repository wait until the transaction ends.
 * @returns whether it asks for two persons.
 */
export async function lockExemptions(tx: Tx, repositoryId: bigint): Promise<{ isForTwo: boolean }> {
  const [row] = await tx.$queryRaw<{ isForTwo: boolean }[]>`
    SELECT two_person_exemptions AS "isForTwo" FROM repositories WHERE id = ${repositoryId} FOR UPDATE`;
  return { isForTwo: row!.isForTwo };
}
