import pg from 'pg';

/** Runs one statement on the server. */
export async function administer(server: string, sql: string): Promise<pg.QueryResult<{ name: string }>> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    return await client.query(sql);
  } finally {
    await client.end();
  }
}

/** Drops a database and those whose names begin with its name, whoever uses them. */
export async function dropAll(server: string, prefix: string): Promise<void> {
  const named = `SELECT datname AS name FROM pg_database WHERE starts_with(datname, '${prefix}')`;
  const { rows } = await administer(server, named);
  for (const { name } of rows) await administer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
}

/** The URL of another database on the same server. */
export function databaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
