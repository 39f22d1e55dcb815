import { beforeAll, beforeEach, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { signedIn, hiddenOf, Visitor } from '../support/visitor.ts';

// Plans by pages: made, seen, changed, extended and deleted, each once it was seen what that would do.

const acme = acmeForAll();
let ada: Visitor;
let bob: Visitor;
const newPlan = '/owners/acme/plans/new';

beforeAll(async () => {
  acme.github.addUser('mallory');
  await acme.repository('web', [{}], { roles: { bob: 'admin' } });
  await acme.repository('vault', [{}], { private: true });
  ada = await signedIn(acme, 'ada');
  bob = await signedIn(acme, 'bob');
});
// One person changes only so much in a minute.
beforeEach(() => acme.advanceTo(new Date(acme.clock.now() + 120_000)));

const yearEnd = {
  name: 'Year end',
  reason: 'Books are closed',
  include: '*',
  exclude: 'sandbox-*',
  start: '2026-12-24T18:00',
  end: '2027-01-02T08:00',
  zone: 'Europe/Paris',
  repeat: 'every',
  unit: 'year',
  except: '2028-12-24',
  exception: 'label=hotfix',
  matching: 'base=main',
};

/** Of a plan, as its page has it. */
const versionOf = async (visitor: Visitor, path: string) =>
  hiddenOf((await visitor.open(path)).text, 'version');

/** Looks, and presses the button. @returns where that leads. */
async function save(
  visitor: Visitor,
  path: string,
  given: Record<string, string | string[]>,
): Promise<string> {
  const fields = { ...given, version: await versionOf(visitor, path) };
  const seen = await visitor.send(path, { ...fields, step: 'preview' });
  expect(seen.status, seen.text).toBe(200);
  const [previewed, key] = [hiddenOf(seen.text, 'previewed'), hiddenOf(seen.text, 'key')];
  const saved = await visitor.send(path, { ...fields, previewed, key, step: 'save' });
  expect(saved.status, saved.text).toBe(303);
  return saved.location;
}

const planOf = (name: string) => acme.app.deps.db.freezePlan.findFirstOrThrow({ where: { name } });

test('the preview shows how it repeats and the next ten times, and saves nothing', async () => {
  const { text, status } = await ada.send(newPlan, { ...yearEnd, step: 'preview' });
  expect(status).toBe(200);
  expect(text).toContain('Repeats: Every year, except on 2028-12-24');
  expect(text).toMatch(/Thu 24 Dec, 17:00 UTC<\/time\s*><span[^>]*> \(18:00 Paris\)/);
  expect(text).toContain('not on 24 Dec 2028');
  expect(text.split('<table class="occurrences">')[1]!.split('</table>')[0]).not.toContain('24 Dec 2028');
  expect([...text.matchAll(/:00 Paris\)/g)]).toHaveLength(20);
  expect(await acme.app.deps.db.freezePlan.count()).toBe(0);
});

