import { createHmac, randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { free, acmeForAll } from './support/acme.ts';

const acme = acmeForAll();
beforeAll(async () => {
  for (const statement of [
    'CREATE SEQUENCE jobs_sent',
    `CREATE FUNCTION count_job() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM nextval('jobs_sent'); RETURN NULL; END $$`,
    'CREATE TRIGGER count_job AFTER INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION count_job()',
  ])
    await acme.app.deps.db.$executeRawUnsafe(statement);
});
afterEach(() => acme.github.webhookFaults.clear());

const deliveries = (guid: string) => acme.app.deps.db.webhookDelivery.count({ where: { guid } });
/** How many jobs were ever sent: those that are done are deleted. */
const jobsSent = async (): Promise<number> => {
  const [row] = await acme.app.deps.db.$queryRaw<
    { sent: bigint }[]
  >`SELECT last_value AS sent FROM jobs_sent`;
  return Number(row!.sent);
};

describe('a lost webhook', () => {
  test('delays the truth until the next look at the repository', async () => {
    const { github, quiet, advanceTo } = acme;
    const web = await acme.repository('web', [{ labels: ['risky'] }, {}]);
    await acme.freeze(web, { end: '2026-03-01T10:00:00', matching_conditions: ['label=risky'] });
    github.webhookFaults.add({ kind: 'drop', event: 'pull_request' });
    github.unlabel(web, 1, 'risky');
    github.label(web, 2, 'risky');
    github.openPullRequest(web, { author: 'bob', labels: ['risky'] });
    await quiet();
    expect(github.deliveries.slice(-3).map(({ outcome }) => outcome)).toEqual(Array(3).fill('dropped'));
    expect(acme.shown(web, 3)).toBeNull();
    expect(acme.shown(web, 2)).toEqual(free);
    await acme.freeze(web, { start: '2026-03-03T00:00:00' });
    expect(acme.frozen(web)).toEqual([2, 3]);
    await advanceTo('2026-03-01T10:00:00Z');
    expect(acme.frozen(web)).toEqual([]);
  });

  test('about a repository that became private: its pages close with the next look', async () => {
    const { github, app, quiet } = acme;
    const web = await acme.repository('closing', [{}]);
    const page = () => fetch(`${app.url}/repos/${web}/pulls/1`, { redirect: 'manual' });
    expect((await page()).status).toBe(200);
    github.webhookFaults.add({ kind: 'drop' });
    github.privatize(web);
    await quiet();
    github.webhookFaults.clear();
    expect((await page()).status).toBe(200);
    await acme.freeze(web);
    expect((await page()).status).toBe(302);
  });

  test('of one pull request is made good by any later event of it', async () => {
    const { github, quiet } = acme;
    const api = await acme.repository('api', [{}]);
    await acme.freeze(api, { matching_conditions: ['label=risky'] });
    github.webhookFaults.add({ kind: 'drop', action: 'labeled', times: 1 });
    github.label(api, 1, 'risky');
    await quiet();
    expect(acme.frozen(api)).toEqual([]);
    github.editTitle(api, 1, 'Another');
    await quiet();
    expect(acme.frozen(api)).toEqual([1]);
  });

  test('can be sent again by GitHub', async () => {
    const { github, quiet } = acme;
    const lib = await acme.repository('lib', [{}]);
    await acme.freeze(lib);
    github.webhookFaults.add({ kind: 'drop', action: 'opened', times: 1 });
    github.openPullRequest(lib, { author: 'bob' });
    await quiet();
    expect(acme.shown(lib, 2)).toBeNull();
    const { guid } = github.deliveries.findLast(({ outcome }) => outcome === 'dropped')!;
    expect((await github.redeliver(guid)).statusCode).toBe(202);
    await quiet();
    expect(acme.frozen(lib)).toEqual([1, 2]);
  });
});

test('a repeated delivery is one job; so is one sent again later', async () => {
  const { github, quiet } = acme;
  const site = await acme.repository('site', [{}]);
  await acme.freeze(site);
  const before = await jobsSent();
  github.webhookFaults.add({ kind: 'repeat', action: 'edited', times: 1 });
  github.editTitle(site, 1, 'Another');
  await quiet();
  const twice = github.deliveries.filter(
    ({ action, repositoryId }) => action === 'edited' && repositoryId === github.repository(site).id,
  );
  expect(twice.map(({ statusCode }) => statusCode)).toEqual([202, 202]);
  expect(twice[0]!.guid).toBe(twice[1]!.guid);
  expect(await deliveries(twice[0]!.guid)).toBe(1);
  expect(await jobsSent()).toBe(before + 1);
  await github.redeliver(twice[0]!.guid);
  await quiet();
  expect(await jobsSent()).toBe(before + 1);
});

test('events out of order end in the true state', async () => {
  const { github, quiet } = acme;
  const app = await acme.repository('app', [{}]);
  await acme.freeze(app, { matching_conditions: ['label=risky'] });
  github.webhookFaults.add({ kind: 'reorder', action: 'labeled', times: 1 });
  github.label(app, 1, 'risky');
  github.unlabel(app, 1, 'risky');
  await quiet();
  expect(acme.frozen(app)).toEqual([]);
  github.webhookFaults.add({ kind: 'reorder', action: 'closed', times: 1 });
  github.closePullRequest(app, 1);
  github.reopenPullRequest(app, 1);
  github.label(app, 1, 'risky');
  await quiet();
  expect(acme.frozen(app)).toEqual([1]);
});

test('a delivery that cannot be saved does not count as seen', async () => {
  const { github, quiet } = acme;
  const core = await acme.repository('core', [{}]);
  await acme.freeze(core);
  const { queue } = acme.app.deps;
  const { sendAfter } = queue;
  queue.sendAfter = () => Promise.reject(new Error('the queue is full'));
  github.push(core, 1);
  await github.settled();
  queue.sendAfter = sendAfter;
  const failed = github.deliveries.findLast(({ event }) => event === 'pull_request')!;
  expect(failed.statusCode).toBeGreaterThanOrEqual(500);
  expect(await deliveries(failed.guid)).toBe(0);
  expect(acme.shown(core, 1)).toBeNull();
  await github.redeliver(failed.guid);
  await quiet();
  expect(acme.frozen(core)).toEqual([1]);
});

describe('what anybody can send', () => {
  const sign = (body: string, secret = acme.github.app.webhookSecret) =>
    `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  const deliver = (body: string, headers: Record<string, string> = {}) =>
    acme.call('POST', '/api/github/webhooks', {
      body,
      headers: {
        'X-GitHub-Delivery': randomUUID(),
        'X-GitHub-Event': 'pull_request',
        'X-Hub-Signature-256': sign(body),
        ...headers,
      },
    });
  const secretText = 'gross-payload-that-must-not-be-logged';

  test.each([
    ['another secret', (body: string) => sign(body, 'development')],
    ['another body', () => sign('{}')],
  ])('a wrong signature (%s) is refused before anything is parsed or logged', async (_name, signature) => {
    const before = await jobsSent();
    const body = `{"action":"opened","title":"${secretText}"`;
    const answer = await deliver(body, { 'X-Hub-Signature-256': signature(body) });
    const detail = expect.stringMatching(/^The signature does not match: WEBHOOK_SECRET differs /);
    expect([answer.status, answer.body.detail], answer.text).toEqual([401, detail]);
    expect(await jobsSent()).toBe(before);
    expect(acme.logs.join('')).not.toContain(secretText);
  });

  test.each([
    ['X-GitHub-Delivery', /^Send the headers X-GitHub-Delivery, /],
    ['X-GitHub-Event', /^Send the headers X-GitHub-Delivery, /],
    [
      'X-Hub-Signature-256',
      /^This delivery has no signature\. Set a webhook secret at GitHub, .*WEBHOOK_SECRET/,
    ],
  ])('without %s: 400', async (name, detail) => {
    const answer = await deliver('{}', { [name]: '' });
    expect([answer.status, answer.body.detail]).toEqual([400, expect.stringMatching(detail)]);
  });

  test('a signature that is none: 400', async () => {
    const answer = await deliver('{}', { 'X-Hub-Signature-256': 'sha1=0' });
    expect([answer.status, answer.body.detail]).toEqual([
      400,
      expect.stringMatching(/64 hexadecimal digits/),
    ]);
  });

  test('a signed payload that is not JSON: 400, and the log has nothing of it', async () => {
    const answer = await deliver(`payload=${secretText}`);
    expect([answer.status, answer.body.detail]).toEqual([400, expect.stringContaining('application/json')]);
    expect(acme.logs.join('')).not.toContain(secretText);
  });

  test('an event or action that nothing handles: 202, and no job', async () => {
    const before = await jobsSent();
    for (const [event, body] of [
      ['ping', { zen: 'Design for failure.' }],
      ['pull_request', { action: 'auto_merge_enabled', repository: { id: 1 }, pull_request: { number: 1 } }],
      ['a_later_one', { action: 'done' }],
    ] as const) {
      const answer = await deliver(JSON.stringify(body), { 'X-GitHub-Event': event });
      expect(answer.status, event).toBe(202);
    }
    expect(await jobsSent()).toBe(before);
  });
});
