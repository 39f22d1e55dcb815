// The package of the command line, packed and run where nothing of the service is, and its processes.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Acme, startAcme } from '../support/acme.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

let folder: string;
let installed: string;
let bin: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-package-'));
  // npm calls its scripts with what is in node_modules/.bin, tsc among it.
  execFileSync('npm', ['pack', './packages/cli', '--pack-destination', folder, '--silent'], { cwd: root });
  const [archive] = globSync('*.tgz', { cwd: folder });
  execFileSync('tar', ['-xzf', archive!], { cwd: folder });
  // Where npm would put it, with what it depends on, from here: the network is not needed.
  installed = join(folder, 'lib/node_modules/holdfast-cli');
  mkdirSync(join(folder, 'lib/node_modules'), { recursive: true });
  cpSync(join(folder, 'package'), installed, { recursive: true });
  for (const name of dependenciesOf(readJson(join(installed, 'package.json'))))
    cpSync(join(root, 'node_modules', name), join(installed, 'node_modules', name), { recursive: true });
  bin = join(installed, readJson(join(installed, 'package.json')).bin.holdfast);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Names of the packages that one needs, and what they need. */
function dependenciesOf({ dependencies = {} }: { dependencies?: Record<string, string> }): Set<string> {
  const names = new Set(Object.keys(dependencies));
  for (const name of [...names])
    for (const below of dependenciesOf(readJson(join(root, 'node_modules', name, 'package.json'))))
      names.add(below);
  return names;
}

const run = (args: string[], input = '') =>
  execFileSync(process.execPath, [bin, ...args], { encoding: 'utf8', input, cwd: folder });

