import type { Holdfast } from './holdfast.ts';

/** Rows that count how often somebody asked; a refusal may write them. */
const counts = "name ~ '^(strangers|looks ahead|caller|names|identities) '";
/** What a refusal may write as well. */
const mayChange: Record<string, string> = { minute_counts: counts };

/**
 * Watches what is written from now on, by whoever writes: PostgreSQL marks each row with the transaction that wrote it,
 * so nothing is copied. When a key was used counts as no change.
 * @returns a function that waits for the work under way and says what was written, a line for each row or table.
 */
export async function watchWrites({ app, quiet }: Holdfast): Promise<() => Promise<string[]>> {
  const { db } = app.deps;
  // What earlier requests still do must not count.
  await quiet();
  const tables = await db.$queryRaw<{ name: string; ignores: string }[]>`
    SELECT table_name AS name, coalesce(string_agg(column_name, ',') FILTER (WHERE column_name = 'last_used_at'), '') AS ignores
    FROM information_schema.columns
    WHERE table_schema = 'public' AND table_name <> '_prisma_migrations' GROUP BY 1 ORDER BY 1`;
  const [{ next }] = await db.$queryRaw<[{ next: string }]>`
    SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS next`;
  const look = tables
    .map(({ name, ignores }) => {
      const row = `to_jsonb(t) - '${ignores}'`;
      return `SELECT '${name}' AS name, count(*)::int AS rows,
        ${ignores ? `coalesce(md5(string_agg((${row})::text, '' ORDER BY ${row})), '')` : "''"} AS sum,
        array_agg((${row})::text) FILTER (WHERE xmin::text::bigint >= ${next}) AS written
        FROM "${name}" t ${mayChange[name] ? `WHERE NOT (${mayChange[name]})` : ''}`;
    })
    .join(' UNION ALL ');
  const see = () => db.$queryRawUnsafe<Seen[]>(look);
  const before = new Map((await see()).map((each) => [each.name, each]));
  return async () => {
    await quiet();
    return (await see()).flatMap(({ name, rows, sum, written }) => {
      const former = before.get(name)!;
      const isSame = sum !== '' && sum === former.sum;
      const lines = isSame ? [] : (written ?? []).map((row) => `${name}: ${row}`);
      return rows < former.rows ? [...lines, `${name}: ${former.rows - rows} rows are gone`] : lines;
    });
  };
}

type Seen = { name: string; rows: number; sum: string; written: string[] | null };
