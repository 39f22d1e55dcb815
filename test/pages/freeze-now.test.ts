import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { signedIn, hiddenOf, Visitor } from '../support/visitor.ts';

// A freeze by a page: a form, what it would do, one button, and a page that follows how GitHub comes to hold it.

const acme = acmeForAll();
let ada: Visitor;
const form = '/owners/acme/freeze';

beforeAll(async () => {
  acme.github.addUser('mallory');
  await acme.repository('web', [{}, { labels: ['hotfix'] }], { roles: { bob: 'admin' } });
  await acme.repository('api', [{}], { roles: { bob: 'admin' } });
  await acme.repository('infra', [{}], { protect: {} });
  await acme.repository('old', []);
  ada = await signedIn(acme, 'ada');
});
beforeEach(async () => {
  // The freezes of a test end before the next one.
  for (const [name] of await frozen()) {
    await ada.send('/owners/acme/unfreeze', {
      repository: name!,
      ongoing: (await ongoingValues(ada, name!)) as string[],
      delete_reason: 'Next test',
    });
  }
  // One person changes only so much in a minute.
  await acme.advanceTo(new Date(acme.clock.now() + 120_000));
  expect(await frozen()).toEqual([]);
});

/** The ongoing freezes: names and reasons. */
async function frozen(): Promise<string[][]> {
  const now = new Date(acme.clock.now());
  const rows = await acme.app.deps.db.freeze.findMany({
    where: { deletedAt: null, startsAt: { lte: now }, OR: [{ endsAt: null }, { endsAt: { gt: now } }] },
    include: { repository: true },
    orderBy: { repository: { name: 'asc' } },
  });
  return rows.map(({ repository, reason }) => [repository.name, reason]);
}

async function ongoingValues(visitor: Visitor, repository: string): Promise<string[]> {
  const { text } = await visitor.open(`/owners/acme/unfreeze?repository=${repository}`);
  return [...text.matchAll(/name="ongoing"\s+value="([^"]+)"/g)].map(([, value]) => value!);
}

/** Sends the form, looks, and presses the button. */
async function freeze(visitor: Visitor, fields: Record<string, string | string[]>) {
  const seen = await visitor.send(form, { ...fields, step: 'preview' });
  expect(seen.status, seen.text).toBe(200);
  const [previewed, key] = [hiddenOf(seen.text, 'previewed'), hiddenOf(seen.text, 'key')];
  const press = () => visitor.send(form, { ...fields, previewed, key, step: 'freeze' });
  return { seen, press };
}

test('the form asks, and an address ticks repositories', async () => {
  const { text } = await ada.open(`${form}?repository=web&repository=api`);
  expect(text).toMatch(/name="repository"\s+value="web"\s+checked/);
  expect(text).not.toMatch(/name="repository"\s+value="infra"\s+checked/);
  expect((await new Visitor(acme).open(form)).location).toContain('/auth/sign-in?to=');
});

test('the preview changes nothing; the button makes a plan of all repositories, and says who', async () => {
  const { seen, press } = await freeze(ada, {
    which: 'all',
    reason: 'INC-4711',
    duration: '2h',
    exception: 'label=hotfix',
  });
  expect(seen.text).toMatch(/<strong>2 pull requests<\/strong>\s+in 2 repositories/);
  expect(seen.text).toContain('1 would not: nothing requires the check in infra.');
  expect(seen.text).toContain('All 2 pull requests are blocked within about');
  expect(seen.text).toContain('Freeze 4 repositories');
  expect(seen.text).toContain('/repos/acme/infra#enforcement');
  expect(await frozen()).toEqual([]);
  const made = await press();
  expect([made.status, made.location.split('?')[0]]).toEqual([303, '/owners/acme/progress']);
  await acme.quiet();
  expect((await frozen()).map(([name]) => name)).toEqual(['api', 'infra', 'old', 'web']);
  expect(acme.frozen('acme/web')).toEqual([1]);
  const [event] = await acme.app.deps.db.auditEvent.findMany({
    where: { type: 'freeze_plan.create' },
    orderBy: { id: 'desc' },
    take: 1,
  });
  expect(event!.metadata).toMatchObject({
    created_by: { type: 'user', name: 'ada' },
    freeze_plan_attributes: {
      exclude_conditions: ['label=hotfix'],
      end: new Date(acme.clock.now() + 2 * 3_600_000).toISOString().slice(0, 19),
      timezone: 'UTC',
    },
  });
  await vi.waitFor(async () =>
    expect((await ada.open(made.location)).text).toMatch(
      /2 of 3 pull requests<\/strong\s*>\s*blocked on GitHub in 4 repositories/,
    ),
  );
  // GitHub says that it would merge the one in infra.
  for (const seconds of [10, 20]) await acme.advanceTo(new Date(acme.clock.now() + seconds * 1000));
  const live = await ada.open(made.location);
  expect(live.text).toContain('/repos/acme/infra#enforcement');
});

