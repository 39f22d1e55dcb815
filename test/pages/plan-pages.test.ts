import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Acme, startAcme } from '../support/acme.ts';
import { Visitor } from '../support/visitor.ts';

// Plans by pages: made, seen, changed, extended and deleted, each once it was seen what that would do.

let acme: Acme;
let ada: Visitor;
let bob: Visitor;
const newPlan = '/owners/acme/plans/new';

beforeAll(async () => {
  acme = await startAcme();
  acme.github.addUser('mallory');
  await acme.repository('web', [{}], { roles: { bob: 'admin' } });
  await acme.repository('vault', [{}], { private: true });
  ada = await signedIn('ada');
  bob = await signedIn('bob');
});
// One person changes only so much in a minute.
beforeEach(() => acme.advanceTo(new Date(acme.clock.now() + 120_000)));
afterAll(() => acme.close());

async function signedIn(login: string): Promise<Visitor> {
  const visitor = new Visitor(acme);
  await visitor.signIn(login);
  return visitor;
}

const yearEnd = {
  ...{ name: 'Year end', reason: 'Books are closed', include: '*', exclude: 'sandbox-*' },
  ...{ start: '2026-12-24T18:00', end: '2027-01-02T08:00', zone: 'Europe/Paris', repeat: 'yearly' },
  ...{ except: '2028-12-24', exception: 'label=hotfix', matching: 'base=main' },
};

const hiddenOf = (text: string, name: string): string =>
  new RegExp(`name="${name}"\\s+value="([^"]*)"`).exec(text)?.[1] ?? '';

/** Looks, and presses the button. @returns where that leads. */
async function save(visitor: Visitor, path: string, fields: Record<string, string>): Promise<string> {
  const seen = await visitor.send(path, { ...fields, step: 'preview' });
  expect(seen.status, seen.text).toBe(200);
  const [previewed, key] = [hiddenOf(seen.text, 'previewed'), hiddenOf(seen.text, 'key')];
  const saved = await visitor.send(path, { ...fields, previewed, key, step: 'save' });
  expect(saved.status, saved.text).toBe(303);
  return saved.location;
}

const planOf = (name: string) => acme.app.deps.db.freezePlan.findFirstOrThrow({ where: { name } });

test('the preview shows the rule and the next ten times, and saves nothing', async () => {
  const { text, status } = await ada.send(newPlan, { ...yearEnd, step: 'preview' });
  expect(status).toBe(200);
  expect(text).toContain('<code>FREQ=YEARLY</code>');
  expect(text).toMatch(/2026-12-24 18:00 Europe\/Paris[\s\S]*\(2026-12-24 17:00 UTC\)/);
  expect(text).not.toContain('2028-12-24 18:00');
  expect([...text.matchAll(/<noscript>/g)]).toHaveLength(20);
  expect(await acme.app.deps.db.freezePlan.count()).toBe(0);
});

test('a saved plan is what the API would have made of it', async () => {
  const location = await save(ada, newPlan, yearEnd);
  expect(location).toMatch(/^\/owners\/acme\/plans\/[0-9a-f-]{36}$/);
  const { body } = await acme.call('GET', `/v1/freeze_plans/acme/${location.split('/').at(-1)}`, {
    as: acme.admin,
  });
  expect(body).toMatchObject({
    ...{
      name: 'Year end',
      reason: 'Books are closed',
      start: '2026-12-24T18:00:00',
      end: '2027-01-02T08:00:00',
    },
    ...{ timezone: 'Europe/Paris', repositories: { include: ['*'], exclude: ['sandbox-*'] } },
    recurrence: { rule: 'FREQ=YEARLY', except: ['2028-12-24'], until: null },
    ...{ matching_conditions: ['base=main'], exclude_conditions: ['label=hotfix'] },
    created_by: { type: 'user', name: 'ada' },
  });
  const page = await ada.open(location);
  expect(page.text).toContain('Books are closed');
  expect(page.text).toContain(body.id);
  expect((await ada.open('/repos/acme')).text).toContain(`href="${location}"`);
});

test('a form that is opened and saved as it is changes nothing', async () => {
  const { id } = await planOf('Year end');
  const before = (await acme.call('GET', `/v1/freeze_plans/acme/${id}`, { as: acme.admin })).body;
  const { text } = await ada.open(`/owners/acme/plans/${id}/edit`);
  expect(text).toMatch(/name="repeat"\s+value="yearly"\s+checked/);
  expect(text).toMatch(/name="exception"\s+value="label=hotfix"\s+checked/);
  await save(ada, `/owners/acme/plans/${id}/edit`, yearEnd);
  expect((await acme.call('GET', `/v1/freeze_plans/acme/${id}`, { as: acme.admin })).body).toEqual(before);
  await save(ada, `/owners/acme/plans/${id}/edit`, { ...yearEnd, reason: 'Audit', end: '2027-01-03T08:00' });
  const after = (await acme.call('GET', `/v1/freeze_plans/acme/${id}`, { as: acme.admin })).body;
  expect(after).toEqual({
    ...before,
    reason: 'Audit',
    end: '2027-01-03T08:00:00',
    next_occurrences: expect.anything(),
  });
});