describe('the package', () => {
  test('holds only JavaScript of the command, is small, and runs no script at its installation', () => {
    const files = globSync('**/*', { cwd: join(folder, 'package') }).filter((path) => /\.\w+$/.test(path));
    const folders = new Set(files.map((path) => path.split('/').slice(0, 2).join('/')));
    expect([...folders].toSorted()).toEqual(
      [
        'README.md',
        'LICENSE',
        'dist/address-here.js',
        'dist/cli',
        'dist/conditions',
        'dist/cut-text.js',
        'dist/dot-env.js',
        'dist/events',
        'dist/github',
        'dist/plans',
        'dist/time',
        'dist/words',
        'package.json',
      ]
        .filter((name) => name !== 'LICENSE')
        .toSorted(),
    );
    expect(files.filter((path) => path.endsWith('.ts'))).toEqual([]);
    expect(globSync('dist/github/**/*.js', { cwd: join(folder, 'package') })).toEqual([
      'dist/github/facts/without-comments.js',
    ]);
    const sizes = globSync('**/*', { cwd: installed }).map((path) => statSync(join(installed, path)));
    expect(sizes.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(10_000_000);
    const { scripts } = readJson(join(installed, 'package.json'));
    expect(Object.keys(scripts).filter((name) => /install|prepare/.test(name))).toEqual([]);
  });

  test('has the version and the dependencies of the service', () => {
    const [own, service] = ['packages/cli/package.json', 'package.json'].map((path) =>
      readJson(join(root, path)),
    );
    expect(own.version).toBe(service.version);
    for (const [name, range] of Object.entries(own.dependencies))
      expect(service.dependencies[name]).toBe(range);
    expect(readFileSync(bin, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  test('runs without any file of the service', () => {
    expect(run(['--version'])).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(run(['freeze', '--help'])).toContain('Examples:');
    const judged = run(
      ['conditions', 'test'],
      '{"condition": "files~=^src/ ", "pull_request": {"files": ["src/a.ts"]}}\n{"condition": "schedule=Mon-Fri 09:00-18:00[Europe/Paris]", "now": "2026-03-02T09:00:00Z"}\n',
    );
    expect(
      judged
        .trim()
        .split('\n')
        .map((row) => JSON.parse(row).match),
    ).toEqual([true, true]);
    expect(run(['conditions', 'attributes', '--json'])).toContain('"label"');
    writeFileSync(join(folder, 'scopes.yml'), '');
    expect(() => run(['scopes', 'push', '--from-diff', '--base', 'main'])).toThrow('scopes.yml:1: The file');
    expect(run(['completion', 'zsh'])).toMatch(/^#compdef holdfast/);
  });
});

describe('as a process, against a running service', () => {
  let acme: Acme;
  let env: Record<string, string>;
  beforeAll(async () => {
    acme = await startAcme();
    await acme.repository('web', [{}]);
    env = {
      PATH: process.env['PATH']!,
      HOME: folder,
      HOLDFAST_URL: acme.app.url,
      HOLDFAST_TOKEN: acme.admin,
    };
  });
  afterAll(() => acme.close());

  const start = (args: string[]) =>
    spawn(process.execPath, [bin, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const freezes = async () =>
    (await acme.call('GET', '/v1/repos/acme/web/scheduled_freeze', { as: acme.admin })).body
      .scheduled_freezes;
  const sleeping = ['--', process.execPath, '-e', 'console.log(process.pid); setInterval(() => {}, 1000)'];

  test.runIf(process.getuid?.() === 0)('an unknown user has no home folder, and needs none', async () => {
    chmodSync(folder, 0o755);
    const child = spawn(process.execPath, [bin, 'list', 'acme'], {
      env: { ...env, HOME: undefined },
      uid: 54_321,
      cwd: '/',
      stdio: 'pipe',
    });
    expect((await once(child, 'close'))[0]).toBe(0);
  });

  test('every command that looks, and its exit code', async () => {
    for (const [args, expected] of [
      [['list', 'acme'], 0],
      [['status', 'acme/web'], 0],
      [['doctor', 'acme/web'], 0],
      [['list', 'acme/nowhere'], 1],
      [['lsit'], 2],
    ] as const) {
      const [code] = await once(start([...args]), 'close');
      expect([args, code]).toEqual([args, expected]);
    }
  });

  test('run passes a signal on, ends its freeze, and says how the command ended', async () => {
    const child = start(['run', '--freeze', 'acme/web', '-m', 'Deploying', ...sleeping]);
    await once(child.stdout, 'data');
    expect(await freezes()).toHaveLength(1);
    child.kill('SIGTERM');
    const [code] = await once(child, 'close');
    expect([code, await freezes()]).toEqual([143, []]);
  });

  test('run that gets a signal while it waits for GitHub ends its freeze, and does not begin', async () => {
    const seen: string[] = [];
    let isSeen = () => {};
    const waiting = {
      switched_on: true,
      enforced: true,
      pull_requests: { to_hold: 1, held: 0 },
      leaking: [],
      not_held: [],
      instant: { mode: 'off', state: 'off', since: null, error: null },
      waiting_writes: 1,
      look_due: false,
    };
    const freeze = { id: 'a', timezone: 'UTC', end: '' };
    const serve = async (request: IncomingMessage, response: ServerResponse) => {
      const asked = `${request.method} ${request.url!.split('/').at(-1)}`;
      seen.push(asked);
      const body = await text(request);
      if (asked === 'POST scheduled_freeze') freeze.end = JSON.parse(body).end;
      const answer = {
        'GET enforcement': waiting,
        'GET scheduled_freeze': { scheduled_freezes: [freeze] },
        'POST scheduled_freeze': freeze,
      }[asked];
      response.writeHead(answer ? 200 : 204).end(answer && JSON.stringify(answer));
      if (asked === 'GET enforcement') isSeen();
    };
    const server = createServer((request, response) => void serve(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/below`;
    const child = start([
      'run',
      '--url',
      url,
      '--freeze',
      'acme/web',
      '-m',
      'x',
      '--wait',
      '--',
      'touch',
      'begun',
    ]);
    await new Promise<void>((resolve) => (isSeen = resolve));
    child.kill('SIGTERM');
    const [code] = await once(child, 'close');
    server.close();
    expect([code, seen.at(-1), existsSync('begun')]).toEqual([143, 'POST delete', false]);
  });

  test('a run that dies leaves a freeze that ends by itself', async () => {
    const before = Date.now();
    const child = start(['run', '--freeze', 'acme/web', '-m', 'Deploying', ...sleeping]);
    const [pid] = (await once(child.stdout, 'data')) as [Buffer];
    child.kill('SIGKILL');
    process.kill(Number(String(pid)), 'SIGKILL');
    expect(await freezes()).toHaveLength(1);
    const [{ id }] = await freezes();
    const report = await acme.call('GET', '/v1/repos/acme/web/freeze_state', { as: acme.admin });
    const ends = Date.parse(report.body.next_transition_at);
    expect(ends).toBeGreaterThan(before + 9 * 60_000);
    expect(ends).toBeLessThan(Date.now() + 11 * 60_000);
    await acme.remove('acme/web', id);
  });
});
