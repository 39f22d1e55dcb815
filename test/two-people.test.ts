// A writer requests and an admin decides. If the repository requires two people, another admin decides.
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { heldUntilRemoved, acmeForAll } from './support/acme.ts';
import { testOfAmount } from './support/amounts.ts';
import { exemptionsOf } from './support/exemptions.ts';

const acme = acmeForAll();
let exemptions: ReturnType<typeof exemptionsOf>;
let tokens: Record<'ada' | 'bob' | 'rita' | 'wes', string>;
let web: string;
let count = 0;
beforeAll(async () => {
  exemptions = exemptionsOf(acme);
  for (const login of ['rita', 'wes']) acme.github.addUser(login);
  const token = (login: string) =>
    acme.github.addToken(login, { kind: 'classic', scopes: ['repo', 'admin:org'] });
  tokens = { ada: token('ada'), bob: token('bob'), rita: token('rita'), wes: token('wes') };
});
beforeEach(async () => {
  const roles = { rita: 'admin', wes: 'write' } as const;
  web = await acme.repository(`web-${++count}`, [{}, {}], { roles });
  await acme.freeze(web);
});

const askForTwo = async () => {
  const [name] = web.split('/').slice(1);
  await acme.app.deps.db.repository.updateMany({
    where: { name },
    data: { settings: { two_person_exemptions: true } },
  });
};
const askFor = (as: string) => exemptions.exempt(web, 1, {}, as);

test('two people: the person who requested does not approve, and another admin does', async () => {
  await askForTwo();
  const asked = await askFor(tokens.ada);
  expect(asked).toMatchObject({ state: 'requested', decided_by: null });
  expect(acme.shown(web, 1)).toEqual(heldUntilRemoved);
  const own = await exemptions.decide('approve', web, asked, tokens.ada);
  expect([own.status, own.body.detail]).toEqual([
    403,
    expect.stringMatching(/^ada requested this exemption\./),
  ]);
  expect(acme.shown(web, 1)).toEqual(heldUntilRemoved);

  const { status, body } = await exemptions.decide('approve', web, asked, tokens.rita, {});
  expect([status, body.state, body.decided_by.name]).toEqual([200, 'approved', 'rita']);
  expect(acme.shown(web, 1)?.state).toBe('success');
  expect(await exemptions.told(web)).toEqual(['requested', 'approved']);
});

test('two people: a key approves nothing that a key or its maker requested', async () => {
  await askForTwo();
  const made = await acme.call('POST', '/v1/applications/acme', {
    as: tokens.ada,
    body: { name: 'of ada', scope: 'admin' },
  });
  const keyOfAda = made.body.secret;
  const byKey = await askFor(acme.admin);
  const other = await exemptions.decide('approve', web, byKey, keyOfAda);
  expect([other.status, other.body.detail]).toEqual([403, expect.stringMatching(/^A key requested this/)]);
  expect((await exemptions.decide('approve', web, byKey, acme.admin)).status).toBe(403);

  const byAda = await askFor(tokens.ada);
  const own = await exemptions.decide('approve', web, byAda, keyOfAda);
  expect([own.status, own.body.detail]).toEqual([403, expect.stringMatching(/count as one person/)]);
  const byHerKey = await askFor(keyOfAda);
  expect((await exemptions.decide('approve', web, byHerKey, tokens.ada)).status).toBe(403);
  expect(acme.shown(web, 1)).toEqual(heldUntilRemoved);
  expect((await exemptions.decide('approve', web, byHerKey, tokens.rita)).status).toBe(200);
  expect(acme.shown(web, 1)?.state).toBe('success');
});

test('a writer requests and withdraws, and decides nothing', async () => {
  const asked = await askFor(tokens.wes);
  expect(asked).toMatchObject({ state: 'requested', requested_by: { name: 'wes' } });
  expect(acme.shown(web, 1)).toEqual(heldUntilRemoved);
  for (const decision of ['approve', 'deny'] as const)
    expect((await exemptions.decide(decision, web, asked, tokens.wes)).status).toBe(403);
  const ofAda = await exemptions.exempt(web, 2, {}, tokens.ada);
  const taking = await exemptions.decide('revoke', web, ofAda, tokens.wes);
  expect([taking.status, taking.body.detail]).toEqual([403, expect.stringMatching(/wes is not an admin/)]);
  expect((await exemptions.decide('revoke', web, asked, tokens.wes)).body.state).toBe('revoked');
  expect(await exemptions.list(web, '', tokens.wes)).toHaveLength(2);
  expect((await exemptions.request(web, 1, {}, tokens.bob)).status).toBe(403);
});