test('nested conditions are lines of JSON, and the same in other words is no change', async () => {
  const nested = [{ and: ['base=main', { not: 'label=x' }] }];
  const several = ['label=a', 'label=b'];
  const body = {
    ...{ name: 'Nested', reason: 'r', repositories: { include: ['web'] }, start: '2026-06-01T00:00:00' },
    ...{
      end: '2026-06-02T00:00:00',
      timezone: 'UTC',
      matching_conditions: nested,
      exclude_conditions: several,
    },
  };
  const { id } = (await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body })).body;
  const path = `/owners/acme/plans/${id}/edit`;
  const { text } = await ada.open(path);
  expect(text).toContain('{&quot;and&quot;:[&quot;label=a&quot;,&quot;label=b&quot;]}');
  const fields = {
    ...{ name: 'Nested', reason: 'new', include: 'web', start: '2026-06-01T00:00', end: '2026-06-02T00:00' },
    ...{
      zone: 'UTC',
      repeat: 'once',
      matching: JSON.stringify(nested[0]),
      exceptions: '{"and":["label=a","label=b"]}',
    },
  };
  await save(ada, path, fields);
  const plan = async () => (await acme.call('GET', `/v1/freeze_plans/acme/${id}`, { as: acme.admin })).body;
  expect(await plan()).toMatchObject({
    reason: 'new',
    matching_conditions: nested,
    exclude_conditions: several,
  });
  await save(ada, path, { ...fields, exception: 'label=hotfix', exceptions: 'label=a' });
  expect((await plan()).exclude_conditions).toEqual([{ or: ['label=hotfix', 'label=a'] }]);
});

test('a time that clocks leave out, or show twice, is explained', async () => {
  const night = { name: 'Night', reason: 'r', include: 'web', zone: 'Europe/Paris', repeat: 'once' };
  const spring = await ada.send(newPlan, {
    ...night,
    start: '2026-03-29T02:30',
    end: '2026-03-29T06:00',
    step: 'preview',
  });
  expect(spring.text).toContain('there is no 02:30 that day, so it starts after the gap');
  const autumn = await ada.send(newPlan, {
    ...night,
    start: '2026-10-24T22:00',
    end: '2026-10-25T02:30',
    step: 'preview',
  });
  expect(autumn.text).toMatch(/02:30 comes twice that day. It ends at the\s+second\./);
});

test('what is wrong is said at its field', async () => {
  const answer = await ada.send(newPlan, {
    ...yearEnd,
    zone: 'Europe/Pariss',
    repeat: 'rule',
    rule: 'FREQ=SOMETIMES',
    step: 'preview',
  });
  expect(answer.status).toBe(422);
  for (const field of ['zone', 'rule']) expect(answer.text).toContain(`id="${field}-problem"`);
  expect(answer.text).toContain('FREQ=SOMETIMES');
  const empty = await ada.send(newPlan, { ...yearEnd, include: '', step: 'preview' });
  expect(empty.text).toContain('id="include-problem"');
});

test('a plan is extended by an hour, by a day, until a time, and deleted with a reason', async () => {
  const fields = { name: 'Incident', reason: 'r', include: 'web', zone: 'Europe/Paris', repeat: 'once' };
  const location = await save(ada, newPlan, {
    ...fields,
    start: '2026-03-28T12:00',
    end: '2026-03-29T01:30',
  });
  const path = location.replace('/progress?plan=', '/plans/');
  const end = async () => (await planOf('Incident')).end;
  // Across the night in which clocks go forward: an hour is one of real time.
  expect((await ada.send(`${path}/extend`, { by: 'PT1H' })).location).toBe(path);
  expect(await end()).toBe('2026-03-29T03:30:00');
  await ada.send(`${path}/extend`, { by: 'P1D' });
  expect(await end()).toBe('2026-03-30T03:30:00');
  await ada.send(`${path}/extend`, { by: 'until', until: '2026-03-31T08:00' });
  expect(await end()).toBe('2026-03-31T08:00:00');
  expect((await ada.send(`${path}/extend`, { by: 'until', until: 'x' })).status).toBe(422);
  expect((await ada.send(`${path}/delete`, { delete_reason: '' })).status).toBe(422);
  expect((await ada.send(`${path}/delete`, { delete_reason: 'Solved' })).location).toBe(
    '/repos/acme?said=plan-deleted',
  );
  expect((await planOf('Incident')).deleteReason).toBe('Solved');
  expect((await ada.open(path)).status).toBe(404);
});

test('a plan is for who could have made it, and seen by who reads all that it matches', async () => {
  const own = await save(bob, newPlan, {
    name: 'Of Bob',
    reason: 'r',
    include: 'web',
    start: '2026-05-01T00:00',
    end: '2026-05-02T00:00',
    zone: 'UTC',
    repeat: 'once',
  });
  expect((await bob.open(own)).text).toContain('Of Bob');
  const { id } = await planOf('Year end');
  const path = `/owners/acme/plans/${id}`;
  expect((await bob.open(path)).status).toBe(404);
  expect((await bob.send(`${path}/delete`, { delete_reason: 'x' })).status).toBe(403);
  expect((await bob.send(`${own}/edit`, { include: 'web\nvault', step: 'save' })).status).toBe(403);
  expect((await bob.send(newPlan, { ...yearEnd, step: 'preview' })).status).toBe(403);
  const mallory = await signedIn('mallory');
  for (const action of ['edit', 'extend', 'delete'])
    expect((await mallory.send(`${own}/${action}`, { delete_reason: 'x', by: 'P1D' })).status).toBe(403);
  expect((await bob.send(`${own}/delete`, { delete_reason: 'Done' })).status).toBe(303);
});
