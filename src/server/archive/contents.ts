// What an archive holds. Tests hold these lists against prisma/schema.prisma: each new table has to be decided on.
import type { SqlConnection } from '../../database/database.ts';
import { jobs, type TaskName } from '../../database/queue/jobs.ts';

/** Tables that an archive holds, each after those that its rows refer to. */
export const carriedTables = [
  'app_credentials',
  'accounts',
  'installations',
  'repositories',
  'freeze_plans',
  'freezes',
  'freeze_waits',
  'freeze_reports',
  'deployments',
  'exemptions',
  'comment_answers',
  'open_pull_requests',
  'pull_request_scopes',
  'merge_groups',
  'head_statuses',
  'written_statuses',
  'instant_holds',
  'instant_passes',
  'sessions',
  'application_keys',
  'oidc_rules',
  'calendar_feeds',
  'audit_events',
  'outgoing_webhooks',
  'outgoing_deliveries',
  'slack_apps',
  'slack_links',
  'slack_offers',
  'slack_requests',
  'slack_tellings',
  'idempotency_records',
  'webhook_deliveries',
  'delivery_scans',
  'used_sign_ins',
] as const;

/** Tables that Holdfast fills anew, and why nobody misses their rows. */
export const leftTables: Record<string, string> = {
  minute_counts: 'counts of the present minute',
  known_credentials: 'who was let in within 30 days; the next call finds out again',
  kept_answers: 'what forms were answered with within the hour; people send them again',
  jobs: 'the header has those that nothing sends again',
  unfinished_imports: 'about this database alone',
  finished_imports: 'about this database alone',
};

/** Tasks whose waiting jobs an archive holds, because nothing sends them again. */
export const carriedTasks: TaskName[] = Object.values(jobs)
  .filter(({ sentAgainBy }) => sentAgainBy === null)
  .map(({ task }) => task);

/** So many rows are in memory at once. */
const rowsAtOnce = 500;

export const quotedName = (name: string): string => `"${name.replaceAll('"', '""')}"`;
export const listedColumns = (names: string[]): string => names.map(quotedName).join(', ');

/** The columns of a table in their order, and those of its primary key. */
export async function columnsOfTable(connection: SqlConnection, table: string): Promise<string[]> {
  const { rows } = await connection.query(
    `SELECT attname::text AS name FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    [quotedName(table)],
  );
  return rows.map(({ name }) => name as string);
}

/** `ORDER BY` the primary key. Texts by their bytes: databases differ in how they order words. */
async function orderOf(connection: SqlConnection, table: string): Promise<string> {
  const { rows } = await connection.query(
    `SELECT attname::text AS name, attcollation <> 0 AS "isText" FROM pg_index
     CROSS JOIN unnest(indkey) WITH ORDINALITY AS key (number, place)
     JOIN pg_attribute ON attrelid = indrelid AND attnum = key.number
     WHERE indrelid = $1::regclass AND indisprimary ORDER BY place`,
    [quotedName(table)],
  );
  return rows
    .map(({ name, isText }) => quotedName(name as string) + (isText ? ' COLLATE "C"' : ''))
    .join(', ');
}

/** Whether a database has a table. @param name with its schema, unless it is one of Holdfast's own. */
export async function isThere(connection: SqlConnection, name: string): Promise<boolean> {
  const { rows } = await connection.query('SELECT to_regclass($1) IS NOT NULL AS "isThere"', [name]);
  return rows[0]!['isThere'] as boolean;
}

/** Those of `carriedTables` that a database has. One of an older version lacks what came later. */
export async function carriedTablesIn(connection: SqlConnection): Promise<string[]> {
  const { rows } = await connection.query(
    `SELECT name FROM unnest($1::text[]) WITH ORDINALITY AS carried (name, place)
     WHERE to_regclass('public.' || quote_ident(name)) IS NOT NULL ORDER BY place`,
    [carriedTables],
  );
  return rows.map(({ name }) => name as string);
}

export async function countRows(connection: SqlConnection, table: string): Promise<number> {
  const { rows } = await connection.query(`SELECT count(*)::float8 AS count FROM ${quotedName(table)}`);
  return rows[0]!['count'] as number;
}

/**
 * The rows of a table as JSON, a batch at a time, in the order of its primary key. In a transaction whose time zone is
 * UTC; the same rows give the same texts in every database.
 */
export async function* readRows(
  connection: SqlConnection,
  table: string,
  columns: string[],
): AsyncGenerator<string[]> {
  const order = await orderOf(connection, table);
  await connection.script(
    `DECLARE archived NO SCROLL CURSOR FOR SELECT row_to_json(one)::text AS row
     FROM (SELECT ${listedColumns(columns)} FROM ${quotedName(table)} ORDER BY ${order}) AS one`,
  );
  for (;;) {
    const { rows } = await connection.query(`FETCH ${rowsAtOnce} FROM archived`);
    if (rows.length === 0) break;
    yield rows.map(({ row }) => row as string);
  }
  await connection.script('CLOSE archived');
}

/** Inserts rows as `readRows` gives them. Columns that they lack get their defaults. */
export async function insertRows(
  connection: SqlConnection,
  { name, columns }: { name: string; columns: string[] },
  rows: string[],
): Promise<void> {
  await connection.query(
    `INSERT INTO ${quotedName(name)} (${listedColumns(columns)})
     SELECT ${listedColumns(columns)} FROM json_populate_recordset(NULL::${quotedName(name)}, $1::json)`,
    [`[${rows.join(',')}]`],
  );
}

/** The last number that each sequence gave out, as text, by `table.column`. */
export async function readSequences(
  connection: SqlConnection,
  tables: readonly string[],
): Promise<Record<string, string>> {
  const { rows } = await connection.query(
    `SELECT table_name || '.' || column_name AS name, coalesce(pg_sequence_last_value(sequence), 0)::text AS last
     FROM information_schema.columns
     CROSS JOIN LATERAL CAST(pg_get_serial_sequence(quote_ident(table_name), column_name) AS regclass) AS sequence
     WHERE table_schema = 'public' AND table_name = ANY ($1::text[]) AND sequence IS NOT NULL ORDER BY 1`,
    [tables],
  );
  return Object.fromEntries(rows.map(({ name, last }) => [name, last]));
}

/** Makes each sequence continue after the number that it gave out last, so that no id comes twice. */
export async function setSequences(connection: SqlConnection, last: Record<string, string>): Promise<void> {
  for (const [name, number] of Object.entries(last)) {
    const [table, column] = name.split('.') as [string, string];
    if (number !== '0')
      await connection.query('SELECT setval(pg_get_serial_sequence($1, $2), $3::bigint)', [
        quotedName(table),
        column,
        number,
      ]);
  }
}
