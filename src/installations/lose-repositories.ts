import type { SqlTx } from '../database/sql.ts';

// A repository that an installation can no longer see keeps its freezes, in case the App comes back.

/** An installation lost a repository. If another installation has it after a transfer, nothing changes. */
export async function loseRepository(sql: SqlTx, id: bigint, installationId: bigint): Promise<void> {
  const text = 'UPDATE repositories SET installation_id = NULL WHERE id = $1 AND installation_id = $2';
  await sql.query('lose-repository', text, [id, installationId]);
}

const loseOthers = `
  UPDATE repositories SET installation_id = NULL
  WHERE installation_id = $1 AND id NOT IN (SELECT unnest($2::int8[]))`;

/** Removes all repositories from an installation except these. */
export async function loseAllBut(sql: SqlTx, installationId: bigint, ids: bigint[]): Promise<void> {
  await sql.query('lose-others', loseOthers, [installationId, ids]);
}

const uninstall = `
  WITH gone AS (UPDATE installations SET deleted_at = $2 WHERE id = $1 AND deleted_at IS NULL)
  UPDATE repositories SET installation_id = NULL WHERE installation_id = $1`;

/** The App was uninstalled from an account. */
export async function markUninstalled(sql: SqlTx, installationId: bigint, now: Date): Promise<void> {
  await sql.query('uninstall', uninstall, [installationId, now]);
}
