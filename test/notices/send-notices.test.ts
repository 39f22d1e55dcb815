import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  accepts,
  fails,
  hangs,
  isGone,
  isTooBusy,
  type Receiver,
  redirectsTo,
  resets,
  startReceiver,
} from '../../sandbox/receiver.ts';
import { jobs } from '../../src/database/queue/jobs.ts';
import { acmeForAll } from '../support/acme.ts';
import { testOfAmount } from '../support/amounts.ts';
import { addWebhook, deliveriesOf } from '../support/outgoing.ts';
import { shortenPatience } from '../support/patience.ts';

const acme = acmeForAll();
let receivers: Receiver[] = [];
let count = 0;
const receiver = async (): Promise<Receiver> => {
  const one = await startReceiver({ now: () => new Date(acme.clock.now()) });
  receivers.push(one);
  return one;
};
let web: string;
beforeEach(async () => {
  web = await acme.repository(`web-${++count}`);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await acme.app.deps.db.outgoingWebhook.deleteMany();
  for (const each of receivers) await each.close();
  receivers = [];
  await acme.quiet();
});
afterAll(() => {
  // Whatever happened, nothing that is secret was logged.
  for (const line of acme.logs) expect(line).not.toMatch(/whsec_|s3cret|\/hooks\//);
});

const typesOf = ({ arrivals }: Receiver) => arrivals.map(({ body }) => body.type);
const minute = 60_000;
const hour = 60 * minute;
const advance = (milliseconds: number) => acme.advanceTo(new Date(acme.clock.now() + milliseconds));

test('what happens arrives, signed, with one id for all receivers', async () => {
  const [one, other] = [await receiver(), await receiver()];
  const first = await addWebhook(acme, one.url);
  const second = await addWebhook(acme, other.url);
  one.require(first.secret);
  other.require(second.secret);
  const freeze = await acme.freeze(web, { reason: 'Quarter end' });
  expect(one.accepted()).toMatchObject([
    {
      signed: true,
      headers: { 'content-type': 'application/json', 'user-agent': expect.stringContaining('Holdfast') },
      body: {
        type: 'freeze.started',
        timestamp: new Date(acme.clock.now()).toISOString(),
        data: {
          repository: web,
          freeze: { id: freeze.id, reason: 'Quarter end' },
          url: expect.stringMatching(/^https:/),
        },
      },
    },
  ]);
  expect(one.accepted()[0]!.body.data).not.toHaveProperty('late');
  expect(other.accepted()).toHaveLength(1);
  expect(other.accepted()[0]!.headers['webhook-id']).toBe(one.accepted()[0]!.headers['webhook-id']);
  expect(await deliveriesOf(acme, first.id)).toMatchObject([
    { state: 'delivered', attempts: 1, status: 204, error: null, nextAttemptAt: null },
  ]);
});

test('both secrets sign for a day after a rotation', async () => {
  const [at, before] = [await receiver(), await receiver()];
  const { deps } = acme.app;
  const old = await addWebhook(acme, before.url);
  const { sealedSecret } = await deps.db.outgoingWebhook.findUniqueOrThrow({ where: { id: old.id } });
  const { sealOf, newSecret } = await import('../../src/notices/webhook-secrets.ts');
  const secret = newSecret();
  await deps.db.outgoingWebhook.update({
    where: { id: old.id },
    data: {
      sealedSecret: sealOf(deps.config, old.id, 'secret', secret),
      sealedPreviousSecret: sealedSecret,
      previousSecretUntil: new Date(acme.clock.now() + 24 * hour),
    },
  });
  before.require(old.secret);
  await acme.freeze(web);
  expect(before.accepted()).toHaveLength(1);
  expect(String(before.arrivals[0]!.headers['webhook-signature']).split(' ')).toHaveLength(2);
  before.require(secret);
  await advance(24 * hour);
  await acme.freeze(web, { reason: 'again' });
  expect(before.accepted()).toHaveLength(2);
  expect(String(before.arrivals.at(-1)!.headers['webhook-signature']).split(' ')).toHaveLength(1);
  await at.close();
  receivers = receivers.filter((each) => each !== at);
});

test('what a process of an earlier version has claimed waits until that is over', async () => {
  const at = await receiver();
  const { db } = acme.app.deps;
  at.now(fails);
  const { id } = await addWebhook(acme, at.url);
  await acme.freeze(web);
  const claimedUntil = new Date(acme.clock.now() + 30_000);
  await db.outgoingDelivery.updateMany({ where: { webhookId: id }, data: { claimedUntil } });
  at.now(accepts);
  await advance(20_000);
  expect(at.accepted()).toHaveLength(0);
  await advance(20_000);
  expect(at.accepted()).toHaveLength(1);
});

test('a failed one is tried again after 5 s, 5 min, … 24 h, then the webhook is disabled and the others are told', async () => {
  const [broken, well] = [await receiver(), await receiver()];
  broken.now(fails);
  const { id } = await addWebhook(acme, broken.url);
  await addWebhook(acme, well.url, { events: ['webhook.disabled'] });
  await acme.freeze(web);
  const waits = [
    5000,
    5 * minute,
    30 * minute,
    2 * hour,
    5 * hour,
    10 * hour,
    14 * hour,
    20 * hour,
    24 * hour,
  ];
  for (const [index, wait] of waits.entries()) {
    expect(broken.arrivals).toHaveLength(index + 1);
    expect(await deliveriesOf(acme, id)).toMatchObject([
      { state: 'waiting', attempts: index + 1, status: 500, error: 'It answered 500.' },
    ]);
    await advance(wait - 1);
    expect(broken.arrivals).toHaveLength(index + 1);
    await advance(wait / 10 + 500);
  }
  expect(broken.arrivals).toHaveLength(10);
  expect(new Set(broken.arrivals.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(await deliveriesOf(acme, id)).toMatchObject([
    { state: 'failed', attempts: 10, nextAttemptAt: null },
  ]);
  expect(await acme.app.deps.db.outgoingWebhook.findUnique({ where: { id } })).toMatchObject({
    isEnabled: false,
    disabledWhy: 'It answered 500.',
    disabledAt: expect.any(Date),
  });
  expect(typesOf(well)).toEqual(['webhook.disabled']);
  expect(JSON.stringify(well.arrivals[0]!.body)).not.toContain('whsec');
  expect(acme.logs.filter((line) => line.includes('an outgoing webhook is disabled'))).toHaveLength(1);
  await acme.freeze(web, { reason: 'nobody hears it' });
  expect(broken.arrivals).toHaveLength(10);
});

test('410 disables the webhook at once, and gives up what it was still to be told', async () => {
  const gone = await receiver();
  const { id } = await addWebhook(acme, gone.url);
  gone.next(fails);
  gone.now(isGone);
  await acme.freeze(web, { reason: 'one' });
  await acme.freeze(await acme.repository(`other-${count}`), { reason: 'two' });
  expect(gone.arrivals.map(({ status }) => status)).toEqual([500, 410]);
  expect(await deliveriesOf(acme, id)).toMatchObject([
    { state: 'failed', error: 'The webhook was disabled.', nextAttemptAt: null },
    { state: 'failed', status: 410, error: 'It answered 410: it wants no more messages.' },
  ]);
  await advance(hour);
  expect(gone.arrivals).toHaveLength(2);
});

test.each<[string, number | string, number]>([
  ['seconds', 120, 120_000],
  ['a date', 'date', 90_000],
  ['more than a day', 999_999, 24 * hour],
])('Retry-After in %s lengthens the wait, for all messages', async (_, after, wait) => {
  const busy = await receiver();
  const { id } = await addWebhook(acme, busy.url);
  // A date has whole seconds.
  await advance(1000 - (acme.clock.now() % 1000));
  const at = acme.clock.now();
  busy.next(isTooBusy(after === 'date' ? new Date(at + wait).toUTCString() : after));
  await acme.freeze(web);
  await acme.freeze(await acme.repository(`other-${count}`));
  expect(busy.arrivals).toHaveLength(1);
  const [first] = await deliveriesOf(acme, id);
  expect(first).toMatchObject({ state: 'waiting', status: 429, error: 'It answered 429.' });
  expect(first!.nextAttemptAt!.getTime() - at).toBe(wait);
  await advance(wait - 1);
  expect(busy.arrivals).toHaveLength(1);
  await advance(500);
  expect(busy.accepted()).toHaveLength(2);
});

test('a redirect is a failure, and nobody follows it', async () => {
  const [here, there] = [await receiver(), await receiver()];
  const { id } = await addWebhook(acme, here.url);
  here.next(redirectsTo(there.url));
  await acme.freeze(web);
  expect(there.arrivals).toEqual([]);
  expect(await deliveriesOf(acme, id)).toMatchObject([
    { status: 302, error: expect.stringMatching(/follows no redirects: change the address/) },
  ]);
});

test.each<[string, (one: Receiver) => Promise<string>, string]>([
  ['closes the connection', async (one) => (one.now(resets), one.url), 'It closed the connection.'],
  [
    'listens no more',
    async (one) => (await one.close(), (receivers = []), one.url),
    'It refused the connection.',
  ],
  ['is not allowed any more', () => Promise.resolve('http://127.0.0.2/'), 'https://'],
])('an address that %s: the error says so', async (_, given, error) => {
  const { id } = await addWebhook(acme, await given(await receiver()));
  await acme.freeze(web);
  expect(await deliveriesOf(acme, id)).toMatchObject([
    { state: 'waiting', attempts: 1, status: null, error: expect.stringContaining(error) },
  ]);
});

test('many that hang or fail delay nobody else, and time out after 15 s', async () => {
  shortenPatience();
  const slow = await Promise.all(Array.from({ length: 40 }, receiver));
  const ids: string[] = [];
  for (const [index, each] of slow.entries()) {
    each.now(index % 4 === 0 ? fails : hangs);
    ids.push((await addWebhook(acme, each.url)).id);
  }
  const well = await receiver();
  await addWebhook(acme, well.url);
  const answer = await acme.call('POST', `/v1/repos/${web}/scheduled_freeze`, {
    as: acme.admin,
    body: { reason: 'Release', start: null, timezone: 'UTC' },
  });
  expect(answer.status).toBe(201);
  await well.hasHeard(1);
  await acme.quiet();
  expect(await deliveriesOf(acme, ids[1]!)).toMatchObject([
    { state: 'waiting', attempts: 1, status: null, error: 'It did not answer within 15 seconds.' },
  ]);
  for (const each of slow) each.now(accepts);
  await advance(6000);
  for (const each of slow) expect(each.accepted()).toHaveLength(1);
});

testOfAmount(
  'hundreds of another owner that hang, each with a job of its own, keep no taker from others',
  async () => {
    const { db, queue } = acme.app.deps;
    acme.github.addOrganization('globex', { admins: ['ada'] });
    acme.github.install('globex');
    await acme.quiet();
    const dead = await receiver();
    dead.now(hangs);
    const ids: string[] = [];
    for (let each = 0; each < 270; each++)
      ids.push((await addWebhook(acme, dead.url, { owner: 'globex' })).id);
    const at = new Date(acme.clock.now());
    await db.outgoingDelivery.createMany({
      data: ids.map((webhookId) => ({
        ...{ id: crypto.randomUUID(), webhookId, eventIds: [], type: 'webhook.test', state: 'waiting' },
        ...{ createdAt: at, nextAttemptAt: at },
      })),
    });
    for (const id of ids) await queue.send([jobs.sendNotices(id)]);
    await dead.hasHeard(32);
    const well = await receiver();
    await addWebhook(acme, well.url);
    const body = { reason: 'Release', start: null, timezone: 'UTC' };
    const freeze = `/v1/repos/${web}/scheduled_freeze`;
    expect((await acme.call('POST', freeze, { as: acme.admin, body })).status).toBe(201);
    await well.hasHeard(1);
    dead.now(accepts);
    dead.release();
    await acme.quiet();
    expect(dead.accepted()).toHaveLength(ids.length);
  },
);

test('one freeze is told in order, also where the first message fails; other freezes do not wait', async () => {
  const one = await receiver();
  await addWebhook(acme, one.url);
  one.next(fails);
  const freeze = await acme.freeze(web);
  await acme.update(web, freeze.id, { reason: 'Another' });
  await acme.freeze(await acme.repository(`other-${count}`));
  expect(typesOf(one)).toEqual(['freeze.started', 'freeze.started']);
  await acme.remove(web, freeze.id);
  await advance(6000);
  expect(typesOf(one).slice(2)).toEqual(['freeze.started', 'freeze.updated', 'freeze.deleted']);
});

test('if no job knows of a due delivery, the sweep sends it; after 30 days it is deleted', async () => {
  const one = await receiver();
  const { id } = await addWebhook(acme, one.url);
  one.next(fails);
  await acme.freeze(web);
  await acme.app.deps.db.job.deleteMany({ where: { task: 'send-messages' } });
  await advance(2 * minute);
  expect(one.accepted()).toHaveLength(1);
  expect(await deliveriesOf(acme, id)).toHaveLength(1);
  await advance(30 * 24 * hour);
  expect(await deliveriesOf(acme, id)).toHaveLength(0);
});