test('a saved plan equals what the API makes', async () => {
  const location = await save(ada, newPlan, yearEnd);
  expect(location).toMatch(/^\/owners\/acme\/plans\/[0-9a-f-]{36}$/);
  const { body } = await acme.call('GET', `/v1/freeze_plans/acme/${location.split('/').at(-1)}`, {
    as: acme.admin,
  });
  expect(body).toMatchObject({
    name: 'Year end',
    reason: 'Books are closed',
    start: '2026-12-24T18:00:00',
    end: '2027-01-02T08:00:00',
    timezone: 'Europe/Paris',
    repositories: { include: ['*'], exclude: ['sandbox-*'] },
    recurrence: { rule: 'FREQ=YEARLY', except: ['2028-12-24'], until: null },
    matching_conditions: ['base=main'],
    exclude_conditions: ['label=hotfix'],
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
  for (const chosen of ['repeat"\\s+value="every', 'unit"\\s+value="year'])
    expect(text).toMatch(new RegExp(`name="${chosen}"\\s+checked`));
  expect(text).toMatch(/name="off"\s+value="2028-12-24"[^>]*checked/);
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
    name: 'Nested',
    reason: 'r',
    repositories: { include: ['web'] },
    start: '2026-06-01T00:00:00',
    end: '2026-06-02T00:00:00',
    timezone: 'UTC',
    matching_conditions: nested,
    exclude_conditions: several,
  };
  const { id } = (await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body })).body;
  const path = `/owners/acme/plans/${id}/edit`;
  const { text } = await ada.open(path);
  expect(text).toContain('{&quot;and&quot;:[&quot;label=a&quot;,&quot;label=b&quot;]}');
  const fields = {
    name: 'Nested',
    reason: 'new',
    include: 'web',
    start: '2026-06-01T00:00',
    end: '2026-06-02T00:00',
    zone: 'UTC',
    repeat: 'once',
    matching: JSON.stringify(nested[0]),
    exceptions: '{"and":["label=a","label=b"]}',
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

test('a time that clocks skip, or show twice, is explained', async () => {
  const night = { name: 'Night', reason: 'r', include: 'web', zone: 'Europe/Paris', repeat: 'once' };
  const spring = await ada.send(newPlan, {
    ...night,
    start: '2026-03-29T02:30',
    end: '2026-03-29T06:00',
    step: 'preview',
  });
  expect(spring.text).toContain('02:30 does not exist that day, so it starts after the gap');
  const autumn = await ada.send(newPlan, {
    ...night,
    start: '2026-10-24T22:00',
    end: '2026-10-25T02:30',
    step: 'preview',
  });
  expect(autumn.text).toMatch(/02:30 comes twice that day. It ends at the\s+second\./);
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
  const extend = async (fields: Record<string, string>) =>
    ada.send(`${path}/extend`, { version: await versionOf(ada, path), ...fields });
  expect((await extend({ by: 'hour' })).location).toBe(path);
  expect(await end()).toBe('2026-03-29T03:30:00');
  await extend({ by: 'day' });
  expect(await end()).toBe('2026-03-30T03:30:00');
  await extend({ by: 'until', end: '2026-03-31T08:00' });
  expect(await end()).toBe('2026-03-31T08:00:00');
  expect((await extend({ by: 'until', end: 'x' })).status).toBe(422);
  expect((await extend({ by: 'week' })).status).toBe(422);
  const version = await versionOf(ada, path);
  expect((await ada.send(`${path}/delete`, { version, delete_reason: '' })).status).toBe(422);
  expect((await ada.send(`${path}/delete`, { version, delete_reason: 'Solved' })).location).toBe(
    `${path}?said=plan-ended`,
  );
  expect((await planOf('Incident')).deleteReason).toBe('Solved');
});

test('a plan that is over, ended or deleted keeps its page, and nobody can change it there', async () => {
  const fromNow = { name: 'Short', start: '', end: '', repeat: 'once', zone: 'UTC' };
  const path = (await save(ada, newPlan, { ...yearEnd, ...fromNow })).replace('/progress?plan=', '/plans/');
  await acme.quiet();
  expect((await ada.open(path)).text).toContain('End now…');
  const version = await versionOf(ada, path);
  await acme.advanceTo(new Date(acme.clock.now() + 3_600_000));
  const ended = await ada.send(`${path}/delete`, { version, delete_reason: 'Solved' });
  const { status, text } = await ada.open(ended.location);
  expect(status).toBe(200);
  expect(text).toMatch(/role="status">The plan has ended\./);
  expect(text).toMatch(/Ended<\/span>[\s\S]*by <bdi>ada<\/bdi>: <q dir="auto">Solved<\/q>/);
  expect(text).toMatch(/Freezes of the last year[\s\S]*<td class="number">2<\/td>/);
  expect(text).not.toMatch(/<form[^>]*\/plans\/|Edit<\/a>/);
  expect((await ada.open(`${path}/edit`)).location).toBe(path);
  expect((await ada.send(`${path}/delete`, { version, delete_reason: 'Again' })).status).toBe(404);
  const plans = (await ada.open('/owners/acme/plans')).text;
  expect(plans).toMatch(/Over<\/h2>[\s\S]*Short<\/bdi>[\s\S]*Ended<\/span>/);
  const mallory = await signedIn(acme, 'mallory');
  expect((await mallory.open(path)).status).toBe(404);
  expect((await mallory.open('/owners/acme/plans')).text).not.toContain('Short');
});

test('people who could have made a plan change it, and people who read all that it matches see it', async () => {
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
  const mallory = await signedIn(acme, 'mallory');
  for (const action of ['edit', 'extend', 'delete'])
    expect((await mallory.send(`${own}/${action}`, { delete_reason: 'x', by: 'day' })).status).toBe(403);
  const version = await versionOf(bob, own);
  expect((await bob.send(`${own}/delete`, { version, delete_reason: 'Done' })).status).toBe(303);
});

test('what a plan holds, and in which environments, is chosen, shown and kept', async () => {
  const fields = {
    name: 'Both',
    reason: 'r',
    include: 'web',
    start: '2026-06-10T00:00',
    end: '2026-06-11T00:00',
    zone: 'UTC',
    repeat: 'once',
    holds: 'both',
    environments: 'prod-*\nstaging',
    on_deployment: 'reject',
  };
  const path = await save(ada, newPlan, fields);
  expect(await planOf('Both')).toMatchObject({
    holds: ['merges', 'deployments'],
    environments: ['prod-*', 'staging'],
    onDeployment: 'reject',
  });
  const { text } = await ada.open(`${path}/edit`);
  expect(text).toMatch(/name="holds"\s+value="both"\s+checked/);
  expect(text).toMatch(/name="on_deployment"\s+value="reject"\s+checked/);
  expect(text).toContain('prod-*\nstaging</textarea>');
  await save(ada, `${path}/edit`, { ...fields, reason: 'again', holds: 'deployments', environments: '' });
  expect(await planOf('Both')).toMatchObject({
    reason: 'again',
    holds: ['deployments'],
    environments: ['*'],
  });
  const bad = {
    ...fields,
    environments: 'x'.repeat(300),
    version: await versionOf(ada, path),
    step: 'preview',
  };
  expect((await ada.send(`${path}/edit`, bad)).text).toContain('id="environments-problem"');
});

const nightly = {
  name: 'Nightly',
  reason: 'Night',
  include: 'web\napi',
  zone: 'UTC',
  repeat: 'every',
  unit: 'day',
  start: '2026-03-01T00:00',
  end: '2026-03-01T18:00',
};

test('of a plan that repeats, the ongoing freeze is extended or ended, and the plan goes on', async () => {
  await acme.repository('api', [{}]);
  const path = await save(ada, newPlan, nightly);
  await acme.quiet();
  const { id } = await planOf('Nightly');
  const on = () =>
    acme.app.deps.db.freeze.findMany({
      where: { planId: id, deletedAt: null, startsAt: { lte: new Date(acme.clock.now()) } },
    });
  const coming = () =>
    acme.app.deps.db.freeze.count({ where: { planId: id, start: '2026-03-02T00:00:00', deletedAt: null } });
  expect(await on()).toHaveLength(2);
  const version = await versionOf(ada, path);
  const twice = [1, 2].map(() => ada.send(`${path}/extend`, { version, by: 'hour' }));
  expect((await Promise.all(twice)).map(({ status }) => status)).toContain(303);
  expect((await ada.send(`${path}/extend`, { version, by: 'hour' })).text).toContain(
    'Somebody changed this plan',
  );
  expect((await ada.send(`${path}/edit`, { ...nightly, version, step: 'preview' })).status).toBe(422);
  expect((await on()).map(({ end }) => end)).toEqual(['2026-03-01T19:00:00', '2026-03-01T19:00:00']);
  expect(await coming()).toBe(2);
  const event = await acme.app.deps.db.auditEvent.findFirstOrThrow({
    where: { type: 'scheduled_freeze.update' },
    orderBy: { id: 'desc' },
  });
  expect(event.metadata).toMatchObject({ updated_by: { type: 'user', name: 'ada' } });
  await acme.quiet();
  const { text } = await ada.open(path);
  expect(text).toContain('End this occurrence');
  expect(text.match(/\/freezes\/[\w-]+"[^]{0,40}: 1 pull request blocked/g)).toHaveLength(2);
  const ongoing = hiddenOf(text, 'ongoing');
  expect((await ada.send('/owners/acme/unfreeze', { ongoing, delete_reason: 'Enough' })).location).toMatch(
    /^\/repos\/acme\?said=unfrozen&undo=\d+-\d+$/,
  );
  expect(await on()).toEqual([]);
  expect(await coming()).toBe(2);
  expect((await ada.open(path)).text).toContain('<span class="badge scheduled">Scheduled</span>');
});

test('if one of several cannot be changed, the others are, and the page says which', async () => {
  await acme.repository('old', [{}]);
  const fields = { ...nightly, name: 'Partly', reason: 'Partly', include: 'old\nweb' };
  const path = await save(ada, newPlan, fields);
  await acme.quiet();
  const { id } = await planOf('Partly');
  const open = await acme.call('GET', '/v1/repos/acme/old/scheduled_freeze', { as: acme.admin });
  await acme.update('acme/old', open.body.scheduled_freezes[0].id, { end: null });
  const ends = async () =>
    (
      await acme.app.deps.db.freeze.findMany({
        where: { planId: id, deletedAt: null, startsAt: { lte: new Date(acme.clock.now()) } },
        orderBy: { repository: { name: 'asc' } },
        include: { repository: true },
      })
    ).map(({ repository, end }) => [repository.name, end]);
  const extended = await ada.send(`${path}/extend`, { version: await versionOf(ada, path), by: 'hour' });
  expect(extended.status).toBe(422);
  expect(extended.text).toContain('<h1>Some freezes were not changed</h1>');
  expect(extended.text).toMatch(/1 freeze was changed, and 1 could not be changed\. It has no end yet/);
  expect(await ends()).toEqual([
    ['old', null],
    ['web', '2026-03-01T19:00:00'],
  ]);
  await ada.send('/owners/acme/unfreeze', { ongoing: `freezes ${id}`, delete_reason: 'x' });
  expect(await ends()).toEqual([]);
  const none = await ada.send('/owners/acme/unfreeze', { ongoing: `freezes ${id}`, delete_reason: 'x' });
  expect([none.status, none.text.includes('Nothing was changed')]).toEqual([422, true]);
});

test('the preview has the warnings of the API', async () => {
  const base = { ...nightly, name: 'Warned', include: 'web', repeat: 'once', start: '', end: '' };
  const loose = await ada.send(newPlan, { ...base, exceptions: 'title~=skip', step: 'preview' });
  expect(loose.text).toContain('The author of a pull request can get it excluded without anybody else');
  const nothing = await ada.send(newPlan, { ...base, matching: 'label=nobody-has-this', step: 'preview' });
  expect(nothing.text).toContain('This freeze holds none of the open pull requests (1).');
  await acme.call('PATCH', '/v1/repos/acme/web/settings', {
    as: acme.admin,
    body: { longest_open_end_hours: 5 },
  });
  const open = await ada.send(newPlan, { ...base, step: 'preview' });
  const given = /In web a freeze without an end is given one .*there this plan ends at 2026-03-01T/;
  expect(open.text).toMatch(given);
  const location = await save(ada, newPlan, base);
  const page = await ada.open(location.replace('/progress?plan=', '/plans/'));
  expect(page.text).toMatch(/In web a freeze without an end is given one/);
});

test('globs, and names in them, are for those who can change the plan', async () => {
  const make = async (include: string[]) => {
    const body = {
      name: 'Sites',
      reason: 'Takeover of Initech',
      public_reason: 'Maintenance',
      repositories: { include, exclude: ['vault'] },
      start: '2026-06-01T00:00:00',
      end: '2026-06-02T00:00:00',
      timezone: 'UTC',
    };
    const { id } = (await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body })).body;
    return `/owners/acme/plans/${id}`;
  };
  const [byGlob, byName] = [await make(['we*']), await make(['web'])];
  const mallory = await signedIn(acme, 'mallory');
  for (const visitor of [new Visitor(acme), mallory, bob]) {
    const { status, text } = await visitor.open(byGlob);
    expect(status).toBe(200);
    expect(text).toContain('acme/web');
    for (const secret of ['vault', 'we*', 'Initech']) expect(text).not.toContain(secret);
  }
  expect((await ada.open(byGlob)).text).toContain('<code>vault</code>');
  for (const [visitor, path] of [
    [mallory, byName],
    [mallory, byGlob],
    [bob, byGlob],
  ] as const) {
    const { status, text } = await visitor.open(`${path}/edit`);
    expect(status).toBe(403);
    expect(text).toContain(
      'Admins of acme can, and admins and freezers of every repository that the plan names.',
    );
    for (const secret of ['vault', 'Initech']) expect(text).not.toContain(secret);
  }
  for (const visitor of [ada, bob]) expect((await visitor.open(`${byName}/edit`)).status).toBe(200);
  for (const path of [byGlob, byName])
    await acme.call('DELETE', `/v1/freeze_plans/acme/${path.split('/').at(-1)}`, { as: acme.admin });
});
