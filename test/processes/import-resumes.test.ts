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
import type { Connection } from '../../src/database/database.ts';
import { migrate } from '../../src/database/migrate.ts';
import { administer, databaseUrl, dropAll } from '../support/postgres.ts';
import { startProcess } from '../support/process.ts';

// An import that is killed in the middle goes on where it stopped. Until it is done, nothing starts on the database.

const server = inject('postgresUrl');
const bin = fileURLToPath(new URL('../../bin/holdfast.mjs', import.meta.url));
const prefix = `holdfast_resumes_${randomBytes(6).toString('hex')}`;
const rowsEach = 30_000;
let folder: string;
let file: string;

async function on<Result>(
  where: Config['database'],
  work: (connection: Connection) => Promise<Result>,
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
  folder = await mkdtemp(join(tmpdir(), 'holdfast-resumes-'));
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

/** How many rows are there, and which transaction inserted the first event. */
const look = (where: Config['database']) =>
  on(where, async (connection) => {
    const { rows } = await connection.query(
      `SELECT (SELECT count(*)::int FROM audit_events) AS events,
         (SELECT count(*)::int FROM webhook_deliveries) AS deliveries,
         (SELECT xmin::text FROM audit_events ORDER BY id LIMIT 1) AS first`,
    );
    return rows[0] as { events: number; deliveries: number; first: string };
  });

/** The SHA-256 of the rows of each table. */
const sumsOf = async (path: string) =>
  gunzipSync(await readFile(path))
    .toString()
    .split('\n')
    .filter((line) => line.startsWith('{"table"'));

describe.each(['PostgreSQL', 'the embedded database'])('into %s', (kind) => {
  test.skipIf(kind === 'PostgreSQL' && !server)(
    'killed in the middle: start is refused, and it goes on where it stopped',
    async () => {
      let where: Config['database'] = { dataDir: join(folder, 'there') };
      if (kind === 'PostgreSQL') {
        await administer(server, `CREATE DATABASE ${prefix}`);
        where = { connectionString: databaseUrl(server, prefix) };
      }
      await killInTheMiddle(where);
      const half = await look(where);
      expect(half.events).toBe(rowsEach);
      expect(half.deliveries).toBeLessThan(rowsEach);

      for (const ROLE of ['all', 'worker']) {
        const service = startProcess({ ...environmentOf(where), PORT: '0', ROLE }, folder);
        await expect(service.listening)
          .rejects.toThrow('It ended (1)')
          .finally(() => service.child.kill('SIGKILL'));
        expect(service.output()).toBe(
          `The import of ${file} into this database is not finished. Run it again, and it goes on where it stopped: npx --no-install holdfast db import ${file}\n`,
        );
      }
      const exported = await holdfast(where, 'db', 'export', join(folder, 'half')).catch((error) => error);
      expect([exported.code, exported.stderr]).toEqual([1, expect.stringContaining('is not finished')]);
      const other = await exportRows(`other-${kind}`, `UPDATE accounts SET login = 'Acme'`);
      const refused = await holdfast(where, 'db', 'import', other).catch((error) => error);
      expect([refused.code, refused.stderr]).toEqual([
        1,
        expect.stringContaining(`a part of another export: the import of ${file} is not finished`),
      ]);
      expect(await look(where)).toEqual(half);

      const there = half.events + half.deliveries + 1;
      const { stdout } = await holdfast(where, 'db', 'import', file);
      const counted = (rows: number) => rows.toLocaleString('en-US');
      expect(stdout).toContain(`${counted(there)} of ${counted(2 * rowsEach + 1)} rows were there`);
      expect(await look(where)).toEqual({ events: rowsEach, deliveries: rowsEach, first: half.first });
      const again = join(folder, `again-${kind}`);
      await holdfast(where, 'db', 'export', again);
      expect(await sumsOf(again)).toEqual(await sumsOf(file));
      const twice = await holdfast(where, 'db', 'import', file);
      expect(twice.stdout).toBe(`${file} was imported into this database before, and nothing was changed.\n`);
      const late = await holdfast(where, 'db', 'import', other).catch((error) => error);
      expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('The database is not empty')]);
    },
  );
});
