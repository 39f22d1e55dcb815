import { spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PGlite as Pglite17 } from 'pglite-17';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openConnection } from '../../src/database/connect.ts';
import type { SqlConnection } from '../../src/database/database.ts';
import { migrate } from '../../src/database/migrate.ts';
import { freePort } from '../support/free-port.ts';
import { startProcess, watchProcess } from '../support/process.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-modes-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** Starts the service under `umask 000` until it listens, runs something, and kills it. */
async function whileRunning(environment: Record<string, string>, run: (url: string) => Promise<void>) {
  const words = ['-c', 'umask 000; exec "$0" "$1"', process.execPath, main];
  const env = { PATH: process.env['PATH'], PORT: String(await freePort()), ...environment };
  const service = watchProcess('/bin/sh', words, { cwd: folder, env });
  try {
    await run(await service.listening);
  } finally {
    service.child.kill('SIGKILL');
    await service.ended;
  }
}

async function modesIn(dataDir: string): Promise<Record<string, Set<string>>> {
  const modes = { folders: new Set<string>(), files: new Set<string>() };
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
  for (const path of [dataDir, ...entries.map((entry) => join(entry.parentPath, entry.name))]) {
    const found = await stat(path).catch(() => null);
    if (!found || found.isSocket()) continue;
    (found.isDirectory() ? modes.folders : modes.files).add((found.mode & 0o777).toString(8));
  }
  return modes;
}

test('only the owner can read the data folder, with any umask and any former modes', async () => {
  const dataDir = join(folder, 'data');
  await mkdir(dataDir);
  await chmod(dataDir, 0o777);
  await writeFile(join(dataDir, 'secret-key'), 'a'.repeat(64));
  await chmod(join(dataDir, 'secret-key'), 0o666);
  await whileRunning({ DATA_DIR: dataDir, HOST: '127.0.0.1' }, async () => {
    const modes = await modesIn(dataDir);
    expect([...modes['folders']!]).toEqual(['700']);
    expect([...modes['files']!]).toEqual(['600']);
  });
});

/** What the command of the image's health check prints and exits with. */
function healthcheck(port: number, host = '') {
  const program = fileURLToPath(new URL('../../bin/healthcheck.ts', import.meta.url));
  const { status, stdout } = spawnSync(process.execPath, [program, String(port), host], { encoding: 'utf8' });
  return [status, stdout.trim()];
}

test('a service on ::1 says where it is, and its health check and doctor find it there', async () => {
  const port = await freePort();
  const at = { HOST: '::1', PORT: String(port) };
  const service = startProcess({ DATA_DIR: join(folder, 'ipv6'), ...at }, folder);
  expect(await service.listening).toBe(`http://[::1]:${port}`);
  expect(healthcheck(port, '::1')).toEqual([0, `http://[::1]:${port}/healthz: status 200`]);
  const holdfast = fileURLToPath(new URL('../../bin/holdfast.mjs', import.meta.url));
  const env = { PATH: process.env['PATH'], ...at };
  const doctor = spawnSync(process.execPath, [holdfast, 'doctor'], { cwd: folder, env, encoding: 'utf8' });
  expect(doctor.stdout).toContain(`Holdfast answers at http://[::1]:${port}. `);
  service.child.kill('SIGTERM');
  expect(await service.ended).toBe(0);
});

test('kill -9 while the folder is moved to a newer PostgreSQL loses nothing', async () => {
  const dataDir = join(folder, 'of-17');
  await mkdir(dataDir);
  const pglite = new Pglite17(join(dataDir, 'postgres'));
  await pglite.waitReady;
  await pglite.close();
  const openedBy = async <Result>(work: (connection: SqlConnection) => Promise<Result>): Promise<Result> => {
    const connection = await openConnection({ dataDir });
    return work(connection).finally(connection.close);
  };
  await openedBy(async (connection) => {
    await migrate(connection);
    await connection.script(
      `INSERT INTO accounts (id, login, login_key, type, seen_at) VALUES (1, 'acme', 'acme', 'Organization', now())`,
    );
  });

  const port = await freePort();
  const environment = { DATA_DIR: dataDir, HOST: '127.0.0.1', PORT: String(port), LOG_FORMAT: 'json' };
  const killed = startProcess(environment, folder);
  await vi.waitFor(() => expect(killed.output()).toContain('is being moved to a newer PostgreSQL'), {
    timeout: 60_000,
    interval: 1,
  });
  // Whoever restarts what does not answer would begin the move again.
  expect(healthcheck(port)).toEqual([0, `http://127.0.0.1:${port}/healthz: status 200`]);
  const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
  expect([ready.status, ready.headers.get('Retry-After'), await ready.json()]).toEqual([
    503,
    '10',
    { status: 'moving', detail: expect.stringContaining('is being moved to a newer PostgreSQL') },
  ]);
  killed.child.kill('SIGKILL');
  expect(await killed.ended).toBe('SIGKILL');
  expect(await readdir(dataDir)).not.toContain('postgres-old');

  const next = startProcess(environment, folder);
  await next.listening;
  next.child.kill('SIGTERM');
  expect(await next.ended).toBe(0);
  expect(await readFile(join(dataDir, 'postgres', 'PG_VERSION'), 'utf8')).toBe('18\n');
  const { rows } = await openedBy((connection) => connection.query('SELECT login FROM accounts'));
  expect(rows).toEqual([{ login: 'acme' }]);
});
