import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';
import { administer, databaseUrl } from '../support/postgres.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';

// Two web and two worker processes on one PostgreSQL, on the real clock. The tests build on each other.

const server = inject('postgresUrl');
const web = 'acme/web';
const context = 'holdfast/freeze';
const many = 30;

type Name = 'web-1' | 'web-2' | 'worker-1' | 'worker-2';

describe.skipIf(!server)('two web and two worker processes on one PostgreSQL', () => {
  const database = `holdfast_replicas_${randomBytes(6).toString('hex')}`;
  const processes = new Map<Name, ServiceProcess>();
  let github: Sandbox;
  let folder: string;
  let admin: string;
  let posts: { sha: string; state: string; at: number }[] = [];
  /** Milliseconds that the first statuses took, with the start of the processes: a measure of the machine. */
  let first: number;

  const start = (name: Name) => {
    const one = startProcess(
      {
        PORT: '0',
        HOST: '127.0.0.1',
        ROLE: name.replace(/-\d$/, ''),
        DATABASE_URL: databaseUrl(server, database),
        APP_ID: String(github.app.id),
        PRIVATE_KEY: github.app.privateKey,
        WEBHOOK_SECRET: github.app.webhookSecret,
        GITHUB_API_URL: github.url,
        // A burst of 75, then 3.75 a second.
        STATUS_WRITES_PER_MINUTE: '300-300',
      },
      folder,
    );
    processes.set(name, one);
    return one.listening;
  };
  const urlOf = async (name: Name) => processes.get(name)!.listening;
  const call = async (name: Name, method: string, path: string, body?: unknown, key = admin) => {
    const response = await fetch(`${await urlOf(name)}${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, body: text ? JSON.parse(text) : null };
  };
  const freeze = async (name: Name, more: object) => {
    const body = { reason: 'Release', start: null, timezone: 'UTC', ...more };
    const answer = await call(name, 'POST', `/v1/repos/${web}/scheduled_freeze`, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body.id as string;
  };
  const states = () => github.pullRequests(web).map(({ number }) => github.currentStatus(web, number)?.state);
  const all = async (state: string) => {
    const deadline = Date.now() + 240_000;
    while (!states().every((each) => each === state)) {
      if (Date.now() > deadline) expect(states()).toEqual(Array(states().length).fill(state));
      await delay(50);
    }
  };
  const kill = async (name: Name) => {
    processes.get(name)!.child.kill('SIGKILL');
    await processes.get(name)!.ended;
  };
  /** How many statuses were posted on each head since the last time. */
  const postsOfEach = () => [...Map.groupBy(posts, ({ sha }) => sha).values()].map((of) => of.length);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-replicas-'));
    await administer(server, `CREATE DATABASE ${database}`);
    github = await startSandbox();
    admin = github.addUser('ada').token;
    github.addOrganization('acme', { admins: ['ada'] });
    github.addRepository(web, { protect: { main: [context] } });
    for (let count = 0; count < many; count++) github.openPullRequest(web, { author: 'ada' });
    const began = performance.now();
    await Promise.all((['web-1', 'web-2', 'worker-1', 'worker-2'] as const).map(start));
    github.deliverTo(`${await urlOf('web-1')}/api/github/webhooks`);
    github.onStatus(({ sha, state }) => void posts.push({ sha, state, at: Date.now() }));
    github.install('acme');
    await all('success');
    first = performance.now() - began;
  });
  afterAll(async () => {
    for (const { child } of processes.values()) child.kill('SIGKILL');
    await Promise.all([...processes.values()].map(({ ended }) => ended));
    await github.close();
    await administer(server, `DROP DATABASE ${database} WITH (FORCE)`);
    await rm(folder, { recursive: true, force: true });
    github.assertNoUnknownRoutes();
  });

  test('a start and an end that all of them see are enforced once', async () => {
    await delay(15_000);
    posts = [];
    const inMilliseconds = (more: number) => new Date(Math.ceil((Date.now() + more) / 1000) * 1000);
    const [start, end] = [inMilliseconds(3_000 + first / 4), inMilliseconds(28_000 + first)];
    const wall = (instant: Date) => instant.toISOString().slice(0, 19);
    await freeze('web-2', { start: wall(start), end: wall(end) });
    await all('pending');
    expect(postsOfEach()).toEqual(Array(many).fill(1));
    await all('success');
    expect(postsOfEach()).toEqual(Array(many).fill(2));
    expect(Math.min(...posts.map(({ at }) => at))).toBeGreaterThanOrEqual(start.getTime());
  });

  test('a revoked key is refused by both at once', async () => {
    const made = await call('web-1', 'POST', '/v1/applications/acme', { name: 'tool', scope: 'admin' });
    const { id, secret } = made.body;
    const path = `/v1/repos/${web}/scheduled_freeze`;
    expect((await call('web-2', 'GET', path, undefined, secret)).status).toBe(200);
    expect((await call('web-1', 'DELETE', `/v1/applications/acme/${id}`)).status).toBe(204);
    for (const name of ['web-1', 'web-2'] as const)
      expect((await call(name, 'GET', path, undefined, secret)).status).toBe(403);
  });

  test('each is killed in turn under load, and nothing is lost or written twice', async () => {
    await delay(15_000);
    posts = [];
    for (const name of ['worker-1', 'worker-2', 'web-1', 'web-2'] as const) {
      const other: Name = name === 'web-1' ? 'web-2' : 'web-1';
      github.deliverTo(`${await urlOf(other)}/api/github/webhooks`);
      const id = await freeze(other, {});
      await delay(300);
      await kill(name);
      await all('pending');
      const body = { delete_reason: 'Done' };
      const path = `/v1/repos/${web}/scheduled_freeze/${id}/delete`;
      expect((await call(other, 'POST', path, body)).status).toBe(204);
      await start(name);
      await all('success');
    }
    // One change each way for each of four freezes; a write under way at a kill may be repeated.
    const counts = postsOfEach();
    expect(counts.filter((count) => count < 8)).toEqual([]);
    expect(counts.reduce((sum, count) => sum + count - 8, 0)).toBeLessThanOrEqual(4);
    // The pace is one for all, and a new process begins without a burst of its own.
    for (const { at } of posts) {
      const within = posts.filter((post) => post.at >= at && post.at < at + 60_000).length;
      expect(within).toBeLessThanOrEqual(300);
    }
  }, 1_200_000);

  test('SIGTERM while GitHub hangs ends a process, and another goes on at once', async () => {
    const hang = github.faults.add({
      kind: 'delay',
      ms: 90_000,
      times: 1,
      match: { method: 'POST', path: /\/statuses\// },
    });
    posts = [];
    const id = await freeze('web-1', {});
    await delay(1000);
    const asked = Date.now();
    await Promise.all(
      (['worker-1', 'worker-2'] as const).map(async (name) => {
        processes.get(name)!.child.kill('SIGTERM');
        expect(await processes.get(name)!.ended).toBe(0);
      }),
    );
    // 10 s, and what a machine can stand still; the hang is longer.
    expect(Date.now() - asked).toBeLessThan(30_000);
    hang.remove();
    await start('worker-1');
    const restarted = Date.now();
    await all('pending');
    // No lease of a stopped process has to run out, which takes 40 s: only the pace is waited for.
    expect(
      Math.min(...posts.filter(({ at }) => at > restarted).map(({ at }) => at)) - restarted,
    ).toBeLessThan(30_000);
    await call('web-1', 'POST', `/v1/repos/${web}/scheduled_freeze/${id}/delete`, { delete_reason: 'Done' });
    await all('success');
    await start('worker-2');
  });
});
