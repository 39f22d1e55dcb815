import { expect, test } from 'vitest';
import { openWebhook } from '../../src/notices/webhook-secrets.ts';
import { startAcme } from '../support/acme.ts';
import { forAll } from '../support/for-all.ts';

/** No host is allowed that is not public. */
const acme = forAll(() => startAcme({ webhookAllowedHosts: [] }));

const url = 'https://ops.example/hook?team=web';
const chatUrl = 'https://chat.example/services/T000/B000/SecretOfTheChannelWXYZ';
const ask = (method: string, path = '', body?: unknown, key?: string) =>
  acme.call(method, `/v1/webhooks/acme${path}`, {
    as: acme.admin,
    ...(body === undefined ? {} : { body }),
    ...(key === undefined ? {} : { headers: { 'Idempotency-Key': key } }),
  });
const create = async (more: object = {}) => {
  const { status, body, text } = await ask('POST', '', { kind: 'standard', url, ...more });
  expect(status, text).toBe(201);
  return body;
};
const opened = async (id: string) => {
  const { db, config, clock } = acme.app.deps;
  const webhook = await db.outgoingWebhook.findUniqueOrThrow({ where: { id } });
  return openWebhook(config, webhook, new Date(clock.now()));
};
const eventsOf = async (id: string) => {
  const answer = await acme.call('GET', '/v1/logs/acme?per_page=100', { as: acme.admin });
  return (answer.body.events as { type: string; metadata: Record<string, unknown> }[])
    .filter(({ metadata }) => metadata['webhook_id'] === id)
    .reverse();
};

test('a webhook is created, listed, changed and deleted, and the log says so without secrets', async () => {
  const made = await create({
    repositories: ['web', 'api-*'],
    events: ['freeze.started'],
    description: 'Ops',
  });
  const { id, secret, ...rest } = made;
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(rest).toEqual({
    url,
    kind: 'standard',
    repositories: ['web', 'api-*'],
    events: ['freeze.started'],
    public_text: false,
    description: 'Ops',
    enabled: true,
    disabled_reason: null,
    created_by: { type: 'application', id: expect.any(String), name: 'admin key' },
    created_at: '2026-03-01T09:00:00.000Z',
  });
  expect((await ask('GET')).body).toEqual({ webhooks: [{ id, ...rest }] });
  const change = { ...rest, events: null, repositories: null, public_text: true, enabled: false };
  expect((await ask('PATCH', `/${id}`, change)).body).toEqual({ id, ...change });
  expect((await ask('PATCH', `/${id}`, { events: null })).body, 'nothing changes').toEqual({ id, ...change });
  expect((await ask('PATCH', `/${id}`, { url: 'https://other.example/' })).body.url).toBe(
    'https://other.example/',
  );
  expect((await ask('DELETE', `/${id}`)).status).toBe(204);
  expect((await ask('GET')).body).toEqual({ webhooks: [] });
  for (const [method, path, body] of [
    ['PATCH', '', {}],
    ['DELETE', ''],
    ['POST', '/test'],
    ['GET', '/deliveries'],
  ] as const)
    expect((await ask(method, `/${id}${path}`, body)).body.detail).toBe(
      `acme has no webhook ${id}. GET /v1/webhooks/acme lists them.`,
    );
  const events = await eventsOf(id);
  expect(events.map(({ type }) => type)).toEqual([
    'webhook.create',
    'webhook.update',
    'webhook.update',
    'webhook.delete',
  ]);
  expect(events[1]!.metadata).toMatchObject({
    webhook_attributes_before: { events: ['freeze.started'], enabled: true },
    webhook_attributes_after: { events: null, enabled: false },
  });
  expect(JSON.stringify(events)).not.toContain(secret);
});