test('one repository gets a freeze, and the page follows its progress', async () => {
  const { press } = await freeze(ada, {
    which: 'ticked',
    repository: 'api',
    reason: 'Just this',
    duration: 'open',
  });
  const { location } = await press();
  expect(location).toContain('?freeze=');
  await acme.quiet();
  expect(await frozen()).toEqual([['api', 'Just this']]);
  const plans = await acme.app.deps.db.freezePlan.count({ where: { reason: 'Just this' } });
  expect(plans).toBe(0);
  expect((await ada.open(location)).text).toMatch(/1 pull request<\/strong\s*>\s*blocked on GitHub/);
});

test('tapped twice, it is made once', async () => {
  const { press } = await freeze(ada, {
    which: 'ticked',
    repository: ['api', 'web'],
    reason: 'Twice',
    duration: '1h',
  });
  const [one, other] = await Promise.all([press(), press()]);
  expect(one.location).toBe(other.location);
  expect(one.location).toContain('?plan=');
  expect(await frozen()).toHaveLength(2);
});

test('a form that changed after the preview is shown again, not carried out', async () => {
  const { seen } = await freeze(ada, { which: 'ticked', repository: 'api', reason: 'Seen', duration: '1h' });
  const [previewed, key] = [hiddenOf(seen.text, 'previewed'), hiddenOf(seen.text, 'key')];
  const changed = { which: 'ticked', repository: ['api', 'web'], reason: 'Seen', duration: '1h' };
  const answer = await ada.send(form, { ...changed, previewed, key, step: 'freeze' });
  expect(answer.status).toBe(200);
  expect(answer.text).toContain('Freeze 2 repositories');
  expect(answer.text).toMatch(
    /Nothing was changed yet\.<\/strong> You changed Repositories after the preview/,
  );
  expect(await frozen()).toEqual([]);
  // The button is where it was, and does what this preview shows.
  const again = { previewed: hiddenOf(answer.text, 'previewed'), key: hiddenOf(answer.text, 'key') };
  expect((await ada.send(form, { ...changed, ...again, step: 'freeze' })).status).toBe(303);
  expect(await frozen()).toHaveLength(2);
});

test('the preview says until when', async () => {
  const until = async (duration: string, zone: string) => {
    const fields = { which: 'ticked', repository: 'api', reason: 'Seen', duration, zone };
    const { text } = await ada.send(form, { ...fields, step: 'preview' });
    return /Starts now, ([^.]*)\./.exec(text.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' '))?.[1];
  };
  expect(await until('2h', 'Europe/Berlin')).toMatch(
    /^until Sun 1 Mar, (\d\d):(\d\d) UTC \((\d\d):\2 Berlin\) \(in (2 h|1 h 59 min)\)$/,
  );
  expect(await until('open', 'UTC')).toBe('until you remove it');
});

