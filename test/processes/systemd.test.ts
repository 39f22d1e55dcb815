import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { appendFile, chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';
import { between, documentAt } from '../docs/documents.ts';
import { cleanEnvironment, copyFiles, trackedFiles } from '../support/clean-copy.ts';
import { setUpAs } from '../support/first-run.ts';
import { freePort } from '../support/free-port.ts';
import { type ServiceProcess, watchProcess } from '../support/process.ts';
import { readUnit, variablesIn } from '../support/systemd-unit.ts';

// docs/install-systemd.md without a running systemd: its commands as they stand below a folder that takes the place of
// `/`, then by hand what the unit that they install tells systemd to do. What the unit forbids the service is not tried.

const isRoot = process.getuid?.() === 0;
/** As DynamicUser= would choose; without root the test cannot become another. */
const account = isRoot ? { uid: 61_999, gid: 61_999 } : {};

let github: Sandbox;
/** Takes the place of `/`. */
let root: string;
let url: string;
let shell: Record<string, string>;
let unit: Map<string, string[]>;
const started: ServiceProcess[] = [];

/** npm installs everything anew, on machines that are slow or busy. */
const installTimeout = 900_000;

/** Paths of the machine below the folder, its Node that of the tests, and its address the one that the test has. */
const below = (text: string): string =>
  text
    .replaceAll('/usr/bin/node', join(root, 'bin/node'))
    .replaceAll(/(?<![\w.])\/(?:opt|etc|var\/lib)\//g, (path) => root + path)
    .replaceAll('https://holdfast.example.com', url);

/** The commands below a heading. */
const commandsOf = (heading: string): string => {
  const section = between(`${documentAt('docs/install-systemd.md')}\n## `, `\n## ${heading}\n`, '\n## ');
  return between(section, '```sh\n', '```');
};

function run(commands: string): void {
  const { status, stdout, stderr } = spawnSync('sh', ['-ec', `umask 022\n${below(commands)}`], {
    cwd: join(root, 'downloads'),
    env: { ...shell, HOME: join(root, 'home') },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${commands}\nended with ${status}:\n${stdout}\n${stderr}`);
}

const only = (name: string): string => {
  const [value, ...more] = unit.get(name) ?? [];
  if (value === undefined || more.length > 0) throw new Error(`${name}= is not there once`);
  return value;
};

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-systemd-'));
  await chmod(root, 0o755);
  shell = await cleanEnvironment(join(root, 'bin'));
  writeFileSync(join(root, 'bin/sudo'), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 });
  for (const path of ['home', 'downloads', 'opt', 'etc/systemd/system', 'var/lib'])
    mkdirSync(join(root, path), { recursive: true });
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  github = await startSandbox({ app: null });
  github.addUser('ada');

  const archive = /holdfast-[\d.]+(?=\.tar\.gz)/.exec(commandsOf('1. Install the code'))![0];
  await copyFiles(trackedFiles(), join(root, 'downloads', archive));
  execFileSync('tar', ['-czf', `${archive}.tar.gz`, archive], { cwd: join(root, 'downloads') });
  run(commandsOf('1. Install the code'));
  run(commandsOf('2. Write the settings'));
  const [copy, ...more] = commandsOf('3. Start the service').trim().split('\n');
  run(`cd /opt/holdfast\n${copy}`);
  expect(more.every((line) => / (?:systemctl|journalctl) /.test(line))).toBe(true);
  unit = readUnit(below(readFileSync(join(root, 'etc/systemd/system/holdfast.service'), 'utf8')));
  await appendFile(
    join(root, 'etc/holdfast/environment'),
    `PORT=${port}\nHOST=127.0.0.1\nGITHUB_API_URL=${github.url}\n`,
  );
}, installTimeout);
afterAll(async () => {
  for (const { child } of started) child.kill('SIGKILL');
  await Promise.all(started.map(({ ended }) => ended));
  await github.close();
  await rm(root, { recursive: true, force: true });
  github.assertNoUnknownRoutes();
});

/** What `systemctl start` does with the unit. */
function start(): ServiceProcess {
  const state = join(root, 'var/lib', only('StateDirectory'));
  mkdirSync(state, { recursive: true });
  chmodSync(state, Number.parseInt(only('StateDirectoryMode'), 8));
  if (isRoot) chownSync(state, account.uid!, account.gid!);
  // A file that need not be there is named with a dash.
  const file = only('EnvironmentFile').replace(/^-/, '');
  const env = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: '/',
    USER: only('User'),
    STATE_DIRECTORY: state,
    ...variablesIn(unit.get('Environment')!.join(' ')),
    ...variablesIn(readFileSync(file, 'utf8')),
  };
  const words = ['-c', `umask ${only('UMask')} && exec "$@"`, 'sh', ...only('ExecStart').split(' ')];
  const service = watchProcess('sh', words, { cwd: only('WorkingDirectory'), env, ...account });
  started.push(service);
  return service;
}
/** What `systemctl stop` does. @returns the exit code and the milliseconds until then. */
async function stop({ child, ended }: ServiceProcess) {
  const began = performance.now();
  child.kill(only('KillSignal') as NodeJS.Signals);
  return { code: await ended, took: performance.now() - began };
}
const statusOf = async (path: string) => (await fetch(url + path)).status;
const modeOf = (path: string) => lstatSync(join(root, path)).mode & 0o777;

test('the settings are for root alone', () => {
  expect(modeOf('etc/holdfast')).toBe(0o700);
  expect(modeOf('etc/holdfast/environment')).toBe(0o600);
});

test.runIf(isRoot)('the account of the service reads the code, and can change none of it', () => {
  const code = join(root, 'opt/holdfast');
  const find = (...tests: string[]) =>
    spawnSync('find', [code, '!', '-type', 'l', ...tests], { encoding: 'utf8', ...account });
  expect(find('-writable')).toMatchObject({ status: 0, stdout: '' });
  expect(find('!', '-readable')).toMatchObject({ status: 0, stdout: '' });
});

test('it is set up, stops on its signal in time, and goes on from its folder, which is its own', async () => {
  const first = start();
  await first.listening;
  expect(await statusOf('/readyz')).toBe(503);
  expect((await setUpAs('ada', url, first.output())).text).toContain('the database, encrypted');
  expect(await statusOf('/readyz')).toBe(200);
  const stopped = await stop(first);
  expect(stopped.code).toBe(0);
  expect(stopped.took).toBeLessThan(Number(only('TimeoutStopSec')) * 1000);

  const state = join(root, 'var/lib/holdfast');
  expect(readdirSync(state)).toEqual(['data']);
  const open = spawnSync('find', [state, '-perm', '/077', '!', '-type', 'l'], { encoding: 'utf8' });
  expect(open).toMatchObject({ status: 0, stdout: '' });
  expect(lstatSync(join(state, 'data')).uid).toBe(account.uid ?? process.getuid!());

  const second = start();
  await second.listening;
  expect(await statusOf('/readyz')).toBe(200);
  expect(await statusOf('/setup')).toBe(404);
  expect((await stop(second)).code).toBe(0);
});
