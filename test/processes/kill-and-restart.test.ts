import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';
import { environmentFor, type ServiceProcess, startProcess } from '../support/process.ts';

// The real process on the real clock, with the embedded database. The tests build on each other.

const web = 'acme/web';
/** Milliseconds, also on a busy machine: by an alarm, and not by the sweep, which comes each minute. */
const inTime = 20_000;
let github: Sandbox;
let folder: string;
let admin: string;
let service: ServiceProcess;
const started: ServiceProcess[] = [];

const environment = () => ({ ...environmentFor(github), DATA_DIR: join(folder, 'data') });

function start(more: Record<string, string> = {}): ServiceProcess {
  const one = startProcess({ ...environment(), ...more }, folder);
  started.push(one);
  return one;
}

/** Seconds that the slowest start took: a measure of the machine. */
let slowestStart = 0;

async function startAndListen(): Promise<void> {
  const began = performance.now();
  service = start();
  github.deliverTo(`${await service.listening}/api/github/webhooks`);
  slowestStart = Math.max(slowestStart, (performance.now() - began) / 1000);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-kill-'));
  github = await startSandbox();
  admin = github.addUser('ada').token;
  github.addOrganization('acme', { admins: ['ada'] });
  github.addRepository(web, { protect: { main: ['holdfast/freeze'] } });
  for (const labels of [['risky'], [], ['risky', 'docs'], ['docs']])
    github.openPullRequest(web, { author: 'ada', labels });
  await startAndListen();
});
afterAll(async () => {
  for (const { child } of started) child.kill('SIGKILL');
  await Promise.all(started.map(({ ended }) => ended));
  await github.close();
  await rm(folder, { recursive: true, force: true });
  github.assertNoUnknownRoutes();
});

const states = () => [1, 2, 3, 4].map((number) => github.currentStatus(web, number)?.state);
const posts = () => github.pullRequests(web).map(({ headSha }) => github.statusHistory(web, headSha).length);
const everywhere = (state: 'success' | 'pending', numbers = [1, 2, 3, 4]) =>
  Promise.all(numbers.map((number) => github.waitForStatus(web, number, state, { timeoutMs: 120_000 })));

async function freeze(body: object): Promise<number> {
  const response = await fetch(`${await service.listening}/v1/repos/${web}/scheduled_freeze`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${admin}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ reason: 'Release', timezone: 'UTC', ...body }),
  });
  return response.status;
}
const inSeconds = (seconds: number) => new Date(Math.ceil(Date.now() / 1000 + seconds) * 1000);
const wallClock = (instant: Date) => instant.toISOString().slice(0, 19);

/** How long after an instant the last of these states was reached. */
async function latency(state: 'success' | 'pending', numbers: number[], since: Date): Promise<number> {
  await everywhere(state, numbers);
  return Date.now() - since.getTime();
}

test('kill -9 during a freeze: it still ends by the clock, and nothing is posted twice', async () => {
  github.install('acme');
  await everywhere('success');
  const end = inSeconds(15 + 2 * slowestStart);
  const asked = new Date();
  const status = await freeze({ start: null, end: wallClock(end), matching_conditions: ['label=risky'] });
  expect(status).toBe(201);
  const held = await latency('pending', [1, 3], asked);
  expect(states()).toEqual(['pending', 'success', 'pending', 'success']);
  expect(github.mergeable(web, 1)).toBe('blocked');

  service.child.kill('SIGKILL');
  expect(await service.ended).toBe('SIGKILL');
  await startAndListen();
  const restarted = Date.now();
  const released = await latency('success', [1, 3], new Date(Math.max(end.getTime(), restarted)));
  const late = restarted > end.getTime() ? ' (the restart itself took past the end)' : '';
  console.log(`held ${held} ms after the request, released ${released} ms after the end${late}`);
  expect(held).toBeLessThan(inTime);
  expect(released).toBeLessThan(inTime);
  for (const number of [1, 3])
    expect(github.currentStatus(web, number)!.createdAt.getTime()).toBeGreaterThanOrEqual(end.getTime());

  expect(posts()).toEqual([3, 1, 3, 1]);
  expect([1, 2, 3, 4].map((number) => github.mergeable(web, number))).toEqual(Array(4).fill('clean'));
});

test('a freeze begins and ends at its time', async () => {
  const start = inSeconds(3 + slowestStart / 2);
  const end = inSeconds(15 + 1.5 * slowestStart);
  expect(await freeze({ start: wallClock(start), end: wallClock(end) })).toBe(201);
  const begun = await latency('pending', [1, 2, 3, 4], start);
  const ended = await latency('success', [1, 2, 3, 4], end);
  console.log(`a freeze of 4 pull requests began ${begun} ms and ended ${ended} ms after its time`);
  expect(begun).toBeGreaterThanOrEqual(0);
  expect(ended).toBeGreaterThanOrEqual(0);
  expect(Math.max(begun, ended)).toBeLessThan(inTime);
});

test('a second process on the same folder is refused, and sees the pid of the first', async () => {
  const second = start();
  expect(await second.ended).toBe(1);
  expect(second.output()).toContain(`is open in process ${service.child.pid}`);
  expect(second.output()).not.toContain('    at ');
});

test('SIGTERM ends it in time, nothing was posted twice, and no secret was printed', async () => {
  const asked = Date.now();
  service.child.kill('SIGTERM');
  expect(await service.ended).toBe(0);
  expect(Date.now() - asked).toBeLessThan(10_000);
  expect(posts()).toEqual([5, 3, 5, 3]);
  const all = started.map(({ output }) => output()).join('');
  for (const secret of [admin, github.app.webhookSecret, 'PRIVATE KEY', 'ghs_', 'eyJ'])
    expect(all).not.toContain(secret);
});

test('every problem of the configuration is named at once', async () => {
  const none = startProcess({ PORT: 'http', ROLE: 'boss', GITHUB_API_URL: 'github', APP_ID: '1' }, folder);
  expect(await none.ended).toBe(1);
  for (const name of ['PORT', 'ROLE', 'GITHUB_API_URL', 'PRIVATE_KEY', 'WEBHOOK_SECRET'])
    expect(none.output()).toMatch(new RegExp(`^  - ${name} .+`, 'm'));
  expect(none.output()).not.toContain('    at ');
  const blank = start({ WEBHOOK_SECRET: '  ' });
  expect(await blank.ended).toBe(1);
  expect(blank.output().match(/^ {2}- /gm)).toHaveLength(1);
  expect(blank.output()).toContain('WEBHOOK_SECRET is missing');
});
