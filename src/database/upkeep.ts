// What a PostgreSQL server does in processes of its own, and the embedded database has none: checkpoints and vacuum.
import type { PGliteInterface } from '@electric-sql/pglite';

/** Bytes of write-ahead log that the next start reads again after a crash. */
const longestLog = 32 * 1024 * 1024;

/**
 * Tables that grew by more than a fifth since they were last vacuumed, or to more than 32 pages before the first time.
 * Deleted rows keep their place until then, and the planner does not know what is in the table.
 */
const grown = `
  SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind = 'r' AND n.nspname = 'public'
    AND pg_relation_size(c.oid) / current_setting('block_size')::int > 32 + 1.2 * greatest(c.relpages, 0)
  ORDER BY c.oid`;

const unread = `SELECT (pg_current_wal_lsn() - redo_lsn)::float8 AS bytes FROM pg_control_checkpoint()`;

/**
 * Vacuums and analyzes tables that grew, one after another, and writes a checkpoint if the log is long. Other statements
 * run in between.
 */
export async function keepUp(pglite: Pick<PGliteInterface, 'query' | 'exec'>): Promise<void> {
  const { rows: tables } = await pglite.query<{ name: string }>(grown);
  for (const { name } of tables) await pglite.exec(`VACUUM (ANALYZE) ${name}`);
  const { rows } = await pglite.query<{ bytes: number }>(unread);
  if (rows[0]!.bytes > longestLog) await pglite.exec('CHECKPOINT');
}