test('the address of a chat is sealed, and shown as its host and its end', async () => {
  const chat = await create({ kind: 'slack', url: chatUrl });
  expect(chat).toMatchObject({ kind: 'slack', url: 'chat.example/…WXYZ' });
  expect(chat).not.toHaveProperty('secret');
  // Clients send back what they were shown.
  const same = await ask('PATCH', `/${chat.id}`, { ...chat, description: 'Team' });
  expect(same.body).toEqual({ ...chat, description: 'Team' });
  expect(await opened(chat.id)).toEqual({ url: chatUrl, secrets: [] });
  const moved = chatUrl.replace('WXYZ', 'ABCD');
  expect((await ask('PATCH', `/${chat.id}`, { url: moved })).body.url).toBe('chat.example/…ABCD');
  expect((await opened(chat.id)).url).toBe(moved);
  const refused = await ask('POST', `/${chat.id}/rotate_secret`);
  expect([refused.status, refused.body.detail]).toEqual([
    409,
    expect.stringContaining('kind slack has no secret'),
  ]);
  const all = await Promise.all(
    [acme.app.deps.db.outgoingWebhook, acme.app.deps.db.auditEvent].map((table) =>
      (table.findMany as () => Promise<object[]>)(),
    ),
  );
  const stored = JSON.stringify(all, (_, value) => (typeof value === 'bigint' ? String(value) : value));
  expect(stored).not.toContain('SecretOfTheChannel');
  expect(acme.logs.join('')).not.toContain('SecretOfTheChannel');
});

test('a rotated secret and the one before it both sign for a day', async () => {
  const { id, secret } = await create();
  const rotated = await ask('POST', `/${id}/rotate_secret`);
  expect(rotated.status).toBe(200);
  expect(rotated.body.secret).not.toBe(secret);
  expect((await opened(id)).secrets).toEqual([rotated.body.secret, secret]);
  await acme.clock.setTime(new Date(acme.clock.now() + 24 * 3_600_000));
  expect((await opened(id)).secrets).toEqual([rotated.body.secret]);
  expect((await eventsOf(id)).map(({ type }) => type)).toContain('webhook.rotate_secret');
});

test('a replayed answer has the same secret, which is nowhere in the clear', async () => {
  const body = { kind: 'standard', url };
  const [one, other] = [await ask('POST', '', body, 'create-1'), await ask('POST', '', body, 'create-1')];
  expect(other.headers.get('idempotent-replayed')).toBe('true');
  expect([other.status, other.body]).toEqual([201, one.body]);
  const path = `/${one.body.id}/rotate_secret`;
  const [first, second] = [
    await ask('POST', path, undefined, 'rotate-1'),
    await ask('POST', path, undefined, 'rotate-1'),
  ];
  expect([second.status, second.body]).toEqual([200, first.body]);
  const kept = await acme.app.deps.db.idempotencyRecord.findMany();
  expect(kept).toHaveLength(2);
  for (const { secret } of [one.body, first.body]) {
    expect(secret).toMatch(/^whsec_/);
    expect(JSON.stringify(kept)).not.toContain(secret);
    expect(acme.logs.join('')).not.toContain(secret);
  }
});

test.each([
  ['ftp://ops.example/hook', /This is not an address/],
  ['http://ops.example/hook', /https/],
  ['https://ada:secret@ops.example/hook', /user name or password/],
  ['https://ops.example:22/hook', /Port 22 is not allowed/],
  ['https://169.254.169.254/latest', /not a public address.*WEBHOOK_ALLOWED_HOSTS/],
])('%s is refused, when it is saved and when it is changed', async (bad, says) => {
  const { id } = await create();
  for (const { status, body } of [
    await ask('POST', '', { kind: 'standard', url: bad }),
    await ask('PATCH', `/${id}`, { url: bad }),
  ]) {
    expect([status, body.detail[0].loc]).toEqual([422, ['body', 'url']]);
    expect(body.detail[0].msg).toMatch(says);
  }
});

