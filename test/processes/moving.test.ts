import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';
import { freePort } from '../support/free-port.ts';
import { Visitor } from '../support/first-run.ts';
import { administer, databaseUrl, dropAll } from '../support/postgres.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';

// A service moves while a freeze is on: from the embedded database to PostgreSQL, and back.

const server = inject('postgresUrl');
const bin = fileURLToPath(new URL('../../bin/holdfast.mjs', import.meta.url));
const repository = 'acme/web';
const second = 1000;

type Settings = Record<string, string>;

describe.skipIf(!server)('with a PostgreSQL to move to', () => {
  const prefix = `holdfast_moving_${randomBytes(6).toString('hex')}`;
  let github: Sandbox;
  let folder: string;
  let url: string;
  let service: ServiceProcess | null;
  let common: Settings;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-moving-'));
    github = await startSandbox({ app: null });
    url = `http://127.0.0.1:${await freePort()}`;
    common = {
      PORT: new URL(url).port,
      HOST: '127.0.0.1',
      PUBLIC_URL: url,
      GITHUB_API_URL: github.url,
      HOME: folder,
    };
    service = null;
  });
  afterEach(async () => {
    if (service) await stop();
    await github.close();
    await dropAll(server, prefix);
    await rm(folder, { recursive: true, force: true });
  });

  const waitFor = (status: string) =>
    vi.waitFor(
      async () => {
        const answer = await fetch(`${url}/readyz`).catch(() => null);
        const body = answer && ((await answer.json()) as { status: string });
        if (body?.status !== status) throw new Error(`not ${status}:\n${service!.output()}`);
      },
      { timeout: 120 * second, interval: 50 },
    );
  /** Milliseconds. */
  let slowestStart = 0;
  async function start(settings: Settings, status = 'ready'): Promise<void> {
    const began = Date.now();
    service = startProcess({ ...common, ...settings }, folder);
    await service.listening;
    await waitFor(status);
    slowestStart = Math.max(slowestStart, Date.now() - began);
  }
  async function stop(): Promise<void> {
    service!.child.kill('SIGTERM');
    expect(await service!.ended).toBe(0);
    service = null;
  }
  const environmentOf = (settings: Settings) => ({ PATH: process.env['PATH'], ...common, ...settings });
  const holdfast = (settings: Settings, ...words: string[]) =>
    promisify(execFile)(process.execPath, [bin, ...words], { cwd: folder, env: environmentOf(settings) });
  async function makeDatabase(name: string): Promise<string> {
    await administer(server, `CREATE DATABASE ${prefix}_${name}`);
    return databaseUrl(server, `${prefix}_${name}`);
  }

  async function setUp(): Promise<string> {
    const { token } = github.addUser('ada');
    github.addOrganization('acme', { admins: ['ada'] });
    github.addRepository(repository, { protect: { main: ['holdfast/freeze'] } });
    await start({}, 'setup');
    const visitor = new Visitor();
    const code = /"code":"([^"]+)"/.exec(service!.output())![1]!;
    const form = await visitor.submit(await visitor.get(`${url}/setup`), { code });
    const review = await visitor.submit(form, { owner: 'person', name: 'Moving' });
    await visitor.submit(await visitor.submit(review), { as: 'ada' });
    await waitFor('ready');
    github.install('acme');
    return token;
  }
  const call = async (token: string, method: string, path: string, body?: object) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const answer = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) });
    const text = await answer.text();
    return { status: answer.status, body: text ? JSON.parse(text) : null };
  };
  const freezes = `/v1/repos/${repository}/scheduled_freeze`;

  /** Freezes the repository until after a move. @returns the freeze, and when it ends in milliseconds. */
  async function freeze(token: string): Promise<{ id: string; end: number }> {
    // A move starts three processes, and needs a minute on a slow machine.
    const end = Math.ceil((Date.now() + 8 * slowestStart) / second) * second + 40 * second;
    const { status, body } = await call(token, 'POST', freezes, {
      reason: 'Release',
      start: null,
      end: new Date(end).toISOString().slice(0, 19),
      timezone: 'UTC',
    });
    expect(status, JSON.stringify(body)).toBe(201);
    return { id: body.id, end };
  }

  /** Moves from one database to another while pull request `held` is held; another one comes while nobody listens. */
  async function move(from: Settings, to: Settings, importing: Settings, held: number): Promise<void> {
    await stop();
    const file = join(folder, `export-${held}`);
    await holdfast(from, 'db', 'export', file);
    github.openPullRequest(repository, { author: 'ada' });
    expect(github.mergeable(repository, held)).toBe('blocked');
    await holdfast({ ...to, ...importing }, 'db', 'import', file);
    await start(to);
  }

  /** Both pull requests are blocked until the end and let go then. */
  async function holdsUntil(end: number, held: number): Promise<void> {
    const restarted = Date.now();
    await github.waitForStatus(repository, held + 1, 'pending', { timeoutMs: 60 * second });
    const freed: number[] = [];
    const stopWatching = github.onStatus(({ state }) => {
      if (state === 'success') freed.push(Date.now());
    });
    for (const number of [held, held + 1])
      await github.waitForStatus(repository, number, 'success', {
        timeoutMs: Math.max(0, end - Date.now()) + 120 * second,
      });
    stopWatching();
    const { headSha } = github.pullRequests(repository).find(({ number }) => number === held)!;
    const states = github.statusHistory(repository, headSha, 'holdfast/freeze').map(({ state }) => state);
    // Held without a gap: one change each way, after the status of an open pull request.
    expect(states).toEqual(['success', 'pending', 'success']);
    expect(Math.min(...freed)).toBeGreaterThanOrEqual(end);
    expect(Math.max(...freed)).toBeLessThan(Math.max(end, restarted) + 15 * second);
    console.log(`started again ${(end - restarted) / second} s before the end`);
  }

  test('the freeze holds throughout, and ends on time, there and back', async () => {
    const token = await setUp();
    const SECRET_KEY = randomBytes(32).toString('hex');
    github.openPullRequest(repository, { author: 'ada' });
    await github.waitForStatus(repository, 1, 'success', { timeoutMs: 60 * second });
    const key = (await call(token, 'POST', '/v1/applications/acme', { name: 'tool', scope: 'admin' })).body
      .secret;
    const first = await freeze(key);
    await github.waitForStatus(repository, 1, 'pending', { timeoutMs: 60 * second });
    const refused = await holdfast({}, 'db', 'export', join(folder, 'early')).catch((error) => error);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('Stop Holdfast first. The embedded database in');

    const postgres = { DATABASE_URL: await makeDatabase('there'), SECRET_KEY };
    // The embedded database had a key of its own.
    const SECRET_KEY_PREVIOUS = (await readFile(join(folder, 'data', 'secret-key'), 'utf8')).trim();
    await move({}, postgres, { SECRET_KEY_PREVIOUS }, 1);
    expect(JSON.stringify((await call(key, 'GET', freezes)).body)).toContain(first.id);
    await holdsUntil(first.end, 1);

    github.openPullRequest(repository, { author: 'ada' });
    await github.waitForStatus(repository, 3, 'success', { timeoutMs: 60 * second });
    const last = await freeze(key);
    await github.waitForStatus(repository, 3, 'pending', { timeoutMs: 60 * second });
    const back = { DATA_DIR: join(folder, 'back'), SECRET_KEY };
    await move(postgres, back, {}, 3);
    await holdsUntil(last.end, 3);
    const { body } = await call(key, 'GET', `/v1/repos/${repository}/logs`);
    expect(JSON.stringify(body)).toContain(first.id);
    expect(JSON.stringify(body)).toContain(last.id);
    github.assertNoUnknownRoutes();
  }, 1_200_000);
});
