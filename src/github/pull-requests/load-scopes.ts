import type { Tx } from '../../database/database.ts';

/** The pushed scopes of these pull requests. A pull request without a push is not in the map. */
export async function loadScopes(
  tx: Tx,
  repositoryId: bigint,
  numbers: number[],
): Promise<Map<number, { names: string[]; all: boolean }>> {
  const rows = await tx.pullRequestScopes.findMany({ where: { repositoryId, number: { in: numbers } } });
  return new Map(rows.map((row) => [row.number.toNumber(), { names: row.scopes, all: row.allScopes }]));
}
