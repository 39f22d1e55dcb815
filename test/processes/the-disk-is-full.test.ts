// The service as a process of its own, with the embedded database on a disk that is full.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';
import { environmentFor, type ServiceProcess, startProcess } from '../support/process.ts';
import { makeDisk, type SmallDisk, whyNoDisk } from '../support/small-disk.ts';

const whyNot = whyNoDisk();
const web = 'acme/web';
/** Milliseconds after the end of what is wrong. */
const overIn = 75_000;

let github: Sandbox;
let admin: string;
let disk: SmallDisk;
let service: ServiceProcess;

const start = (dataDir: string) => startProcess({ ...environmentFor(github), DATA_DIR: dataDir }, disk.path);

async function ask(method: string, path: string, body?: object) {
  const response = await fetch(`${await service.listening}${path}`, {
    method,
    headers: { Authorization: `Bearer ${admin}`, 'Content-Type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    body: text ? JSON.parse(text) : null,
  };
}
const create = () =>
  ask('POST', `/v1/repos/${web}/scheduled_freeze`, {
    // What is small finds its place in pages that are there.
    reason: Array.from({ length: 9000 }, () => String.fromCharCode(97 + Math.random() * 26)).join(''),
    start: '2999-01-01T00:00:00',
    timezone: 'UTC',
  });
const ready = () => ask('GET', '/readyz');

beforeAll(async () => {
  if (whyNot) return;
  github = await startSandbox();
  admin = github.addUser('ada').token;
  github.addOrganization('acme', { admins: ['ada'] });
  github.addRepository(web, { protect: { main: ['holdfast/freeze'] } });
  github.openPullRequest(web, { author: 'ada' });
  disk = makeDisk(150)!;
  service = start(join(disk.path, 'data'));
  github.deliverTo(`${await service.listening}/api/github/webhooks`);
  github.install('acme');
  await github.waitForStatus(web, 1, 'success', { timeoutMs: 60_000 });
});
afterAll(async () => {
  if (whyNot) return;
  service.child.kill('SIGKILL');
  await service.ended;
  await github.close();
  disk.remove();
});

test('callers get 503, and /readyz and the log say why; it is over by itself', async ({ skip }) => {
  if (whyNot) skip(whyNot);
  expect((await ready()).status).toBe(200);
  disk.fill();
  const answers = [];
  for (let tries = 0; tries < 40; tries++) answers.push(await create());
  const refused = answers.filter(({ status }) => status !== 201);
  expect(refused.length).toBeGreaterThan(0);
  for (const { status, retryAfter, body } of refused) {
    expect([status, retryAfter]).toEqual([503, '5']);
    expect(body.detail).toBe(
      'The database cannot save anything. Nothing was changed. Try again in a moment.',
    );
  }
  expect((await ask('GET', '/healthz')).status).toBe(200);
  expect(await ready()).toMatchObject({
    status: 503,
    body: { status: 'not ready', reasons: [expect.stringContaining('disk of the database is full')] },
  });
  const lines = service.output().split('\n');
  const saidAt = lines
    .filter((line) => line.includes('"database":"full"'))
    .map((line) => Number((JSON.parse(line) as { time: number }).time));
  expect(saidAt.length).toBeGreaterThan(0);
  // At most once a minute, however long the tries took.
  for (const [index, time] of saidAt.slice(1).entries())
    expect(time - saidAt[index]!).toBeGreaterThanOrEqual(60_000);
  expect(lines.filter((line) => /"level":[45]0/.test(line) && !line.includes('"database"'))).toEqual([]);

  disk.free();
  const freed = performance.now();
  while ((await ready()).status !== 200) {
    expect(performance.now() - freed).toBeLessThan(overIn);
    await delay(1000);
  }
  expect((await create()).status).toBe(201);
});

test('a start on the full disk says so, and the next one finds everything', async ({ skip }) => {
  if (whyNot) skip(whyNot);
  service.child.kill('SIGTERM');
  expect(await service.ended).toBe(0);
  disk.fill();
  const failed = start(join(disk.path, 'data'));
  expect(await failed.ended).toBe(1);
  expect(failed.output()).toMatch(/^.*the disk of DATA_DIR .* is full: make room on it.*\n$/);
  disk.free();
  service = start(join(disk.path, 'data'));
  const { body } = await ask('GET', `/v1/repos/${web}/scheduled_freeze`);
  expect(body.scheduled_freezes.length).toBeGreaterThan(0);
});

test('a first start on a disk that is too small says so', async ({ skip }) => {
  if (whyNot) skip(whyNot);
  const small = makeDisk(20)!;
  const failed = start(join(small.path, 'data'));
  expect(await failed.ended).toBe(1);
  expect(failed.output()).toMatch(/^.*the disk of DATA_DIR .* is full: make room on it.*\n$/);
  small.remove();
});