test('addresses that resolve to what is not public are refused, and names that do not resolve are saved', async () => {
  const refused = await ask('POST', '', { kind: 'standard', url: 'https://localhost/hook' });
  expect(refused.status).toBe(422);
  expect(refused.body.detail).toEqual([
    {
      loc: ['body', 'url'],
      msg: expect.stringMatching(
        /localhost resolves to .*, which is not a public address\. .*WEBHOOK_ALLOWED_HOSTS/,
      ),
      type: 'value_error',
    },
  ]);
  await create({ url: 'https://nowhere.invalid/hook' });
});

test('deliveries have pages, newest first; one that is over can be replayed, with the same id', async () => {
  const { id } = await create();
  const { db } = acme.app.deps;
  const made = [];
  for (let each = 0; each < 3; each++)
    made.push((await ask('POST', `/${id}/test`, undefined, `test-${each}`)).body);
  expect(made[0]).toEqual({
    id: expect.any(String),
    type: 'webhook.test',
    state: 'waiting',
    attempts: 0,
    status: null,
    last_attempt_at: null,
    next_attempt_at: new Date(acme.clock.now()).toISOString(),
    error: null,
  });
  expect((await ask('POST', `/${id}/test`, undefined, 'test-0')).body, 'a repeated call sends once').toEqual(
    made[0],
  );
  const list = (query: string) => ask('GET', `/${id}/deliveries${query}`);
  const first = await list('?per_page=2');
  const idsOf = ({ body }: typeof first) => body.deliveries.map((each: { id: string }) => each.id);
  expect(idsOf(first)).toEqual([made[2].id, made[1].id]);
  const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link')!)![1]!;
  expect(idsOf(await list(new URL(next).search))).toEqual([made[0].id]);
  expect((await list('?cursor=nonsense')).status).toBe(422);

  const replay = (delivery: string) => ask('POST', `/${id}/deliveries/${delivery}/replay`);
  const over = { state: 'failed', attempts: 10, status: 500, error: 'It answered 500.', nextAttemptAt: null };
  await db.outgoingDelivery.update({ where: { id: made[1].id }, data: over });
  expect((await replay(made[1].id)).body).toMatchObject({ id: made[1].id, state: 'waiting', attempts: 0 });
  await db.outgoingDelivery.update({ where: { id: made[1].id }, data: { state: 'waiting' } });
  expect([(await replay(made[1].id)).status, (await replay(crypto.randomUUID())).status]).toEqual([409, 404]);
});

test('a disabled webhook gets nothing: what waits fails, and tests and replays are refused', async () => {
  const { id } = await create();
  const { body: delivery } = await ask('POST', `/${id}/test`);
  await ask('PATCH', `/${id}`, { enabled: false });
  const { deliveries } = (await ask('GET', `/${id}/deliveries`)).body;
  expect(deliveries[0]).toMatchObject({ state: 'failed', next_attempt_at: null });
  for (const path of ['/test', `/deliveries/${delivery.id}/replay`])
    expect(await ask('POST', `/${id}${path}`)).toMatchObject({
      status: 409,
      body: { detail: 'This webhook is disabled. Enable it first: PATCH it with {"enabled": true}.' },
    });
  const { db } = acme.app.deps;
  await db.outgoingWebhook.update({ where: { id }, data: { disabledWhy: 'It answered 410.' } });
  expect((await ask('PATCH', `/${id}`, { enabled: true })).body).toMatchObject({
    enabled: true,
    disabled_reason: null,
  });
});

test('an owner has at most 100', async () => {
  const { db } = acme.app.deps;
  const { id: _, ...one } = await db.outgoingWebhook.findFirstOrThrow();
  const left = 100 - (await db.outgoingWebhook.count());
  const data = Array.from({ length: left }, () => ({ ...one, createdBy: {}, id: crypto.randomUUID() }));
  await db.outgoingWebhook.createMany({ data });
  const answer = await ask('POST', '', { kind: 'standard', url });
  expect([answer.status, answer.body.detail]).toEqual([409, expect.stringMatching(/^acme has 100 webhooks/)]);
});
