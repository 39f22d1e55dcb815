import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { BlockList } from 'node:net';
import { serve } from '@hono/node-server';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createApi } from '../src/http.ts';
import type { JobQueue } from '../src/queue/queue.ts';
import { type Acme, startAcme } from './support/acme.ts';
import { Visitor } from './support/visitor.ts';

const inAll = 30;
const perAddress = 15;
let acme: Acme;
let ada: string;
beforeAll(async () => {
  const trustedProxies = new BlockList();
  trustedProxies.addAddress('127.0.0.1');
  acme = await startAcme({ strangerQuestionsPerMinute: inAll, callerQuestionsPerMinute: 60, trustedProxies });
  ada = acme.github.addToken('ada');
  await acme.repository('web', [{}, {}]);
});
afterAll(() => acme.close());
// Each test has its own minute.
beforeEach(() => acme.advanceTo(new Date(Math.ceil((acme.clock.now() + 1) / 60_000) * 60_000)));

const from = (address: string) => ({ 'X-Forwarded-For': address });
const unknownToken = () => `ghp_${randomUUID().replaceAll('-', '')}`;
const list = (repository: string, as: string, address = '198.51.100.1') =>
  acme.call('GET', `/v1/repos/${repository}/scheduled_freeze`, { as, headers: from(address) });
const addressOf = (n: number) => `203.0.${n >> 8}.${n & 255}`;
/** Requests to GitHub while something is done. */
async function asked(run: () => Promise<unknown>): Promise<string[]> {
  const before = acme.github.requests.length;
  await run();
  return acme.github.requests.slice(before).map(({ method, path }) => `${method} ${path}`);
}
const statusesOf = async (answers: Promise<{ status: number }>[]) => {
  const counts: Record<number, number> = {};
  for (const { status } of await Promise.all(answers)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

test('one address causes a limited number of questions about unknown tokens, and learns when to try again', async () => {
  let seen: Record<number, number> = {};
  const questions = await asked(async () => {
    seen = await statusesOf(Array.from({ length: 25 }, () => list('acme/web', unknownToken())));
  });
  expect(seen).toEqual({ 403: perAddress, 429: 25 - perAddress });
  expect(questions).toEqual(Array(perAddress).fill('GET /user'));
  const refused = await list('acme/web', unknownToken());
  expect(refused.status).toBe(429);
  expect(refused.body.detail).toMatch(/Try again in \d+ s, or use an application key/);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await list('acme/web', unknownToken(), '198.51.100.2')).status).toBe(403);
  await acme.advanceTo(new Date(acme.clock.now() + 60_000));
  expect((await list('acme/web', unknownToken())).status).toBe(403);
});

test('many addresses together cause a limited number of questions, on all replicas', async () => {
  const queue = { isReady: async () => true } as unknown as JobQueue;
  const server = serve({ fetch: createApi(acme.app.deps, queue).fetch, port: 0, hostname: '127.0.0.1' });
  await once(server, 'listening');
  const replica = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const questions = await asked(async () => {
    for (let n = 0; n < 40; n++) {
      await list('acme/web', unknownToken(), addressOf(n));
      const headers = { ...from(addressOf(100 + n)), Authorization: `Bearer ${unknownToken()}` };
      const { status } = await fetch(`${replica}/v1/repos/acme/web/scheduled_freeze`, { headers });
      expect([403, 429]).toContain(status);
    }
  });
  expect(questions).toHaveLength(inAll);
  server.close();
});

test('a thousand addresses leave a bounded number of rows, and no credential that can be read or used', async () => {
  expect((await list('acme/web', ada)).status).toBe(200);
  for (let n = 0; n < 100; n++) await list('acme/web', unknownToken(), addressOf(n * 97));
  const { db } = acme.app.deps;
  const names = (await db.minuteCount.findMany()).map(({ name }) => name);
  for (const name of names)
    expect(name).toMatch(
      /^(caller \d{1,4}|strangers (all|address \d{1,4})|reader reader \d{1,4}|looks \d+)$/,
    );
  const known = (await db.knownCredential.findMany()).map(({ hash }) => hash);
  expect(known).toHaveLength(1);
  expect(known[0]).toMatch(/^[0-9a-f]{64}$/);
  expect(known[0]).not.toBe(createHash('sha256').update(ada).digest('hex'));
  expect((await list('acme/web', `ghp_${known[0]}`)).status).toBe(429);
});

test('the same question under way is asked once', async () => {
  const token = unknownToken();
  // No answer comes before all have asked.
  const late = acme.github.faults.add({ kind: 'delay', ms: 1_000 });
  const ofToken = await asked(() => Promise.all(Array.from({ length: 10 }, () => list('acme/web', token))));
  expect(ofToken).toEqual(['GET /user']);
  const ofName = await asked(() =>
    Promise.all(Array.from({ length: 10 }, () => list('acme/nowhere', acme.admin))),
  );
  expect(ofName).toEqual(['GET /repos/acme/nowhere/installation']);
  late.remove();
});

