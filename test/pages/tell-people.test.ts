import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { Visitor, words } from '../support/visitor.ts';

// After a freeze is made, there is a text to tell people: to copy, and to post to a chat with one press.

const acme = acmeForAll();
const [ada, rita, bob] = [new Visitor(acme), new Visitor(acme), new Visitor(acme)];
let freeze: { id: string };
let chat: string;
const page = () => `/owners/acme/progress?freeze=${freeze.id}`;
const post = (visitor: Visitor, fields: Record<string, string> = {}) =>
  visitor.send('/owners/acme/progress/tell', { freeze: freeze.id, webhook: chat, ...fields });
const deliveries = () => acme.app.deps.db.outgoingDelivery.findMany({ where: { webhookId: chat } });

beforeAll(async () => {
  acme.github.addUser('rita');
  await acme.repository('web', [{}], { roles: { rita: 'admin' } });
  await acme.repository('api', [{}]);
  for (const [login, visitor] of Object.entries({ ada, rita, bob })) await visitor.signIn(login);
  // It is told of exemptions only.
  const body = {
    ...{ kind: 'slack', url: 'https://hooks.example/services/T1/B2/secret-9f2c', description: '#releases' },
    events: ['exemption.requested'],
  };
  chat = (await acme.call('POST', '/v1/webhooks/acme', { as: acme.admin, body })).body.id;
  await acme.call('POST', '/v1/webhooks/acme', {
    as: acme.admin,
    body: { kind: 'standard', url: 'https://ops.example/hook', description: 'Ops', events: ['freeze.ended'] },
  });
  const about = { reason: 'We buy Initech', public_reason: 'Maintenance', end: '2026-03-02T08:00:00' };
  freeze = await acme.freeze('acme/web', about);
});

test('the text says what is frozen, until when and why, without private reasons', async () => {
  for (const visitor of [ada, rita]) {
    const { text } = await visitor.open(page());
    const copied = /data-copy="([^"]*)"/.exec(text)![1]!;
    expect(copied).toMatch(/^acme\/web is frozen until .*2 Mar.*08:00/);
    expect(copied).toContain('Maintenance');
    expect(copied).toContain(`https://holdfast.example/repos/acme/web/freezes/${freeze.id}`);
    expect(text).not.toContain('Initech');
    expect(words({ text })).toContain('Post to #releases');
    expect(words({ text })).not.toContain('Post to Ops');
  }
  expect(words(await bob.open(page()))).not.toContain('Tell people');
});

test('a chat is told once, by whoever may freeze these repositories', async () => {
  const api = await acme.freeze('acme/api');
  expect((await post(bob)).status).toBe(403);
  expect((await post(rita, { freeze: api.id })).status).toBe(403);
  expect(await deliveries()).toEqual([]);
  const posted = await post(rita);
  expect([posted.status, posted.location]).toEqual([303, `${page()}&said=told`]);
  expect(words(await rita.open(posted.location))).toContain('Posted.');
  const logged = acme.logs.filter((line) => line.includes('posted to a chat by hand'));
  expect(logged.map((line) => JSON.parse(line))).toMatchObject([
    { account: 'acme', webhook: chat, freeze: freeze.id, by: 'rita' },
  ]);
  expect(await deliveries()).toMatchObject([{ type: 'freeze.started', subject: freeze.id }]);
  expect((await post(ada)).status).toBe(409);
  expect((await post(ada, { freeze: crypto.randomUUID() })).status).toBe(409);
  for (const webhook of ['', 'chat', crypto.randomUUID()])
    expect((await post(ada, { webhook })).status).toBe(404);
  expect(await deliveries()).toHaveLength(1);
});

test('the freezes of a plan are one message', async () => {
  const { body: plan } = await acme.call('POST', '/v1/freeze_plans/acme', {
    as: acme.admin,
    body: {
      ...{ name: 'Year end', reason: 'Books', repositories: { include: ['web', 'api'] }, timezone: 'UTC' },
      ...{ start: null, end: '2026-03-03T08:00:00' },
    },
  });
  await acme.quiet();
  const { text } = await ada.open(`/owners/acme/progress?plan=${plan.id}`);
  expect(/data-copy="([^"]*)"/.exec(text)![1]).toMatch(/^2 repositories of acme are frozen[^]*Books/);
  await ada.send('/owners/acme/progress/tell', { plan: plan.id, webhook: chat });
  const told = await deliveries();
  expect(told.map(({ subject, eventIds }) => [subject, eventIds.length])).toContainEqual([plan.id, 2]);
});
