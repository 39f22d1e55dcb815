// One freeze reaches everybody who is to know of it, once, whatever happens to them and to us.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  accepts,
  fails,
  hangs,
  isGone,
  type Receiver,
  redirectsTo,
  resets,
  startReceiver,
} from '../sandbox/receiver.ts';
import { acmeForAll, type Freeze } from './support/acme.ts';
import { shortenPatience } from './support/patience.ts';

const acme = acmeForAll();
const kinds = ['standard', 'slack', 'teams', 'discord', 'google_chat'] as const;
type Kind = (typeof kinds)[number];

const receivers = new Map<Kind, Receiver>();
const secrets: string[] = [];
let web: string;
let freeze: Freeze;
/** What the doctor said. */
const doctors: string[] = [];

/** A webhook of acme, made by its admin. @returns its id. */
async function tell(url: string, kind: Kind, more: object = {}): Promise<{ id: string; secret?: string }> {
  const answer = await acme.call('POST', '/v1/webhooks/acme', {
    as: acme.admin,
    body: { url, kind, ...more },
  });
  expect(answer.status, answer.text).toBe(201);
  if (answer.body.secret) secrets.push(answer.body.secret);
  secrets.push(new URL(url).pathname);
  return answer.body;
}
const receiver = () => startReceiver({ now: () => new Date(acme.clock.now()) });
const advance = (milliseconds: number) => acme.advanceTo(new Date(acme.clock.now() + milliseconds));
const minute = 60_000;
const last = (kind: Kind) => receivers.get(kind)!.arrivals.at(-1)!;
const counts = () => kinds.map((kind) => receivers.get(kind)!.arrivals.length);
const deliveriesOf = async (id: string) =>
  (await acme.call('GET', `/v1/webhooks/acme/${id}/deliveries`, { as: acme.admin })).body.deliveries;

beforeAll(async () => {
  web = await acme.repository('web', [{}]);
  // Two processes work on one database.
  await acme.replica();
  for (const kind of kinds) {
    receivers.set(kind, await receiver());
    const { secret } = await tell(receivers.get(kind)!.url, kind, { repositories: ['web'] });
    if (secret) receivers.get(kind)!.require(secret);
  }
});

afterAll(async () => {
  vi.restoreAllMocks();
  for (const each of receivers.values()) await each.close();
});

test('a freeze begins: each kind hears of it once, in its own words', async () => {
  freeze = await acme.freeze(web, { reason: 'Quarter end', end: '2026-03-02T09:00:00' });
  expect(counts()).toEqual([1, 1, 1, 1, 1]);
  expect(last('standard')).toMatchObject({
    signed: true,
    body: {
      type: 'freeze.started',
      data: { repository: web, freeze: { id: freeze.id, reason: 'Quarter end' } },
    },
  });
  expect(last('slack').body).toMatchObject({
    text: expect.stringContaining('acme/web'),
    blocks: expect.any(Array),
  });
  expect(last('teams').body).toMatchObject({
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive' }],
  });
  for (const kind of kinds) expect(JSON.stringify(last(kind).body)).toContain('Quarter end');
});

test('it ends in an hour, and ends, though everybody is away for that hour: all hear of it, in order', async () => {
  for (const each of receivers.values()) each.now(resets);
  await acme.advanceTo('2026-03-02T08:00:00Z');
  await acme.advanceTo('2026-03-02T08:30:00Z');
  for (const each of receivers.values()) {
    expect(each.accepted()).toHaveLength(1);
    each.now(accepts);
  }
  await acme.advanceTo('2026-03-02T09:00:00Z');
  await advance(3 * 60 * minute);
  const { standard } = Object.fromEntries(receivers);
  expect(standard!.accepted().map(({ body }) => body.type)).toEqual([
    'freeze.started',
    'freeze.ending_soon',
    'freeze.ended',
  ]);
  for (const each of receivers.values()) expect(each.accepted()).toHaveLength(3);
  // One id for each thing that happened, however often it was sent.
  expect(new Set(standard!.arrivals.map(({ headers }) => headers['webhook-id'])).size).toBe(3);
});

test('one that hangs, one that fails, one that redirects and one that is gone keep nobody waiting', async () => {
  shortenPatience();
  const away = await receiver();
  const others = [hangs, fails, redirectsTo(away.url), isGone];
  const ids: string[] = [];
  const bad: Receiver[] = [];
  for (const behaviour of others) {
    const one = await receiver();
    one.now(behaviour);
    bad.push(one);
    ids.push((await tell(one.url, 'standard', { events: ['freeze.started'] })).id);
  }
  const before = receivers.get('standard')!.arrivals.length;
  const again = await acme.call('POST', `/v1/repos/${web}/scheduled_freeze`, {
    as: acme.admin,
    body: { reason: 'Incident', start: null, timezone: 'UTC' },
  });
  expect(again.status).toBe(201);
  await receivers.get('standard')!.hasHeard(before + 1);
  await acme.quiet();
  expect(away.arrivals).toEqual([]);
  for (const one of bad) expect(one.arrivals).toHaveLength(1);
  const states = [];
  for (const id of ids) states.push((await deliveriesOf(id))[0]);
  expect(states).toMatchObject([
    { state: 'waiting', status: null, error: 'It did not answer within 15 seconds.' },
    { state: 'waiting', status: 500 },
    { state: 'waiting', status: 302, error: expect.stringContaining('redirects') },
    { state: 'failed', status: 410 },
  ]);
  // The gone one is disabled, which the log of events and the owner's other webhooks say.
  expect(last('slack').body.text).toMatch(/webhook/i);
  const { body } = await acme.call('GET', '/v1/webhooks/acme', { as: acme.admin });
  expect(body.webhooks.filter(({ enabled }: { enabled: boolean }) => !enabled)).toMatchObject([
    { id: ids[3] },
  ]);
  const doctor = await acme.call('GET', `/v1/repos/${web}/enforcement`, { as: acme.admin });
  expect(doctor.body.findings).toContainEqual(
    expect.objectContaining({
      check: 'outgoing_webhooks',
      message: expect.stringContaining(`${ids[3]} (standard)`),
    }),
  );
  doctors.push(doctor.text);
  for (const one of [...bad, away]) await one.close();
});

test('no secret is in a log, an answer or an event', async () => {
  const answers = await Promise.all(
    ['/v1/webhooks/acme', '/v1/repos/acme/web/logs'].map((path) =>
      acme.call('GET', path, { as: acme.admin }),
    ),
  );
  const events = await acme.app.deps.db.auditEvent.findMany({ select: { metadata: true } });
  const chats = secrets.filter((secret) => secret.startsWith('/'));
  expect(chats.length).toBeGreaterThan(5);
  const deliveries = await acme.app.deps.sql.query(
    'all',
    'SELECT row_to_json(d)::text AS row FROM outgoing_deliveries d',
  );
  expect(doctors).toHaveLength(1);
  const texts = [
    ...acme.logs,
    ...doctors,
    JSON.stringify(deliveries),
    ...answers.slice(1).map(({ text }) => text),
  ];
  for (const secret of secrets) for (const text of texts) expect(text).not.toContain(secret);
  for (const secret of secrets.filter((each) => !chats.includes(each)))
    expect(JSON.stringify(events) + answers[0]!.text).not.toContain(secret);
});
