import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, globSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';
import { freePort } from '../support/free-port.ts';
import { Visitor } from '../support/first-run.ts';
import { openShell, type Shell } from '../support/interactive-shell.ts';
import { administer, databaseUrl } from '../support/postgres.ts';
import { between, documentAt } from '../docs/documents.ts';

// The commands of docs/backup.md, pasted into an interactive bash as they stand, against a real process that was set up
// by its setup page. Only the folders are others, and `systemctl` is ours: it starts and stops that process.

const page = documentAt('docs/backup.md');
const code = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const repository = 'acme/web';
const server = inject('postgresUrl');
const postgresBin = globSync('/usr/lib/postgresql/*/bin').toSorted().at(-1) ?? '';

/** The blocks of commands below a heading, in the folders of this test. */
function blocksOf(heading: string, document = page): string[] {
  const section = between(`${document}\n## `, `\n## ${heading}\n`, '\n## ');
  const folders = {
    '/var/lib/holdfast': holdfast,
    '/opt/holdfast': code,
    '/var/backups': backups,
    '/etc/holdfast': folder,
  };
  return [...section.matchAll(/^( *)```sh\n(.*?)^ *```/gms)].map(([, indent, block]) =>
    Object.entries(folders).reduce(
      (text, [path, own]) => text.replaceAll(path, own),
      block!.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    ),
  );
}

let github: Sandbox;
let folder: string;
let holdfast: string;
let backups: string;
let shell: Shell;
let url: string;
let token: string;
let databases: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-backup-'));
  holdfast = join(folder, 'holdfast');
  backups = join(folder, 'backups');
  await mkdir(holdfast);
  await mkdir(backups);
  await writeFile(join(folder, 'environment'), '');
  github = await startSandbox({ app: null });
  token = github.addUser('ada').token;
  github.addOrganization('acme', { admins: ['ada'] });
  github.addRepository(repository, { protect: { main: ['holdfast/freeze'] } });
  databases = [];
  url = `http://127.0.0.1:${await freePort()}`;
  await writeSystemctl();
  shell = openShell({
    PATH: [join(folder, 'bin'), postgresBin, process.env['PATH']].filter(Boolean).join(delimiter),
    HOME: folder,
  });
});
afterEach(async () => {
  await shell.leave();
  if (existsSync(pidFile()))
    await promisify(execFile)(join(folder, 'bin', 'systemctl'), ['stop', 'holdfast']);
  for (const name of databases) await administer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await github.close();
  await rm(folder, { recursive: true, force: true });
});

const pidFile = () => join(folder, 'pid');

