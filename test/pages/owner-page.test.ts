import { beforeAll, describe, expect, test, vi } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { expectAtMost, statementsDuring } from '../support/statements.ts';
import { Visitor, words } from '../support/visitor.ts';

// All repositories of an owner on one page: for everybody as far as they can read them.

const acme = acmeForAll();
const visitors = new Map<string, Visitor>();
const page = async (login: string, query = '') =>
  (await visitors.get(login)!.open(`/repos/acme${query}`)).text;

/** The cards of the overview with a reason: what is frozen, then what comes. */
const groupsOf = (text: string, reason: string): string[] =>
  (text.slice(text.indexOf('id="frozen"')).match(/<li class="card">[^]*?<\/li>/g) ?? [])
    .filter((each) => each.includes(`>${reason}</a>`))
    .map((each) => each.replaceAll(/\s+/g, ' '));
const groupOf = (text: string, reason: string): string => groupsOf(text, reason)[0] ?? '';

/** The names of the table's rows, in their order. */
const rowsOf = (text: string): string[] =>
  [...text.matchAll(/<th scope="row">\s*<a href="\/repos\/acme\/([\w.-]+)"/g)].map(([, name]) => name!);
const rowOf = (text: string, name: string): string => {
  const from = text.indexOf(`<a href="/repos/acme/${name}"`, text.indexOf('id="repositories"'));
  return text.slice(from, text.indexOf('</tr>', from));
};

beforeAll(async () => {
  for (const login of ['mallory', 'rita', 'wes']) acme.github.addUser(login);
  await acme.repository('web', [{}, {}], { roles: { wes: 'write' } });
  await acme.repository('api', [{}], { protect: {} });
  await acme.repository('docs');
  await acme.repository('calm');
  await acme.repository('vault', [{}], { private: true, roles: { rita: 'read' } });
  await acme.repository('secret', [], { private: true });
  await acme.freeze('acme/web', {
    reason: 'INC-4711',
    public_reason: 'Incident',
    end: '2026-03-01T12:00:00',
  });
  await acme.freeze('acme/api', { reason: 'Books' });
  await acme.freeze('acme/docs', {
    reason: 'Easter',
    start: '2026-03-05T00:00:00',
    end: '2026-03-09T00:00:00',
  });
  for (const login of ['ada', 'rita', 'mallory']) {
    const visitor = new Visitor(acme);
    await visitor.signIn(login);
    visitors.set(login, visitor);
  }
  visitors.set('nobody', new Visitor(acme));
});

test('an admin sees every repository, what matters now first', async () => {
  const text = await page('ada');
  expect(rowsOf(text).slice(0, 3).toSorted()).toEqual(['api', 'docs', 'web']);
  expect(rowsOf(text)[2]).toBe('docs');
  expect(rowsOf(text)).toHaveLength(6);
  expect(rowOf(text, 'web')).toMatch(/Frozen[\s\S]*until[\s\S]*Sun 1 Mar, 12:00 UTC/);
  expect(rowOf(text, 'web')).toContain('INC-4711');
  expect(rowOf(text, 'docs')).toMatch(/Scheduled[\s\S]*Thu 5 Mar, 00:00 UTC/);
  expect(rowOf(text, 'calm')).toContain('Free');
  expect(words({ text })).toContain('2 of 6 repositories of acme are frozen');
});

test('what is on is the state of a row, and what comes stands beside it', async () => {
  const { id } = await acme.freeze('acme/docs', { holds: ['deployments'], reason: 'Servers' });
  const row = words({ text: rowOf(await page('ada'), 'docs') });
  expect(row).toMatch(/(Deployments not enforced|Freeze of deployments) merges from Thu 5 Mar, 00:00 UTC/);
  expect(row).not.toContain('Scheduled');
  await acme.remove('acme/docs', id);
});

