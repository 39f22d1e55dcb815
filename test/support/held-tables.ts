// What a migration does to large tables while everybody else waits for it: a freeze writes events, statuses and jobs.
import type { SqlConnection } from '../../src/database/database.ts';

/** Tables that can have hundreds of thousands of rows. */
const large = [
  'audit_events',
  'comment_answers',
  'deployments',
  'exemptions',
  'freezes',
  'head_statuses',
  'jobs',
  'known_credentials',
  'open_pull_requests',
  'outgoing_deliveries',
  'pull_request_scopes',
  'webhook_deliveries',
  'written_statuses',
];

type Look = { table: string; file: string; indexes: string[]; checks: string[]; rows: string[] };

async function lookAt({ query }: SqlConnection): Promise<Look[]> {
  const { rows } = await query(
    `SELECT relname::text AS "table", relfilenode::text AS file,
       ARRAY(SELECT indexrelid::text FROM pg_index WHERE indrelid = c.oid) AS indexes,
       ARRAY(SELECT 'constraint ' || oid FROM pg_constraint WHERE conrelid = c.oid AND contype IN ('c', 'f') AND convalidated)
         || ARRAY(SELECT 'not null ' || attnum FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND attnotnull
           AND NOT atthasdef AND attidentity = '') AS checks
     FROM pg_class c WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname = ANY ($1::text[])
     ORDER BY relname`,
    [large],
  );
  for (const look of rows) {
    const versions = await query(`SELECT ctid || ' ' || xmin AS version FROM "${String(look['table'])}"`);
    look['rows'] = versions.rows.map(({ version }) => version);
  }
  return rows as Look[];
}

/**
 * What a change does to all rows of a large table in one statement: it writes or reads each of them, and keeps others
 * from writing meanwhile.
 * @param isBeside whether indexes are built while others read and write.
 */
export async function heldDuring(
  connection: SqlConnection,
  change: () => Promise<unknown>,
  isBeside = false,
): Promise<string[]> {
  const before = await lookAt(connection);
  await change();
  const after = new Map((await lookAt(connection)).map((look) => [look.table, look]));
  return before.flatMap(({ table, file, indexes, checks, rows }) => {
    const now = after.get(table);
    if (!now) return [];
    if (now.file !== file) return [`rewrites ${table}`];
    return [
      ...(rows.some((version) => !now.rows.includes(version)) ? [`changes rows of ${table}`] : []),
      ...(!isBeside && now.indexes.some((index) => !indexes.includes(index)) ? [`indexes ${table}`] : []),
      ...(now.checks.some((check) => !checks.includes(check)) ? [`checks ${table}`] : []),
    ];
  });
}
