import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { BlockList } from 'node:net';
import { serve } from '@hono/node-server';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createApi } from '../../src/server/service.ts';
import type { JobQueue } from '../../src/database/queue/queue.ts';
import { identitiesPerMinute, namesPerMinute } from '../../src/github/limits/caller-limits.ts';
import { type Acme, startAcme } from '../support/acme.ts';
import { useUpIdentities } from '../support/used-up.ts';
import { Visitor } from '../support/visitor.ts';
import { amount } from '../support/amounts.ts';

let acme: Acme;
let ada: string;
beforeAll(async () => {
  const trustedProxies = new BlockList();
  trustedProxies.addAddress('127.0.0.1');
  acme = await startAcme({ strangerQuestionsPerMinute: 30, callerQuestionsPerMinute: 60, trustedProxies });
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
  const { address } = identitiesPerMinute;
  let seen: Record<number, number> = {};
  const questions = await asked(async () => {
    seen = await statusesOf(Array.from({ length: address + 40 }, () => list('acme/web', unknownToken())));
  });
  expect(seen).toEqual({ 403: address, 429: 40 });
  expect(questions).toEqual(Array(address).fill('GET /user'));
  const refused = await list('acme/web', unknownToken());
  expect(refused.status).toBe(429);
  expect(refused.body.detail).toMatch(/Try again in \d+ s, or use an application key/);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await list('acme/web', unknownToken(), '198.51.100.2')).status).toBe(403);
  await acme.advanceTo(new Date(acme.clock.now() + 60_000));
  expect((await list('acme/web', unknownToken())).status).toBe(403);
});

test('forty admins behind one address go on beside a stranger with invented tokens', async () => {
  const admins = Array.from({ length: 40 }, (_, n) => `admin-${n}`);
  const roles = Object.fromEntries(admins.map((login) => [login, 'admin' as const]));
  for (const login of admins) acme.github.addUser(login);
  const office = await acme.repository('office', [], { roles });
  const answers = await Promise.all([
    ...Array.from({ length: 50 }, () => list(office, unknownToken())),
    ...admins.map((login) => list(office, acme.github.addToken(login))),
  ]);
  expect(answers.slice(50).map(({ status }) => status)).toEqual(Array(40).fill(200));
});

test('hundreds of colleagues sign in within a minute, behind one address', async () => {
  const people = Array.from({ length: amount(200) }, (_, n) => `colleague-${n}`);
  const statuses = await Promise.all(
    people.map(async (login) => {
      acme.github.addUser(login);
      const visitor = new Visitor(acme);
      const begun = await visitor.open('/auth/sign-in');
      return (await visitor.open(await visitor.authorize(begun.location, login))).status;
    }),
  );
  expect(statuses).toEqual(people.map(() => 303));
});

test('somebody who has many addresses keeps no token out that was accepted before', async () => {
  expect((await list('acme/web', ada)).status).toBe(200);
  await acme.advanceTo(new Date(acme.clock.now() + 120_000));
  await useUpIdentities(acme);
  expect((await list('acme/web', unknownToken(), addressOf(1))).status).toBe(429);
  expect((await list('acme/web', ada, addressOf(2))).status).toBe(200);
});

test('on all replicas together, one address causes as many questions', async () => {
  const queue = { isReady: async () => true } as unknown as JobQueue;
  const server = serve({ fetch: createApi(acme.app.deps, queue).fetch, port: 0, hostname: '127.0.0.1' });
  await once(server, 'listening');
  const replica = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const questions = await asked(async () => {
    for (let n = 0; n < identitiesPerMinute.address; n++) {
      await list('acme/web', unknownToken());
      const headers = { ...from('198.51.100.1'), Authorization: `Bearer ${unknownToken()}` };
      const { status } = await fetch(`${replica}/v1/repos/acme/web/scheduled_freeze`, { headers });
      expect([403, 429]).toContain(status);
    }
  });
  expect(questions).toHaveLength(identitiesPerMinute.address);
  server.close();
});