test('while GitHub is slow, the preview shows what is known, says what is not, and more when it is asked for', async () => {
  const slow = acme.github.faults.add({
    match: { path: /\/repos\/acme\/web\// },
    kind: 'delay',
    ms: 600_000,
  });
  const preview = async () => {
    const fields = { which: 'all', reason: 'Slow', duration: '1h', step: 'preview' };
    const { text } = await ada.sendOnce(form, fields);
    const row = (name: string) => new RegExp(`<th scope="row">${name}</th>[\\s\\S]*?</tr>`).exec(text)?.[0];
    return { text, row };
  };
  const { text, row } = await preview();
  expect(text).toMatch(/Holdfast has looked at \d of 4 repositories so far/);
  expect(text).toMatch(/At least\s*<strong>/);
  expect(row('web')).toBeUndefined();
  expect(text).toMatch(/Not looked at yet: \d<\/summary>\s*<p>\s*[^<]*\bweb\b/);
  expect(text).toContain('<div class="look" data-fills-in');
  slow.remove();
  await vi.waitFor(async () => {
    const filled = await preview();
    expect(filled.text).not.toMatch(/so far|data-fills-in|At least/);
    expect(filled.row('web')).toMatch(/<td class="number">2</);
  });
});

test('what GitHub did not say is said to be unknown, and asked again', async () => {
  await acme.repository('unsaid', [{}]);
  const down = acme.github.faults.add({
    match: { path: /\/repos\/acme\/unsaid\/(rules|branches)/ },
    kind: 'status',
    status: 502,
  });
  const { text } = await ada.send(form, {
    which: 'ticked',
    repository: ['unsaid'],
    reason: 'Unsaid',
    duration: '1h',
    step: 'preview',
  });
  down.remove();
  expect(text).toContain('It is not known whether GitHub would block 1 in unsaid.');
  expect(text).toContain('<p>If GitHub requires the check: ');
  expect(text).toContain('<div class="look" data-asks-again');
  expect(text).toMatch(/Unknown\s*<a href="\/repos\/acme\/unsaid#enforcement">Why<\/a>/);
});

test('an error is at its field, and nothing is lost', async () => {
  const answer = await ada.send(form, {
    which: 'ticked',
    reason: '',
    exceptions: 'lable=hotfix\nbase=main',
    step: 'preview',
  });
  expect(answer.status).toBe(422);
  expect(answer.text).toContain('Nothing was changed.');
  expect(answer.text).toContain('id="reason-problem"');
  expect(answer.text).toContain('Select at least one repository.');
  const more = await ada.send(form, {
    which: 'all',
    reason: 'x',
    exceptions: 'lable=hotfix\nbase=main',
    step: 'preview',
  });
  expect(more.status).toBe(422);
  expect(more.text).toContain('id="exceptions-problem"');
  expect(more.text).toContain('lable=hotfix');
});

test('of repositories that are not there, five are named', async () => {
  const repository = ['web', ...Array.from({ length: 6 }, (_, index) => `absent-${index}`)];
  const { status, text } = await ada.send(form, {
    which: 'ticked',
    reason: 'x',
    repository,
    step: 'preview',
  });
  expect(status).toBe(422);
  expect(text.match(/acme has no repository absent-\d where/g)).toHaveLength(5);
});

test('a person who administers some repositories freezes those; nobody else freezes anything', async () => {
  const bob = await signedIn(acme, 'bob');
  const { press } = await freeze(bob, {
    which: 'ticked',
    repository: ['api', 'web'],
    reason: 'Bob',
    duration: '1h',
  });
  expect((await press()).status).toBe(303);
  expect((await bob.send(form, { which: 'all', reason: 'All', step: 'preview' })).status).toBe(403);
  expect(
    (await bob.send(form, { which: 'ticked', repository: ['api', 'infra'], reason: 'x', step: 'preview' }))
      .status,
  ).toBe(403);
  const mallory = await signedIn(acme, 'mallory');
  expect(
    (await mallory.send(form, { which: 'ticked', repository: 'web', reason: 'x', step: 'freeze' })).status,
  ).toBe(403);
  expect((await frozen()).map(([name]) => name)).toEqual(['api', 'web']);
});

test('until 08:00 the next morning uses the chosen clock', async () => {
  const { press } = await freeze(ada, {
    which: 'ticked',
    repository: 'api',
    reason: 'Night',
    duration: 'morning',
    zone: 'Asia/Tokyo',
  });
  await press();
  const row = await acme.app.deps.db.freeze.findFirstOrThrow({ where: { reason: 'Night' } });
  expect([row.end, row.timezone, row.endsAt?.toISOString()]).toEqual([
    '2026-03-02T08:00:00',
    'Asia/Tokyo',
    '2026-03-01T23:00:00.000Z',
  ]);
});

test('the progress moves by itself, until GitHub holds all', async () => {
  const { press } = await freeze(ada, {
    which: 'ticked',
    repository: ['api', 'web'],
    reason: 'Live',
    duration: '1h',
  });
  const { location } = await press();
  const isMoving = (text: string) => /<main\s[^>]*data-live="[^"]+" data-again/.test(text);
  // Without scripts, it is loaded again and again.
  const first = (await ada.open(location)).text;
  expect(first.includes('http-equiv="refresh"')).toBe(isMoving(first));
  await acme.quiet();
  const last = async () => (await ada.open(location)).text;
  await vi.waitUntil(async () => !isMoving(await last()));
  expect(await last()).toContain('3 pull requests');
  expect(await last()).toMatch(/<main\s[^>]*data-live="\/owners\/acme\/live[^"]+"\s*>/);
  const mallory = await signedIn(acme, 'mallory');
  expect((await mallory.open('/owners/acme/progress?plan=7c1fd4c0-0000-4000-8000-000000000000')).status).toBe(
    404,
  );
  expect((await mallory.open('/owners/acme/progress?plan=x')).status).toBe(404);
});