test('what is frozen now and what comes next is a row for each freeze, above the repositories', async () => {
  const text = await page('ada');
  const web = groupOf(text, 'INC-4711');
  expect(web).toMatch(/href="\/repos\/acme\/web\/freezes\/[\w-]+" dir="auto">INC-4711/);
  expect(web).toMatch(/Frozen<\/span>\s*until[\s\S]*Sun 1 Mar, 12:00 UTC/);
  expect(web).toContain('by <bdi>the application key admin key</bdi>');
  expect(web).toContain('2 pull requests blocked');
  expect(groupOf(text, 'Books')).toMatch(/until removed/);
  expect(groupOf(text, 'Easter')).toMatch(/Scheduled<\/span>\s*from[\s\S]*Thu 5 Mar, 00:00 UTC/);
  expect(text.indexOf('>INC-4711<')).toBeLessThan(text.indexOf('id="next"'));
  expect(text.lastIndexOf('>Easter<')).toBeGreaterThan(text.indexOf('id="next"'));
  const outside = await page('mallory');
  expect(groupOf(outside, 'Incident')).toContain('2 pull requests blocked');
  expect(groupOf(outside, 'Incident')).not.toContain('by <bdi>');
});

test('what a plan did to many repositories is one row, which leads to the plan', async () => {
  const names = ['web', 'api', 'docs', 'calm'];
  const body = {
    name: 'Tenth',
    reason: 'Tenth anniversary',
    repositories: { include: names },
    start: '2026-03-01T08:00:00',
    end: '2026-03-01T18:00:00',
    timezone: 'UTC',
    recurrence: { rule: 'FREQ=YEARLY' },
  };
  const { body: plan } = await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body });
  await acme.quiet();
  const text = await page('ada');
  const row = groupOf(text, 'Tenth anniversary');
  expect(row).toContain(`<a href="/owners/acme/plans/${plan.id}">4 repositories</a>`);
  expect(row).toContain('3 pull requests blocked');
  expect(groupsOf(text, 'Tenth anniversary')).toHaveLength(2);
  // Its freezes do not exist yet.
  expect(text.slice(text.indexOf('id="next"'))).toMatch(/Tenth anniversary[\s\S]*Mon 1 Mar 2027, 08:00/);
  expect(await page('mallory')).toMatch(
    /Tenth anniversary[\s\S]*\?state=frozen#repositories">4 repositories/,
  );
  // One of them ends by itself.
  const list = await acme.call('GET', '/v1/repos/acme/calm/scheduled_freeze', { as: acme.admin });
  const own = list.body.scheduled_freezes.find(({ reason }: { reason: string }) => reason === body.reason);
  await acme.update('acme/calm', own.id, { end: '2026-03-01T11:00:00' });
  const saysBoth = /the first until Sun 1 Mar, 11:00 UTC\s*, the last until Sun 1 Mar, 18:00 UTC/;
  const differing = await page('ada');
  expect(words({ text: groupOf(differing, 'Tenth anniversary') })).toMatch(saysBoth);
  // The first line, other pages of the group, and its bar in the calendar.
  expect(words({ text: differing })).toMatch(
    /are frozen: the first until Sun 1 Mar, 11:00 UTC\s*, the last until removed/,
  );
  expect(differing).not.toMatch(/at the latest|or earlier/);
  for (const path of [`/owners/acme/plans/${plan.id}`, '/owners/acme/unfreeze'])
    expect(words(await visitors.get('ada')!.open(path))).toMatch(
      / 1 until Sun 1 Mar, 11:00 UTC\s*, 3 until Sun 1 Mar, 18:00 UTC /,
    );
  expect(words(await visitors.get('ada')!.open('/owners/acme/calendar'))).toContain(
    'to 18:00, the first until Sun 1 Mar, 11:00',
  );
  await acme.remove('acme/calm', own.id);
  await acme.call('POST', `/v1/freeze_plans/acme/${plan.id}/delete`, {
    as: acme.admin,
    body: { delete_reason: 'Done' },
  });
  await acme.quiet();
});

test('a freeze whose open pull requests were not checked yet is not judged yet', async () => {
  const { db } = acme.app.deps;
  const { id, reconciledAt } = await db.repository.findFirstOrThrow({ where: { nameKey: 'api' } });
  await db.repository.update({ where: { id }, data: { reconciledAt: new Date('2026-02-01T00:00:00Z') } });
  const text = await page('ada');
  expect(text).toContain('1 not judged yet');
  expect(groupOf(text, 'Books')).toContain('1 repository not judged yet');
  await db.repository.update({ where: { id }, data: { reconciledAt } });
  expect(await page('ada')).not.toContain('ot judged yet');
});

