import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Config } from '../../src/config.ts';
import { openConnection } from '../../src/database/connect.ts';
import type { SqlConnection } from '../../src/database/database.ts';
import { migrate } from '../../src/database/migrate.ts';
import { administer, databaseUrl, dropAll } from '../support/postgres.ts';

// An import that is killed in the middle has changed nothing, and begins again.

const server = inject('postgresUrl');
const bin = fileURLToPath(new URL('../../bin/holdfast.mjs', import.meta.url));
const prefix = `holdfast_killed_${randomBytes(6).toString('hex')}`;
const rowsEach = 30_000;
let folder: string;
let file: string;

async function on<Result>(
  where: Config['database'],
  work: (connection: SqlConnection) => Promise<Result>,
): Promise<Result> {
  const connection = await openConnection(where);
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}

const environmentOf = (where: Config['database']): Record<string, string> => ({
  PATH: process.env['PATH']!,
  ...('dataDir' in where ? { DATA_DIR: where.dataDir } : { DATABASE_URL: where.connectionString }),
});
const optionsOf = (where: Config['database']) => ({ cwd: folder, env: environmentOf(where) });
const holdfast = (where: Config['database'], ...words: string[]) =>
  promisify(execFile)(process.execPath, [bin, ...words], optionsOf(where));

/** Makes an export of two large tables. @param more changes rows. */
async function exportRows(name: string, more = ''): Promise<string> {
  const where = { dataDir: join(folder, `${name}-data`) };
  await on(where, async (connection) => {
    await migrate(connection);
    await connection.script(`
      INSERT INTO accounts (id, login, login_key, type, seen_at) VALUES (1, 'acme', 'acme', 'Organization', now());
      INSERT INTO audit_events (received_at, account_id, type, outcome, trigger, metadata)
      SELECT now(), 1, 'freeze.created', 'success', 'api', '{}' FROM generate_series(1, ${rowsEach});
      INSERT INTO webhook_deliveries (guid, event, received_at)
      SELECT gen_random_uuid(), 'push', now() FROM generate_series(1, ${rowsEach}); ${more}`);
  });
  const path = join(folder, name);
  await holdfast(where, 'db', 'export', path);
  return path;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-killed-'));
  file = await exportRows('export');
});
afterAll(async () => {
  if (server) await dropAll(server, prefix);
  await rm(folder, { recursive: true, force: true });
});

/** Kills an import when the first of the large tables is there. */
async function killInTheMiddle(where: Config['database']): Promise<void> {
  const child = spawn(process.execPath, [bin, 'db', 'import', file], {
    ...optionsOf(where),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (line.startsWith('audit_events')) child.kill('SIGKILL');
  });
  expect((await ended)[1]).toBe('SIGKILL');
}

/** How many accounts there are, also where there is no such table. */
const countAccounts = (where: Config['database']) =>
  on(where, async (connection) => {
    const { rows } = await connection.query(`SELECT to_regclass('public.accounts') IS NOT NULL AS "isThere"`);
    if (!rows[0]!['isThere']) return 0;
    return (await connection.query('SELECT FROM accounts')).rows.length;
  });

/** The SHA-256 of the rows of each table. */
const sumsOf = async (path: string) =>
  gunzipSync(await readFile(path))
    .toString()
    .split('\n')
    .filter((line) => line.startsWith('{"table"'));

describe.each(['PostgreSQL', 'the embedded database'])('into %s', (kind) => {
  test.skipIf(kind === 'PostgreSQL' && !server)('killed in the middle', async () => {
    let where: Config['database'] = { dataDir: join(folder, 'there') };
    if (kind === 'PostgreSQL') {
      await administer(server, `CREATE DATABASE ${prefix}`);
      where = { connectionString: databaseUrl(server, prefix) };
    }
    await killInTheMiddle(where);
    expect(await countAccounts(where)).toBe(0);

    await holdfast(where, 'db', 'import', file);
    const again = join(folder, `again-${kind}`);
    await holdfast(where, 'db', 'export', again);
    expect(await sumsOf(again)).toEqual(await sumsOf(file));
    const twice = await holdfast(where, 'db', 'import', file);
    expect(twice.stdout).toBe(`${file} was imported into this database before, and nothing was changed.\n`);
    const other = await exportRows(`other-${kind}`, `UPDATE accounts SET login = 'Acme'`);
    const late = await holdfast(where, 'db', 'import', other).catch((error) => error);
    expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('The database is not empty')]);
  });
});
