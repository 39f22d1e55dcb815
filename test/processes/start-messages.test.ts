import { spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as listenRaw, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectDatabase } from '../../src/database/connect.ts';
import { UnusableDatabase } from '../../src/database/database-errors.ts';
import { type PostgresCluster, startPostgres } from '../faults/postgres-cluster.ts';
import { freePort } from '../support/free-port.ts';
import { administer } from '../support/postgres.ts';
import { startProcess, watchProcess } from '../support/process.ts';

// What a start says that cannot go on: one sentence with what to set, and no stack.

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
let folder: string;
let cluster: PostgresCluster | null;
let served = 0;
const servers: Server[] = [];

/** @returns its port. */
async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-start-'));
  await chmod(folder, 0o755);
  cluster = await startPostgres({
    hba: ['local all all trust', 'hostssl all all 127.0.0.1/32 trust', 'hostssl all all ::1/128 trust'],
  });
  if (!cluster) return;
  const admin = inTls(cluster, 'postgres');
  await administer(admin, 'CREATE ROLE owner LOGIN SUPERUSER');
  await administer(admin, 'CREATE ROLE crowd LOGIN CONNECTION LIMIT 0');
  await administer(admin, 'CREATE ROLE reader LOGIN');
  await administer(admin, 'ALTER ROLE reader SET default_transaction_read_only = on');
});
afterAll(async () => {
  for (const server of servers) server.close();
  await cluster?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The URL of a cluster whose certificate is checked. */
function inTls({ url, authority }: PostgresCluster, user: string, more: Record<string, string> = {}): string {
  const given = new URL(url);
  given.hostname = 'localhost';
  given.username = user;
  for (const [name, value] of Object.entries({ sslmode: 'verify-full', sslrootcert: authority, ...more }))
    if (value) given.searchParams.set(name, value);
  return given.href;
}

type Url = (cluster: PostgresCluster) => string | Promise<string>;
const rows: [what: string, url: Url, says: RegExp][] = [
  [
    'encryption that the server requires',
    ({ url }) => url,
    /^PostgreSQL lets the user postgres connect from here only with encryption, or not at all: add sslmode=verify-full to/,
  ],
  [
    'a certificate of an authority of its own',
    (at) => inTls(at, 'owner', { sslrootcert: '' }),
    /^The certificate of PostgreSQL is from an authority that this machine does not know: add sslrootcert=FILE .* NODE_EXTRA_CA_CERTS\.$/,
  ],
  [
    'a certificate for another name',
    (at) => inTls(at, 'owner').replace('localhost', '127.0.0.1'),
    /^The certificate of PostgreSQL is not for 127\.0\.0\.1: write the host in DATABASE_URL as the certificate names it\.$/,
  ],
  [
    'a file of the authority that is not there',
    (at) => inTls(at, 'owner', { sslrootcert: '/nowhere/ca.pem' }),
    /^sslrootcert in DATABASE_URL names \/nowhere\/ca\.pem, which cannot be read \(ENOENT\): correct it/,
  ],
  [
    'encryption that the server does not have',
    async () => {
      // PostgreSQL's answer to a request for encryption where it has none.
      const port = await listen(listenRaw((socket) => socket.once('data', () => socket.end('N'))));
      return `postgres://holdfast@127.0.0.1:${port}/holdfast?sslmode=verify-full`;
    },
    /^PostgreSQL at 127\.0\.0\.1:\d+ has no encryption: remove sslmode from DATABASE_URL, or turn ssl on/,
  ],
  [
    'no connection left',
    (at) => inTls(at, 'crowd'),
    /^PostgreSQL has no connection left for Holdfast: raise max_connections, or the CONNECTION LIMIT/,
  ],
  [
    'a database that is read-only',
    (at) => inTls(at, 'reader'),
    /^The database is read-only, so nothing can be saved: name the primary in DATABASE_URL, or allow writes\.$/,
  ],
  [
    'a port of something else',
    async () => `postgres://holdfast@127.0.0.1:${await listen(createServer())}/holdfast`,
    /^What answers at 127\.0\.0\.1:\d+ is not PostgreSQL, or ends connections at once: correct the host and port in DATABASE_URL/,
  ],
];

test.each(rows)('%s', async (_, url, says) => {
  if (!cluster) return;
  const opening = connectDatabase({ connectionString: await url(cluster) });
  const error = await opening.then(
    (database) => database.close(),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(UnusableDatabase);
  expect((error as Error).message).toMatch(says);
});

/** Starts the service in a folder of its own. @returns what it says, if it ends with 1. */
async function refusal(environment: Record<string, string>, prepare?: (cwd: string) => Promise<unknown>) {
  const cwd = join(folder, `start-${++served}`);
  await mkdir(cwd);
  await prepare?.(cwd);
  const { ended, output } = startProcess({ PORT: '0', HOST: '127.0.0.1', ...environment }, cwd);
  expect(await ended, output()).toBe(1);
  expect(output()).not.toContain('    at ');
  return output().trim();
}

describe('a process', () => {
  test.each<[string, Record<string, string>, RegExp]>([
    [
      'a data folder that is a file',
      { DATA_DIR: '/etc/hostname' },
      /^DATA_DIR \/etc\/hostname is a file, not a folder: name a folder\.$/,
    ],
    [
      'a data folder below a file',
      { DATA_DIR: '/etc/hostname/data' },
      /^DATA_DIR .* is a file or below one: name a folder\.$/,
    ],
    [
      'a data folder that cannot be made',
      { DATA_DIR: '/proc/holdfast' },
      /^DATA_DIR \/proc\/holdfast cannot be made there: name a folder that can be written\.$/,
    ],
    [
      'a host that is not ours',
      { HOST: '192.0.2.1' },
      /^HOST names 192\.0\.2\.1, which is no address of this machine: set it to one of them, or to 0\.0\.0\.0 for all\.$/m,
    ],
    [
      'a host that nobody knows',
      { HOST: 'nowhere.invalid' },
      /^HOST names nowhere\.invalid, which cannot be looked up/m,
    ],
  ])('%s', async (_, environment, says) => {
    expect(await refusal(environment)).toMatch(says);
  });

  test.skipIf(process.getuid?.() !== 0)('a data folder of another user', async () => {
    const cwd = join(folder, 'of-root');
    await mkdir(cwd);
    const env = { PATH: process.env['PATH'], HOST: '127.0.0.1', PORT: '0' };
    const nobody = { cwd, env, uid: 65534, gid: 65534 };
    const { ended, output } = watchProcess(process.execPath, [main], nobody);
    expect(await ended, output()).toBe(1);
    expect(output().trim()).toBe(
      'DATA_DIR ./data cannot be written by the user of this process: give the folder to that user, or name another.',
    );
  });

  test.each<[string, (path: string) => Promise<unknown>, string]>([
    ['is a folder', (path) => mkdir(path), 'EISDIR'],
    ['leads to no file', (path) => symlink('/nowhere/.env', path), 'ENOENT'],
  ])('a .env that %s is no absent one, for the service and the command line', async (_, make, code) => {
    let at = '';
    const said = await refusal({}, async (cwd) => make((at = join(cwd, '.env'))));
    expect(said).toContain(`${at} cannot be read (${code}), so its settings are missing.`);
    const holdfast = fileURLToPath(new URL('../../bin/holdfast.mjs', import.meta.url));
    const doctor = spawnSync(process.execPath, [holdfast, 'doctor'], {
      cwd: join(at, '..'),
      env: { PATH: process.env['PATH'] },
      encoding: 'utf8',
    });
    expect([doctor.status, doctor.stderr]).toEqual([
      2,
      expect.stringContaining(`${at} cannot be read (${code})`),
    ]);
  });

  test('an instance that lost its DATABASE_URL does not begin anew', async () => {
    if (!cluster) return;
    const cwd = join(folder, 'lost');
    await mkdir(cwd);
    const environment = { HOST: '127.0.0.1', PORT: String(await freePort()) };
    const DATABASE_URL = inTls(cluster, 'owner');
    const before = startProcess({ ...environment, DATABASE_URL }, cwd);
    await before.listening;
    before.child.kill('SIGTERM');
    await before.ended;
    const after = startProcess(environment, cwd);
    expect(await after.ended).toBe(1);
    const note = join(cwd, 'data', 'uses-postgresql');
    const { host } = new URL(DATABASE_URL);
    expect(after.output().trim()).toBe(
      `DATABASE_URL is missing: this instance has its data in PostgreSQL at ${host}/postgres. Set DATABASE_URL. If you want the embedded database instead, remove ${note}.`,
    );
    await writeFile(join(cwd, '.env'), `DATABASE_URL=${DATABASE_URL}\n`);
    const again = startProcess(environment, cwd);
    await again.listening;
    again.child.kill('SIGTERM');
    await again.ended;
  });
});
