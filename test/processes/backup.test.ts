import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, globSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';
import { freePort } from '../support/free-port.ts';
import { Visitor } from '../support/first-run.ts';
import { administer, databaseUrl } from '../support/postgres.ts';
import { between, documentAt } from '../docs/documents.ts';

// The commands of docs/backup.md, run as they stand against a real process that was set up by its setup page.
// Only `systemctl` is ours: it starts and stops that process.

const page = documentAt('docs/backup.md');
const repository = 'acme/web';
const server = inject('postgresUrl');
const postgresBin = globSync('/usr/lib/postgresql/*/bin').toSorted().at(-1) ?? '';

/** The commands below a heading: exactly one block of them. */
function commandsOf(heading: string): string {
  const [commands, ...more] = [
    ...between(`${page}\n## `, `\n## ${heading}\n`, '\n## ').matchAll(/```sh\n(.*?)```/gs),
  ];
  if (!commands || more.length > 0) throw new Error(`"${heading}" has not exactly one block of commands`);
  return commands[1]!;
}

let github: Sandbox;
let folder: string;
let holdfast: string;
let url: string;
let token: string;
let databases: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-backup-'));
  holdfast = join(folder, 'holdfast');
  await mkdir(holdfast);
  github = await startSandbox({ app: null });
  token = github.addUser('ada').token;
  github.addOrganization('acme', { admins: ['ada'] });
  github.addRepository(repository, { protect: { main: ['holdfast/freeze'] } });
  databases = [];
  url = `http://127.0.0.1:${await freePort()}`;
  await writeSystemctl();
});
afterEach(async () => {
  if (existsSync(pidFile())) await run('systemctl stop holdfast');
  for (const name of databases) await administer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await github.close();
  await rm(folder, { recursive: true, force: true });
});

const pidFile = () => join(folder, 'pid');

/** A `systemctl` for one unit, with the behaviour that the commands rely on: `stop` returns when the process is gone. */
async function writeSystemctl(): Promise<void> {
  const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
  await mkdir(join(folder, 'bin'));
  const path = join(folder, 'bin', 'systemctl');
  const script = `#!/bin/bash
set -eu
[ "$2" = holdfast ]
cd '${holdfast}'
case $1 in
  start)
    env -i PATH="$PATH" '${process.execPath}' '${main}' >> '${folder}/log' 2>&1 < /dev/null &
    echo $! > '${folder}/pid' ;;
  stop)
    if [ -e '${folder}/pid' ]; then
      kill "$(cat '${folder}/pid')" 2>/dev/null || true
      while kill -0 "$(cat '${folder}/pid')" 2>/dev/null; do sleep 0.05; done
      rm '${folder}/pid'
    fi ;;
esac
`;
  await writeFile(path, script);
  await chmod(path, 0o755);
}

const run = (commands: string, environment: Record<string, string> = {}) =>
  promisify(execFile)('sh', ['-c', commands], {
    env: {
      PATH: [join(folder, 'bin'), postgresBin, process.env['PATH']].filter(Boolean).join(delimiter),
      HOLDFAST: holdfast,
      BACKUP: join(folder, 'copy'),
      ...environment,
    },
  });

/** Writes `.env`, which is all that the service is told. */
async function settings(more: Record<string, string> = {}): Promise<void> {
  const { port } = new URL(url);
  const values = { PORT: port, HOST: '127.0.0.1', PUBLIC_URL: url, GITHUB_API_URL: github.url, ...more };
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(join(holdfast, '.env'), lines.join(''));
}

/** Waits until the service answers `/readyz` so. */
const waitFor = (status: string) =>
  vi.waitFor(
    async () => {
      const response = await fetch(`${url}/readyz`).catch(() => null);
      const body = response && ((await response.json()) as { status: string });
      if (body?.status !== status) {
        throw new Error(
          `not ${status}: ${JSON.stringify(body)}\n${await readFile(join(folder, 'log'), 'utf8')}`,
        );
      }
    },
    { timeout: 180_000, interval: 50 },
  );

async function startAndSetUp(): Promise<void> {
  await run('systemctl start holdfast');
  await waitFor('setup');
  const visitor = new Visitor();
  const log = await readFile(join(folder, 'log'), 'utf8');
  const code = [...log.matchAll(/"code":"([^"]+)"/g)].at(-1)![1]!;
  const form = await visitor.submit(await visitor.get(`${url}/setup`), { code });
  const review = await visitor.submit(form, { owner: 'person', name: 'Kept' });
  const done = await visitor.submit(await visitor.submit(review), { as: 'ada' });
  expect(done.text).toContain('the database, encrypted');
  await waitFor('ready');
  github.install('acme');
}

async function ask(method: string, path = '', body?: object): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}/v1/repos/${repository}/scheduled_freeze${path}`, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

async function makeFreeze(): Promise<string> {
  const made = await ask('POST', '', { reason: 'Quarter end', start: null, timezone: 'UTC' });
  expect(made.status).toBe(201);
  return (JSON.parse(made.text) as { id: string }).id;
}
async function loseFreeze(id: string): Promise<void> {
  expect((await ask('POST', `/${id}/delete`, { delete_reason: 'by mistake' })).status).toBe(204);
  expect((await ask('GET')).text).toBe('{"scheduled_freezes":[]}');
}

/** The freeze is there again, and the App that the setup page made is the App still: it holds a new pull request. */
async function expectAllBack(freeze: string): Promise<void> {
  await waitFor('ready');
  expect((await ask('GET')).text).toContain(freeze);
  expect((await fetch(`${url}/setup`)).status).toBe(404);
  github.openPullRequest(repository, { author: 'ada' });
  await github.waitForStatus(repository, 1, 'pending', { timeoutMs: 120_000 });
}

test('the embedded database comes back from its copy, with the secret key', async () => {
  await settings();
  await startAndSetUp();
  const freeze = await makeFreeze();
  await run(commandsOf('Back up the embedded database'));
  // It was started again. The disk loses what is on it before that one is up, which saves the test some seconds.
  expect(existsSync(pidFile())).toBe(true);
  await run('systemctl stop holdfast');
  for (const lost of ['postgres', 'secret-key']) await rm(join(holdfast, 'data', lost), { recursive: true });

  await run(commandsOf('Restore the embedded database'));
  await expectAllBack(freeze);
});

const whyNotOnPostgres = !server
  ? 'TEST_DATABASE_URL is not set'
  : !postgresBin && !process.env['PATH']!.split(delimiter).some((path) => existsSync(join(path, 'pg_dump')))
    ? 'there is no pg_dump'
    : null;

test('PostgreSQL comes back from its copy', async ({ skip }) => {
  if (whyNotOnPostgres) skip(whyNotOnPostgres);
  const [first, second] = [await makeDatabase(), await makeDatabase()];
  const SECRET_KEY = randomBytes(32).toString('hex');
  await settings({ SECRET_KEY, DATABASE_URL: first });
  await startAndSetUp();
  const freeze = await makeFreeze();
  await run(commandsOf('Back up PostgreSQL'), { DATABASE_URL: first });
  await loseFreeze(freeze);
  await run('systemctl stop holdfast');

  await run(commandsOf('Restore PostgreSQL'), { RESTORED_URL: second });
  await settings({ SECRET_KEY, DATABASE_URL: second });
  await run('systemctl start holdfast');
  await expectAllBack(freeze);
});

async function makeDatabase(): Promise<string> {
  const name = `holdfast_backup_${randomBytes(8).toString('hex')}`;
  await administer(server, `CREATE DATABASE ${name}`);
  databases.push(name);
  return databaseUrl(server, name);
}