test('GitHub is asked whether it is enforced, and a late answer is there next time', async () => {
  await page('ada');
  await acme.quiet();
  const text = await page('ada');
  expect(rowOf(text, 'web')).toMatch(/of-enforced">\s*Yes/);
  expect(rowOf(text, 'api')).toContain('<strong class="leaking">No</strong>');
  expect(rowOf(text, 'calm')).not.toContain('leaking');
  expect(groupOf(text, 'Books')).toContain('Not enforced in 1 repository');
  expect(rowsOf(await page('ada'))[0]).toBe('api');
  expect(rowsOf(await page('ada', '?state=trouble'))).toEqual(['api']);
  expect(rowsOf(await page('mallory', '?state=trouble'))).toEqual([]);
});

test('who cannot freeze sees no button for it, and the form says why', async () => {
  const [form, buttons] = ['/owners/acme/freeze', /Freeze now|Unfreeze|New plan/];
  expect(await page('ada')).toMatch(buttons);
  expect(await page('rita')).not.toMatch(buttons);
  const refused = await visitors.get('rita')!.open(form);
  expect(refused.status).toBe(403);
  expect(refused.text).toContain('an admin of acme or of a repository of acme that you can see');
  for (const path of ['/owners/acme/unfreeze', '/owners/acme/plans/new'])
    expect((await visitors.get('rita')!.open(path)).status).toBe(403);
  acme.github.setRole('acme/web', 'rita', 'admin');
  await acme.advanceTo(new Date(acme.clock.now() + 61_000));
  expect(await page('rita')).toMatch(buttons);
  expect((await visitors.get('rita')!.open(form)).status).toBe(200);
  acme.github.setRole('acme/web', 'rita', 'read');
  await acme.advanceTo(new Date(acme.clock.now() + 61_000));
});

test('others see what they can read, and public reasons; without any, there is no page', async () => {
  expect(rowsOf(await page('rita')).toSorted()).toEqual(['api', 'calm', 'docs', 'vault', 'web']);
  for (const login of ['mallory', 'nobody']) {
    const text = await page(login);
    expect(rowsOf(text).toSorted()).toEqual(['api', 'calm', 'docs', 'web']);
    expect(rowOf(text, 'web')).toContain('Incident');
    expect(text).not.toContain('INC-4711');
    expect(text).not.toMatch(/vault|secret/);
  }
  const known = await visitors.get('nobody')!.open('/repos/acme');
  expect(known.text).not.toContain('Freeze now');
});

test('an owner of only private repositories looks like an unknown owner', async () => {
  acme.github.addOrganization('hidden', { admins: ['ada'] });
  acme.github.addRepository('hidden/plan', { private: true });
  acme.github.install('hidden');
  await acme.quiet();
  const mallory = visitors.get('mallory')!;
  expect(await mallory.open('/repos/hidden').then(({ status, text }) => [status, text])).toEqual(
    await mallory.open('/repos/nothing').then(({ status, text }) => [status, text]),
  );
  const nobody = await visitors.get('nobody')!.open('/repos/hidden');
  expect(nobody.location).toBe(`/auth/sign-in?to=${encodeURIComponent('/repos/hidden')}`);
  expect(
    rowsOf((await visitors.get('ada')!.open('/repos/hidden')).text.replaceAll('/hidden/', '/acme/')),
  ).toEqual(['plan']);
});

test('a name and a state choose rows; nonsense chooses all', async () => {
  expect(rowsOf(await page('ada', '?q=EB'))).toEqual(['web']);
  expect(rowsOf(await page('ada', '?state=scheduled'))).toEqual(['docs']);
  expect(rowsOf(await page('ada', '?state=frozen')).toSorted()).toEqual(['api', 'web']);
  expect(await page('ada', '?q=nothing-like-it')).toContain('No repositories match.');
  expect(rowsOf(await page('ada', '?state=x&page=999999&zone=Mars'))).toHaveLength(6);
});

test('a request that waits is to decide, and one that is over or was decided is not', async () => {
  const toDecide = async () =>
    /<a href="\/owners\/acme\/exemptions"\s*>(\d+) requests? waits?/.exec(await page('ada'))?.[1]?.trim();
  const path = '/v1/repos/acme/web';
  const asked = { as: acme.github.addToken('wes'), body: { reason: 'The fix' } };
  const { body: request, status } = await acme.call('POST', `${path}/pulls/1/exemptions`, asked);
  expect([status, await toDecide()]).toEqual([201, '1']);
  await acme.app.deps.db.exemption.update({
    where: { id: request.id },
    data: { expiresAt: new Date(acme.clock.now()) },
  });
  // Nothing has noted yet that its time is over.
  expect(await toDecide()).toBe(undefined);
  await acme.app.deps.db.exemption.update({
    where: { id: request.id },
    data: { expiresAt: new Date(acme.clock.now() + 3_600_000) },
  });
  const approved = await acme.call('POST', `${path}/exemptions/${request.id}/approve`, { as: acme.admin });
  expect([approved.status, await toDecide()]).toEqual([200, undefined]);
});

test('nothing can be frozen where freezes are switched off', async () => {
  expect(rowOf(await page('ada'), 'calm')).not.toContain('disabled');
  await acme.setProducts('acme/calm', []);
  const text = await page('ada');
  expect(text).toMatch(/value="calm"[^>]*\sdisabled/);
  await acme.setProducts('acme/calm', ['merge_protections']);
});

test('what GitHub was not asked counts as unknown, and is asked behind the page', async () => {
  const others = Array.from({ length: 13 }, (_, index) => `many-${index}`);
  for (const name of others) await acme.repository(name);
  await Promise.all(others.map((name) => acme.freeze(`acme/${name}`, { reason: 'Many' })));
  await acme.advanceTo(new Date(acme.clock.now() + 400_000));
  const figure = (text: string, name: string) =>
    new RegExp(`class="counts">[^]*?(\\d+) ${name}`).exec(text)?.[1];
  expect(figure(await page('ada'), 'not known to be enforced')).toBe('14');
  await vi.waitFor(async () => expect(figure(await page('ada'), 'not known to be enforced')).toBeUndefined());
  expect(figure(await page('ada'), 'not enforced')).toBe('1');
  expect(rowsOf(await page('ada', '?state=unknown'))).toEqual([]);
  expect(figure(await page('nobody'), 'not known to be enforced')).toBeUndefined();
});

test('texts with HTML in them are text', async () => {
  await acme.freeze('acme/calm', { reason: '<img src=x>"><script>', end: '2026-03-01T10:00:00' });
  const text = await page('ada');
  expect(text).not.toContain('<img');
  expect(text).toContain('&lt;img src=x&gt;');
});

describe.runIf(process.env['TEST_DATABASE_URL'])('500 repositories (PostgreSQL)', () => {
  test('are a few statements and less than 300 kB', async () => {
    const { db } = acme.app.deps;
    acme.github.addOrganization('big', { admins: ['ada'] });
    for (let index = 0; index < 500; index++) acme.github.addRepository(`big/app-${index}`);
    acme.github.install('big');
    await acme.quiet();
    const rows = await db.repository.findMany({ where: { account: { loginKey: 'big' } } });
    expect(rows).toHaveLength(500);
    const freezes = rows.flatMap(({ id }, index) =>
      [0, 1, 2].map((which) => ({
        id: crypto.randomUUID(),
        repositoryId: id,
        reason: `Freeze ${which} of ${index}: ${'a long reason, '.repeat(20)}`,
        start: '2026-03-01T00:00:00',
        end: null,
        timezone: 'UTC',
        endsAt: null,
        startsAt: new Date(acme.clock.now() + (which - 1) * 86_400_000),
        matchingConditions: [],
        excludeConditions: [],
        createdAt: new Date(),
        createdBy: {},
        updatedAt: new Date(),
        updatedBy: {},
      })),
    );
    await db.freeze.createMany({ data: freezes });
    const ada = visitors.get('ada')!;
    await ada.open('/repos/big');
    await acme.quiet();
    let text = '';
    const load = async () => {
      text = (await ada.open('/repos/big')).text;
    };
    // The session, the account, the repositories, what is frozen, what comes, the plans and the reasons; once every
    // freeze was asked about behind the page.
    await vi.waitFor(async () => expectAtMost(12, await statementsDuring(load)));
    expect(text.length).toBeLessThan(300_000);
    // A row for each of 50 repositories, and above them a card for the first freezes that are on and that come.
    expect([...text.matchAll(/<th scope="row">/g)]).toHaveLength(50);
    expect(text).toContain('And 985 more');
    expect(text).toContain('Page 1 of 10');
    expect((await ada.open('/repos/big?page=10')).text).toContain('Page 10 of 10');
    await db.freeze.deleteMany({ where: { id: { in: freezes.map(({ id }) => id) } } });
  });
});