test('a part of a plan is unfrozen by its freezes, all of it with the plan', async () => {
  const { press } = await freeze(ada, {
    which: 'ticked',
    repository: ['api', 'web'],
    reason: 'Both',
    duration: 'open',
  });
  await press();
  const [part] = await ongoingValues(ada, 'api');
  expect(part).toMatch(/^freezes /);
  const unfreeze = { repository: 'api', ongoing: part!, delete_reason: 'Over here' };
  expect((await ada.send('/owners/acme/unfreeze', { ...unfreeze, delete_reason: ' ' })).status).toBe(422);
  const done = await ada.send('/owners/acme/unfreeze', unfreeze);
  expect(done.location).toMatch(/^\/repos\/acme\?said=unfrozen&undo=\d+-\d+$/);
  expect((await ada.open(done.location)).text).toContain(
    'Pull requests that no other freeze blocks can merge within seconds.',
  );
  expect(await frozen()).toEqual([['web', 'Both']]);
  const plans = () => acme.app.deps.db.freezePlan.findFirstOrThrow({ where: { reason: 'Both' } });
  expect((await plans()).deletedAt).toBeNull();
  const { text } = await ada.open('/owners/acme/unfreeze');
  const [whole] = [...text.matchAll(/name="ongoing"\s+value="([^"]+)"/g)].map(([, value]) => value!);
  expect(whole).toMatch(/^plan /);
  await ada.send('/owners/acme/unfreeze', { ongoing: whole!, delete_reason: 'Over' });
  expect(await frozen()).toEqual([]);
  expect((await plans()).deleteReason).toBe('Over');
});

test('a person who does not administer a repository unfreezes nothing in it', async () => {
  await acme.freeze('acme/infra', { reason: 'Stays' });
  const bob = await signedIn(acme, 'bob');
  for (const fields of [{ repository: ['infra'] }, { repository: [] }]) {
    const answer = await bob.send('/owners/acme/unfreeze', { ...fields, ongoing: 'x', delete_reason: 'x' });
    expect(answer.status).toBe(403);
  }
  expect(await frozen()).toEqual([['infra', 'Stays']]);
});

test('a plan that one could not have made is not ended as a whole', async () => {
  const body = {
    name: 'By pattern',
    reason: 'By pattern',
    repositories: { include: ['ap?'] },
    start: null,
    end: null,
    timezone: 'UTC',
  };
  const { id } = (await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body })).body;
  const bob = await signedIn(acme, 'bob');
  const [ongoing] = await ongoingValues(bob, 'api');
  expect(ongoing).toBe(`freezes ${id}`);
  const forged = { repository: 'api', ongoing: `plan ${id}`, delete_reason: 'x' };
  expect((await bob.send('/owners/acme/unfreeze', forged)).status).toBe(422);
  await bob.send('/owners/acme/unfreeze', { ...forged, ongoing: ongoing! });
  expect(await frozen()).toEqual([]);
  const plan = await acme.app.deps.db.freezePlan.findUniqueOrThrow({ where: { id } });
  expect(plan.deletedAt).toBeNull();
});
