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
  const look = await lookOf(db);
  const [{ next }] = await db.$queryRaw<[{ next: string }]>`
    SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS next`;
  const see = () => db.$queryRawUnsafe<Seen[]>(look, next);
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

/** By database: the tables stay, and a text that stays is planned once. */
const looks = new WeakMap<Db, string>();

/** SQL that sees every table. `$1` is the first transaction that counts. */
async function lookOf(db: Db): Promise<string> {
  const known = looks.get(db);
  if (known) return known;
  const tables = await db.$queryRaw<{ name: string; ignores: string }[]>`
    SELECT table_name AS name, coalesce(string_agg(column_name, ',') FILTER (WHERE column_name = 'last_used_at'), '') AS ignores
    FROM information_schema.columns
    WHERE table_schema = 'public' AND table_name <> '_prisma_migrations' GROUP BY 1 ORDER BY 1`;
  const look = tables
    .map(({ name, ignores }) => {
      const row = `to_jsonb(t) - '${ignores}'`;
      return `SELECT '${name}' AS name, count(*)::int AS rows,
        ${ignores ? `coalesce(md5(string_agg((${row})::text, '' ORDER BY ${row})), '')` : "''"} AS sum,
        array_agg((${row})::text) FILTER (WHERE xmin::text::bigint >= $1::bigint) AS written
        FROM "${name}" t ${mayChange[name] ? `WHERE NOT (${mayChange[name]})` : ''}`;
    })
    .join(' UNION ALL ');
  looks.set(db, look);
  return look;
}

type Db = Holdfast['app']['deps']['db'];
type Seen = { name: string; rows: number; sum: string; written: string[] | null };