test('a person who is no longer an admin decides nothing, no matter what GitHub said a moment ago', async () => {
  const asked = await askFor(tokens.wes);
  const list = `/v1/repos/${web}/scheduled_freeze`;
  expect((await acme.call('GET', list, { as: tokens.rita })).status).toBe(200);
  acme.github.setRole(web, 'rita', 'write');
  expect((await acme.call('GET', list, { as: tokens.rita })).status).toBe(200);
  expect((await exemptions.decide('approve', web, asked, tokens.rita)).status).toBe(403);
  expect(await askFor(tokens.rita)).toMatchObject({ state: 'requested' });
  acme.github.setRole(web, 'rita', 'admin');
  expect((await exemptions.decide('approve', web, asked, tokens.rita)).status).toBe(200);
});

test('a request that is approved after the merge was not used: the merge went past the freeze', async () => {
  const asked = await askFor(tokens.wes);
  const lost = acme.github.webhookFaults.add({ kind: 'drop', event: 'pull_request', action: 'closed' });
  acme.github.bypassMerge(web, 1, 'ada');
  lost.remove();
  await acme.advanceTo(new Date(acme.clock.now() + 5_000));
  expect((await exemptions.decide('approve', web, asked)).status).toBe(200);
  const closed = acme.github.deliveries.findLast(({ action }) => action === 'closed')!;
  await acme.github.redeliver(closed.guid);
  await acme.quiet();
  const events = await acme.events(web, 'freeze.bypassed');
  expect(await exemptions.told(web)).toEqual(['requested', 'approved', 'expired']);
  expect(events).toHaveLength(1);
});

test('a decision is made once', async () => {
  const asked = await askFor(tokens.wes);
  expect((await exemptions.decide('deny', web, asked, tokens.rita)).body).toMatchObject({
    state: 'denied',
    decision_reason: 'Because',
  });
  for (const decision of ['approve', 'deny', 'revoke'] as const) {
    const { status, body } = await exemptions.decide(decision, web, asked, tokens.rita);
    expect([status, body.detail]).toEqual([
      409,
      expect.stringMatching(/^This exemption is denied, and only/),
    ]);
  }
  expect(await exemptions.told(web)).toEqual(['requested', 'denied']);
});

test('a pull request has at most 20 approved exemptions, no matter who approves one more', async () => {
  const lib = await acme.repository('lib', [{}, {}], { roles: { wes: 'write' } });
  const path = `/v1/repos/${lib}/pulls/1/exemptions`;
  const ask = (as: string) => acme.call('POST', path, { as, body: { reason: 'A fix' } });
  const requested = await ask(tokens.wes);
  const all = await Promise.all(Array.from({ length: 22 }, () => ask(acme.admin)));
  await acme.quiet();
  expect(all.map(({ status }) => status).toSorted()).toEqual([...Array(20).fill(201), 409, 409]);
  const refusal =
    /^acme\/lib#1 has 20 approved exemptions that are not over, the most there can be\. Revoke one/;
  const approve = () => exemptions.decide('approve', lib, requested.body);
  expect(await approve()).toMatchObject({ status: 409, body: { detail: expect.stringMatching(refusal) } });
  expect((await exemptions.request(lib, 2)).status).toBe(201);
  await exemptions.decide('revoke', lib, all.find(({ status }) => status === 201)!.body);
  expect((await approve()).status).toBe(200);
});

test('a person has at most 20 open requests in a repository, even if they come at once', async () => {
  const path = `/v1/repos/${web}/pulls/1/exemptions`;
  const ask = () => acme.call('POST', path, { as: tokens.wes, body: { reason: 'A fix' } });
  const all = await Promise.all(Array.from({ length: 23 }, ask));
  await acme.quiet();
  const statuses = all.map(({ status }) => status).toSorted();
  expect(statuses).toEqual([...Array(20).fill(201), 409, 409, 409]);
  acme.github.requests.clear();
  expect((await ask()).status).toBe(409);
  expect(acme.github.requests.filter(({ path: asked }) => asked.includes('/pulls/'))).toEqual([]);
  await exemptions.decide('deny', web, all.find(({ status }) => status === 201)!.body, tokens.rita);
  expect((await exemptions.request(web, 2, {}, tokens.wes)).status).toBe(201);
});

testOfAmount(
  'a person requests at most 60 exemptions an hour in a repository, even if they withdraw each',
  async () => {
    const path = `/v1/repos/${web}/pulls/1/exemptions`;
    const ask = () => acme.call('POST', path, { as: tokens.wes, body: { reason: 'A fix' } });
    for (let made = 0; made < 60; made++) {
      const { status, body } = await ask();
      expect(status).toBe(201);
      const back = { as: tokens.wes, body: { reason: 'Not needed' } };
      await acme.call('POST', `/v1/repos/${web}/exemptions/${body.id}/revoke`, back);
    }
    const refused = await ask();
    expect([refused.status, refused.body.detail]).toEqual([
      409,
      expect.stringMatching(/within an hour.*Wait/),
    ]);
    await acme.advanceTo(new Date(acme.clock.now() + 3_600_000));
    expect((await ask()).status).toBe(201);
  },
);
