// Rows in every table, whatever tables there are.
import type { SqlConnection } from '../../src/database/database.ts';

export type Column = { table: string; column: string; type: string; label: string | null; isArray: boolean };

/** Every column of our tables, with the first value of those that are enums. */
export async function readColumns(connection: SqlConnection): Promise<Column[]> {
  const { rows } = await connection.query(`
    SELECT table_name::text AS table, column_name::text AS column, (data_type = 'ARRAY') AS "isArray",
      coalesce(e.typname, ltrim(udt_name, '_'))::text AS type,
      (SELECT enumlabel::text FROM pg_enum WHERE enumtypid = e.oid ORDER BY enumsortorder LIMIT 1) AS label
    FROM information_schema.columns
    JOIN information_schema.tables USING (table_schema, table_name)
    LEFT JOIN pg_type e ON e.typname = ltrim(udt_name, '_') AND e.typtype = 'e'
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name <> '_prisma_migrations'
      AND is_generated = 'NEVER'
    ORDER BY table_name, ordinal_position`);
  return rows as Column[];
}

export const tablesOf = (columns: Column[]) => [...Map.groupBy(columns, ({ table }) => table)];

/** The same number in every column of a kind, so that what refers to another row finds it. */
const valueOf = (number: number, { type, label }: Column): string =>
  label ??
  {
    uuid: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
    jsonb: `{"number": ${number}}`,
    timestamptz: new Date(Date.parse('2026-03-01T09:00:00.123Z') + number * 1000).toISOString(),
    bool: 'true',
    bytea: `\\x${String(number).padStart(4, '0')}`,
  }[type] ??
  String(number);

/** Inserts a row into each table, with all of these columns. */
export async function fillTables(
  connection: SqlConnection,
  number: number,
  columns: Column[],
): Promise<void> {
  await connection.script(`SET session_replication_role = replica`);
  for (const [table, its] of tablesOf(columns)) {
    const values = its.map((column) => {
      const value = valueOf(number, column);
      return column.isArray ? `{"${value}"}` : value;
    });
    await connection.script(
      `INSERT INTO "${table}" (${its.map(({ column }) => `"${column}"`).join(', ')})
       VALUES (${values.map((value) => `'${value}'`).join(', ')})`,
    );
  }
  await connection.script(`SET session_replication_role = origin`);
}