/** A `systemctl` for one unit, with the behaviour that the commands rely on: `stop` returns when the process is gone. */
async function writeSystemctl(): Promise<void> {
  const main = join(code, 'src/main.ts');
  await mkdir(join(folder, 'bin'));
  const path = join(folder, 'bin', 'systemctl');
  const script = `#!/bin/bash
set -eu
[ "$2" = holdfast ]
cd '${holdfast}'
case $1 in
  start)
    env -i PATH="$PATH" $(cat '${folder}/environment') '${process.execPath}' '${main}' >> '${folder}/log' 2>&1 < /dev/null &
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

/** Pastes a block that must do what it says. @returns what it printed. */
async function paste(commands: string | undefined): Promise<string> {
  const { code, out } = await shell.paste(commands!);
  expect(code, out).toBe(0);
  return out;
}

/** Whether systemd would say that the service is active. */
const isUp = () => existsSync(pidFile());

/** Writes what the service is told. @param place `.env`, or the file of the systemd unit. */
async function settings(more: Record<string, string> = {}, place = join(holdfast, '.env')): Promise<void> {
  const { port } = new URL(url);
  const values = { PORT: port, HOST: '127.0.0.1', PUBLIC_URL: url, GITHUB_API_URL: github.url, ...more };
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(place, lines.join(''));
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
  await paste('systemctl start holdfast');
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

test('the embedded database comes back from its backup, with the secret key', async () => {
  const [backUp, check] = blocksOf('Back up the embedded database');
  await settings();
  await startAndSetUp();
  const freeze = await makeFreeze();

  const said = await paste(backUp);
  // The shell is still there, and so is the service.
  expect(isUp()).toBe(true);
  expect((await shell.paste('false')).code).toBe(1);
  expect(said).toMatch(
    /Backed up the embedded database in \.\/data to .*\.tar\.gz\. Restore it with tar\.\n/,
  );
  await waitFor('ready');
  expect(await paste(check)).toContain('is good');

  // While the service runs, it says what to do, and leaves nothing behind.
  const kept = await readdir(backups);
  const [, , command] = backUp!.split('\n');
  const refused = await shell.paste(`${command!.replace('"$BACKUP"', `${backups}/second`)} 2>&1`);
  expect(refused).toMatchObject({ code: 1, out: expect.stringMatching(/^Stop Holdfast first\. /) });
  expect(await readdir(backups)).toEqual(kept);

  await paste('systemctl stop holdfast');
  for (const lost of ['postgres', 'secret-key']) await rm(join(holdfast, 'data', lost), { recursive: true });
  await paste(blocksOf('Restore the embedded database')[0]);
  expect(isUp()).toBe(true);
  await expectAllBack(freeze);
});

test('the service is up again after a backup and a restore that fail', async () => {
  await settings();
  await paste('systemctl start holdfast');
  await waitFor('setup');
  await rm(backups, { recursive: true });
  const [backUp, check] = blocksOf('Back up the embedded database');
  await paste(backUp);
  expect(isUp()).toBe(true);
  expect((await shell.paste(check!)).code).not.toBe(0);
  // There is no such file, and then it is a copy as the commands of earlier versions made it.
  const [restore] = blocksOf('Restore the embedded database');
  await paste(restore);
  await paste(`systemctl stop holdfast; BACKUP=${folder}/copy; tar -czf "$BACKUP" data`);
  await paste(restore);
  expect(isUp()).toBe(true);
  expect((await readdir(holdfast)).filter((name) => name.startsWith('data.before'))).toEqual([]);
  await waitFor('setup');

  await paste(restore!.replace('tar ', 'tar --strip-components=1 '));
  const kept = (await readdir(holdfast)).filter((name) => name.startsWith('data.before'));
  expect(kept).toHaveLength(1);
  expect(await readdir(join(holdfast, 'data'))).toEqual(expect.arrayContaining(['postgres', 'secret-key']));
  await waitFor('setup');
});

const whyNotOnPostgres = !server
  ? 'TEST_DATABASE_URL is not set'
  : !postgresBin && !process.env['PATH']!.split(delimiter).some((path) => existsSync(join(path, 'pg_dump')))
    ? 'there is no pg_dump'
    : null;

describe.each(['pg_dump', 'db import'])('by %s', (by) => {
  test('PostgreSQL comes back from its backup', async ({ skip }) => {
    if (whyNotOnPostgres) skip(whyNotOnPostgres);
    const [backUp, check] = blocksOf('Back up PostgreSQL');
    const [restore, takeExport, start] = blocksOf('Restore PostgreSQL');
    const [first, second] = [await makeDatabase(), await makeDatabase()];
    const SECRET_KEY = randomBytes(32).toString('hex');
    await settings({ SECRET_KEY, DATABASE_URL: first });
    await startAndSetUp();
    const freeze = await makeFreeze();
    if (by === 'pg_dump') {
      expect(await paste(backUp)).toContain('with pg_dump. Restore it with pg_restore.');
      expect(await paste(check)).toContain('is good');
    } else {
      await writeFile(join(folder, 'bin', 'pg_dump'), '#!/bin/sh\necho "pg_dump (PostgreSQL) 9.6"\n', {
        mode: 0o755,
      });
      expect(await paste(backUp)).toMatch(
        /^pg_dump is of PostgreSQL 9, .* Restore it with holdfast db import\.$/m,
      );
    }
    expect(isUp()).toBe(true);
    await loseFreeze(freeze);

    await paste(`RESTORED_URL=${second}`);
    await paste(by === 'pg_dump' ? restore : `systemctl stop holdfast\n${takeExport}`);
    expect(isUp()).toBe(false);
    await settings({ SECRET_KEY, DATABASE_URL: second });
    await paste(start);
    await expectAllBack(freeze);
  });
});

test('docs/move.md moves to PostgreSQL and back', async ({ skip }) => {
  if (whyNotOnPostgres) skip(whyNotOnPostgres);
  const move = documentAt('docs/move.md');
  const [there, back] = [
    'From the embedded database to PostgreSQL',
    'From PostgreSQL to the embedded database',
  ];
  await settings({}, join(folder, 'environment'));
  await startAndSetUp();
  const freeze = await makeFreeze();
  await paste(`DATABASE_URL=${await makeDatabase()}`);
  for (const block of blocksOf(there, move)) await paste(block);
  await expectAllBack(freeze);
  // A new shell knows nothing of the settings.
  await paste('unset DATABASE_URL SECRET_KEY SECRET_KEY_PREVIOUS; cd /');
  for (const block of blocksOf(back, move)) await paste(block);
  await waitFor('ready');
  expect((await ask('GET')).text).toContain(freeze);
});

async function makeDatabase(): Promise<string> {
  const name = `holdfast_backup_${randomBytes(8).toString('hex')}`;
  await administer(server, `CREATE DATABASE ${name}`);
  databases.push(name);
  return databaseUrl(server, name);
}