test('a freeze begins during a flood of strangers: statuses are written, and known callers go on', async () => {
  expect((await list('acme/web', ada)).status).toBe(200);
  const begins = new Date(acme.clock.now() + 120_000);
  await acme.freeze('acme/web', { start: begins.toISOString().slice(0, 19) });
  await acme.advanceTo(new Date(begins.getTime() - 1000));
  const own = acme.github.addToken('bob');
  let run = true;
  const hammer = async (kind: number) => {
    for (let n = 0; run; n++) {
      const address = addressOf(kind * 1000 + n);
      if (kind === 0) await list('acme/web', unknownToken(), address);
      if (kind === 1) await list(`acme/guess-${n}`, own, address);
      if (kind === 2)
        await fetch(`${acme.app.url}/repos/acme/web/pulls/${n + 3}`, { headers: from(address) });
    }
  };
  const before = acme.github.requests.length;
  const hammers = [0, 1, 2].map(hammer);
  await vi.waitFor(async () => expect((await list('acme/web', unknownToken())).status).toBe(429), 20_000);
  const written = acme.postsInAll();
  await acme.clock.setTime(begins);
  await acme.clock.tick(0);
  await vi.waitFor(() => expect(acme.frozen('acme/web')).toEqual([1, 2]), 30_000);
  expect(acme.postsInAll() - written).toBe(2);
  // The answer about this token is older than a minute: GitHub is asked, and not for strangers.
  expect((await list('acme/web', ada, addressOf(5))).status).toBe(200);
  expect((await list('acme/unheard-of', acme.admin, addressOf(6))).status).toBe(404);
  run = false;
  await Promise.all(hammers);
  await acme.quiet();
  // In two minutes: the strangers', and what the service and those who are known ask for themselves.
  const strangers = acme.github.requests.slice(before).filter(({ path }) => /^\/user$|guess-/.test(path));
  expect(strangers.length).toBeLessThanOrEqual(2 * inAll + 2);
  expect(acme.app.deps.github.budgetLeft(1n, acme.clock.now())).toBe(1);
  const paused = await acme.app.deps.db.installation.count({ where: { pausedUntil: { not: null } } });
  expect(paused).toBe(0);
});

test('an accepted credential stays known for a day, and is a stranger’s afterwards', async () => {
  expect((await list('acme/web', ada)).status).toBe(200);
  const useUp = async () => {
    for (let n = 0; n < inAll; n++) await list('acme/web', unknownToken(), addressOf(n));
  };
  await acme.clock.setTime(new Date(acme.clock.now() + 23 * 3_600_000));
  await useUp();
  const fresh = acme.github.addToken('ada');
  expect((await list('acme/web', ada)).status).toBe(200);
  if (fresh !== ada) expect((await list('acme/web', fresh)).status).toBe(429);
  await acme.clock.setTime(new Date(acme.clock.now() + 25 * 3_600_000));
  await useUp();
  expect((await list('acme/web', ada)).status).toBe(429);
});

test('a sign-in works once: a copy of its cookie does not bring another session', async () => {
  const visitor = new Visitor(acme);
  const thief = new Visitor(acme);
  const begun = await visitor.open('/auth/sign-in');
  for (const [name, value] of visitor.cookies) thief.cookies.set(name, value);
  const state = new URL(begun.location).searchParams.get('state')!;
  const first = await visitor.open(await visitor.authorize(begun.location, 'ada'));
  expect(first.status).toBe(303);
  // A fresh code for the same attempt, as who stole the cookie could get.
  const questions = await asked(async () => {
    const again = await thief.open(await thief.authorize(begun.location, 'bob'));
    expect([again.status, again.text]).toEqual([400, expect.stringContaining('is already complete')]);
  });
  expect(questions.filter((each) => each === 'GET /user')).toEqual([]);
  expect(JSON.stringify(await acme.app.deps.db.usedSignIn.findMany())).not.toContain(state);
});

test('a writer makes Holdfast ask 60 questions a minute and no more, and a freeze that begins then holds', async () => {
  acme.github.addUser('wes');
  const repository = await acme.repository('hammered', [{}], { roles: { wes: 'write' } });
  const wes = acme.github.addToken('wes');
  const statuses: number[] = [];
  const questions = await asked(async () => {
    for (let number = 1; number <= 90; number++) {
      const path = `/v1/repos/${repository}/pulls/${number}/exemptions`;
      statuses.push((await acme.call('POST', path, { as: wes, body: {} })).status);
    }
  });
  expect(statuses.slice(0, 50)).toEqual(Array(50).fill(422));
  expect(statuses.slice(60)).toEqual(Array(30).fill(429));
  // The first one also finds out whose token it is.
  expect(questions.length).toBeLessThanOrEqual(61);
  // Others have their own limit.
  expect((await list(repository, acme.admin)).status).toBe(200);
  await acme.freeze(repository);
  expect(acme.frozen(repository)).toEqual([1]);
});

test('people stop asking where a quarter of the hour is left; a freeze with a key is taken, and holds', async () => {
  const { core } = acme.github.rateLimits;
  const repository = await acme.repository('scarce', [{}]);
  acme.github.rateLimits.core = 100;
  const ask = () =>
    acme.call('POST', `/v1/repos/${repository}/pulls/1/exemptions`, { as: ada, body: { reason: 'x' } });
  let answer = await ask();
  for (let tries = 0; answer.status !== 503 && tries < 100; tries++) {
    await acme.advanceTo(new Date(acme.clock.now() + 60_000));
    answer = await ask();
  }
  expect(answer.status).toBe(503);
  expect(answer.body.detail).toContain('reserves the rest of this hour');
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  const questions = await asked(async () => void (await ask()));
  expect(questions.filter((each) => !each.includes('/user'))).toEqual([]);
  await acme.freeze(repository);
  expect(acme.frozen(repository)).toEqual([1]);
  acme.github.rateLimits.core = core;
});