test('names that are not there: a person and a key ask for ten a minute, and the App is never asked about them', async () => {
  const bob = acme.github.addToken('bob');
  const ci = await acme.key('acme', 'ci');
  const push = (name: string) =>
    acme.call('PUT', `/v1/repos/acme/${name}/pulls/1/scopes`, { as: ci, body: { scopes: [] } });
  let statuses: number[][] = [];
  const questions = await asked(async () => {
    for (let n = 0; n < 40; n++) {
      const answers = [await list(`acme/person-${n}`, bob), await list(`acme/admin-${n}`, acme.admin)];
      statuses.push([...answers, await push(`ci-${n}`)].map(({ status }) => status));
    }
  });
  expect(statuses.slice(0, 10)).toEqual(Array(10).fill([404, 404, 404]));
  expect(statuses.slice(10)).toEqual(Array(30).fill([429, 429, 429]));
  expect(questions.filter((each) => each.includes('/installation'))).toEqual([]);
  // The answer to all of them is remembered: the same names cost nothing in the next minute.
  await acme.advanceTo(new Date(acme.clock.now() + 60_000));
  statuses = [];
  const again = await asked(async () => {
    for (let n = 0; n < 10; n++) statuses.push([(await push(`ci-${n}`)).status]);
  });
  expect([statuses.flat(), again]).toEqual([Array(10).fill(404), []]);
  // For ten minutes from GitHub's answer on, not from when somebody last asked.
  await acme.clock.setTime(new Date(acme.clock.now() + 540_000));
  expect(await asked(() => push('ci-0'))).toContain('GET /repos/acme/ci-0');
  // An owner without the App takes a question of the App: ten for each caller, and sixty in all.
  const people = Array.from({ length: 9 }, (_, n) => `asker-${n}`);
  for (const login of people) acme.github.addUser(login);
  await acme.advanceTo(new Date(acme.clock.now() + 60_000));
  const ofApp = await asked(async () => {
    for (const login of people) {
      const token = acme.github.addToken(login);
      for (let n = 0; n < 12; n++) await list(`${login}-owner-${n}/web`, token);
    }
  });
  expect(ofApp.filter((each) => each.includes('/installation'))).toHaveLength(namesPerMinute.all);
});

test('a thousand addresses leave a bounded number of rows, and no credential that can be read or used', async () => {
  expect((await list('acme/web', ada)).status).toBe(200);
  for (let n = 0; n < 100; n++) await list('acme/web', unknownToken(), addressOf(n * 97));
  const { db } = acme.app.deps;
  const names = (await db.minuteCount.findMany()).map(({ name }) => name);
  for (const name of names)
    expect(name).toMatch(
      /^((caller|names|identities|strangers|changes) \d{1,4}|(names|identities|strangers) all|looks \d+)$/,
    );
  const known = (await db.knownCredential.findMany()).map(({ hash }) => hash);
  for (const hash of known) {
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(hash).not.toBe(createHash('sha256').update(ada).digest('hex'));
  }
  await useUpIdentities(acme);
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
  expect(ofName).toEqual(['GET /repos/acme/nowhere']);
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
  await vi.waitFor(async () => expect((await list(`acme/guess-${randomUUID()}`, own)).status).toBe(429));
  const written = acme.postsInAll();
  await acme.clock.setTime(begins);
  await acme.clock.tick(0);
  await vi.waitFor(() => expect(acme.frozen('acme/web')).toEqual([1, 2]));
  expect(acme.postsInAll() - written).toBe(2);
  // The answer about this token is older than a minute: GitHub is asked, and not for strangers.
  expect((await list('acme/web', ada, addressOf(5))).status).toBe(200);
  expect((await list('acme/unheard-of', acme.admin, addressOf(6))).status).toBe(404);
  run = false;
  await Promise.all(hammers);
  await acme.quiet();
  // In two minutes: what the strangers' tokens and names may cost.
  const strangers = acme.github.requests.slice(before).filter(({ path }) => /^\/user$|guess-/.test(path));
  expect(strangers.length).toBeLessThanOrEqual(2 * (identitiesPerMinute.all + namesPerMinute.caller) + 4);
  expect(acme.app.deps.github.budgets.left(1n)).toBe(1);
  const paused = await acme.app.deps.db.installation.count({ where: { pausedUntil: { not: null } } });
  expect(paused).toBe(0);
});

