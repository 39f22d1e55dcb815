import type { Connection } from '../../database/database.ts';

/** So many rows are in memory at once. */
const atOnce = 500;

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
export const listed = (names: string[]): string => names.map(quoted).join(', ');

/** The columns of a table in their order, and those of its primary key. */
export async function columnsOf(connection: Connection, table: string): Promise<string[]> {
  const { rows } = await connection.query(
    `SELECT attname::text AS name FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    [quoted(table)],
  );
  return rows.map(({ name }) => name as string);
}

/** `ORDER BY` the primary key. Texts by their bytes: databases differ in how they order words. */
async function orderOf(connection: Connection, table: string): Promise<string> {
  const { rows } = await connection.query(
    `SELECT attname::text AS name, attcollation <> 0 AS "isText" FROM pg_index
     CROSS JOIN unnest(indkey) WITH ORDINALITY AS key (number, place)
     JOIN pg_attribute ON attrelid = indrelid AND attnum = key.number
     WHERE indrelid = $1::regclass AND indisprimary ORDER BY place`,
    [quoted(table)],
  );
  return rows.map(({ name, isText }) => quoted(name as string) + (isText ? ' COLLATE "C"' : '')).join(', ');
}

/** Whether a database has a table. @param name with its schema, unless it is one of Holdfast's own. */
export async function isThere(connection: Connection, name: string): Promise<boolean> {
  const { rows } = await connection.query('SELECT to_regclass($1) IS NOT NULL AS "isThere"', [name]);
  return rows[0]!['isThere'] as boolean;
}

export async function countRows(connection: Connection, table: string): Promise<number> {
  const { rows } = await connection.query(`SELECT count(*)::float8 AS count FROM ${quoted(table)}`);
  return rows[0]!['count'] as number;
}

/**
 * The rows of a table as JSON, a batch at a time, in the order of its primary key. In a transaction whose time zone is
 * UTC; the same rows give the same texts in every database.
 */
export async function* readRows(
  connection: Connection,
  table: string,
  columns: string[],
): AsyncGenerator<string[]> {
  const order = await orderOf(connection, table);
  await connection.script(
    `DECLARE archived NO SCROLL CURSOR FOR SELECT row_to_json(one)::text AS row
     FROM (SELECT ${listed(columns)} FROM ${quoted(table)} ORDER BY ${order}) AS one`,
  );
  for (;;) {
    const { rows } = await connection.query(`FETCH ${atOnce} FROM archived`);
    if (rows.length === 0) break;
    yield rows.map(({ row }) => row as string);
  }
  await connection.script('CLOSE archived');
}

/** `table.column` of each number that a sequence gives out. */
async function sequencesOf(connection: Connection, tables: readonly string[]) {
  const { rows } = await connection.query(
    `SELECT table_name::text AS table, column_name::text AS column,
       pg_get_serial_sequence(quote_ident(table_name), column_name) AS sequence
     FROM information_schema.columns WHERE table_schema = 'public' AND table_name = ANY ($1::text[])
       AND pg_get_serial_sequence(quote_ident(table_name), column_name) IS NOT NULL
     ORDER BY 1, 2`,
    [tables],
  );
  return rows as { table: string; column: string; sequence: string }[];
}

/** The last number that each sequence gave out, as text, by `table.column`. */
export async function readSequences(
  connection: Connection,
  tables: readonly string[],
): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { table, column, sequence } of await sequencesOf(connection, tables)) {
    const { rows } = await connection.query(
      `SELECT CASE WHEN is_called THEN last_value ELSE 0 END::text AS last FROM ${sequence}`,
    );
    found[`${table}.${column}`] = rows[0]!['last'] as string;
  }
  return found;
}

/** Has each sequence go on after the number that it gave out last: no id comes twice. */
export async function setSequences(connection: Connection, last: Record<string, string>): Promise<void> {
  const tables = Object.keys(last).map((name) => name.split('.')[0]!);
  for (const { table, column, sequence } of await sequencesOf(connection, tables)) {
    const number = last[`${table}.${column}`] ?? '0';
    if (number !== '0') await connection.query('SELECT setval($1::regclass, $2::bigint)', [sequence, number]);
  }
}