test('an accepted token stays known for 30 days, and is a stranger’s afterwards', async () => {
  const token = acme.github.addToken('ada');
  expect((await list('acme/web', token)).status).toBe(200);
  const day = 24 * 3_600_000;
  await acme.clock.setTime(new Date(acme.clock.now() + 29 * day));
  await useUpIdentities(acme);
  expect((await list('acme/web', token)).status).toBe(200);
  await acme.clock.setTime(new Date(acme.clock.now() + 31 * day));
  await useUpIdentities(acme);
  expect((await list('acme/web', token)).status).toBe(429);
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
  const request = (number: number, body: object) =>
    acme.call('POST', `/v1/repos/${repository}/pulls/${number}/exemptions`, { as: wes, body });
  // A body that is refused whoever sends it costs no question but the first.
  const ofNothing = await asked(async () => {
    for (let number = 1; number <= 90; number++) expect((await request(number, {})).status).toBe(422);
  });
  expect(ofNothing).toHaveLength(2);
  const statuses: number[] = [];
  const questions = await asked(async () => {
    for (let number = 101; number <= 190; number++)
      statuses.push((await request(number, { reason: 'A fix' })).status);
  });
  expect(statuses.slice(0, 29)).toEqual(Array(29).fill(404));
  expect(statuses.slice(30)).toEqual(Array(60).fill(429));
  expect(questions.length).toBeLessThanOrEqual(60);
  // Others have their own limit.
  expect((await list(repository, acme.admin)).status).toBe(200);
  await acme.freeze(repository);
  expect(acme.frozen(repository)).toEqual([1]);
});

test('people stop asking where a quarter of the hour is left; a freeze of an admin is taken, and holds', async () => {
  const { core } = acme.github.rateLimits;
  const repository = await acme.repository('scarce', [{}]);
  const [ada, bob] = [acme.github.addToken('ada'), acme.github.addToken('bob')];
  expect((await list(repository, ada)).status).toBe(200);
  // Little more than a quarter is left.
  const budgets = acme.app.deps.github.budgets.known();
  const used = core * (1 - budgets.find(({ resource }) => resource === 'core')!.share);
  acme.github.rateLimits.core = Math.ceil((used + 20) / 0.75);
  const ask = () =>
    acme.call('POST', `/v1/repos/${repository}/pulls/2/exemptions`, { as: ada, body: { reason: 'x' } });
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
  // What was last known of an admin counts for an hour: to freeze, and for nothing else.
  await acme.advanceTo(new Date(acme.clock.now() + 60_000));
  const freezes = `/v1/repos/${repository}/scheduled_freeze`;
  const body = { reason: 'Incident', start: null, timezone: 'UTC' };
  const made = await acme.call('POST', freezes, { as: ada, body });
  expect(made.status).toBe(201);
  await acme.quiet();
  expect(acme.frozen(repository)).toEqual([1]);
  const thaw = { as: ada, body: { delete_reason: 'Over' } };
  expect((await acme.call('POST', freezes, { as: bob, body })).status).toBe(503);
  // What is reserved is there to end freezes: GitHub is asked now.
  const ended = await asked(async () => {
    expect((await acme.call('POST', `${freezes}/${made.body.id}/delete`, thaw)).status).toBe(204);
  });
  expect(ended).toContainEqual(expect.stringContaining('/collaborators/ada/permission'));
  // Who may end nothing uses up no more than a few questions of it.
  const strangers = Array.from({ length: 15 }, (_, n) => `stranger-${n}`);
  for (const login of strangers) acme.github.addUser(login);
  await acme.advanceTo(new Date(acme.clock.now() + 60_000));
  const ofStrangers = await asked(async () => {
    for (const login of strangers)
      await acme.call('POST', `${freezes}/${made.body.id}/delete`, {
        ...thaw,
        as: acme.github.addToken(login),
      });
  });
  expect(ofStrangers.filter((each) => each.includes('/collaborators/'))).toHaveLength(10);
  // Where nothing is left at all, GitHub is asked at the cost of the token.
  await acme.advanceTo(new Date(acme.clock.now() + 60_000));
  const again = await acme.call('POST', freezes, { as: acme.admin, body });
  expect(again.status).toBe(201);
  const match = ({ tokenKind }: { tokenKind: string }) => tokenKind === 'installation';
  const usedUp = acme.github.faults.add({ kind: 'primary-limit', retryAfter: 600, match });
  expect((await acme.call('POST', `${freezes}/${again.body.id}/delete`, thaw)).status).toBe(204);
  usedUp.remove();
  await acme.clock.setTime(new Date(acme.clock.now() + 3_600_000));
  acme.github.rateLimits.core = core;
});
