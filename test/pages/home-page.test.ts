import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { Visitor, words } from '../support/visitor.ts';

// The first page: signed-in people see where they can do something; others see what this is.

const acme = acmeForAll();
beforeAll(async () => {
  for (const login of ['mallory', 'rita']) acme.github.addUser(login);
  await acme.repository('web', [{}], { roles: { bob: 'write' } });
  await acme.repository('vault', [{}], { private: true, roles: { rita: 'read' } });
  await acme.repository('calm');
  acme.github.addOrganization('globex', { admins: ['rita'] });
  acme.github.addRepository('globex/site', { private: true });
  acme.github.install('globex');
  await acme.quiet();
});

async function homeOf(login: string): Promise<string> {
  const visitor = new Visitor(acme);
  await visitor.signIn(login);
  const { status, text } = await visitor.open('/');
  expect(status).toBe(200);
  return text;
}

test('a person who is not signed in learns what this is, and signs in', async () => {
  const { text } = await new Visitor(acme).open('/');
  expect(text).toContain('Merge freezes for GitHub');
  expect(text).toContain('href="/auth/sign-in?to=%2F"');
  expect(text).not.toContain('acme');
});

test('nothing is frozen, and the page says so', async () => {
  const text = await homeOf('ada');
  expect(text).toContain('Nothing is frozen');
  expect(text).toContain('href="/repos/acme"');
  expect(text).toContain('href="/owners/acme/freeze"');
  expect(text).not.toContain('globex');
});

test('what is frozen, what comes next and what waits for a decision', async () => {
  await acme.freeze('acme/web', { end: '2026-03-01T12:00:00' });
  await acme.freeze('acme/calm', { start: '2026-03-05T00:00:00', end: '2026-03-06T00:00:00' });
  const token = acme.github.addToken('bob');
  const asked = await acme.call('POST', '/v1/repos/acme/web/pulls/1/exemptions', {
    as: token,
    body: { reason: 'The fix of INC-4711' },
  });
  expect(asked.body.state).toBe('requested');
  const text = await homeOf('ada');
  expect(words({ text })).toContain('1 of 3 repositories of acme is frozen');
  expect(text).toMatch(/id="frozen"[\s\S]*until[\s\S]*>Sun 1 Mar, 12:00 UTC<\/time[\s\S]*>web<\/a>/);
  expect(text).toMatch(/id="next"[\s\S]*>Thu 5 Mar, 00:00 UTC<\/time[\s\S]*>calm<\/a>/);
  expect(text).toContain('href="/owners/acme/unfreeze"');
  expect(text).toMatch(
    /Waiting for your decision[\s\S]*href="\/repos\/acme\/web\/pulls\/1"[\s\S]*The fix of INC-4711/,
  );
});

test('if two people are required, nobody is asked to decide on their own request', async () => {
  const settings = '/v1/repos/acme/web/settings';
  const ada = acme.github.addToken('ada');
  await acme.call('PATCH', settings, { as: ada, body: { two_person_exemptions: true } });
  await acme.call('POST', '/v1/repos/acme/web/pulls/1/exemptions', {
    as: ada,
    body: { reason: 'Totals are wrong by a cent' },
  });
  expect(await homeOf('ada')).not.toContain('Totals are wrong');
  await acme.call('PATCH', settings, { as: ada, body: { two_person_exemptions: false } });
  expect(await homeOf('ada')).toContain('Totals are wrong');
});

test('each sees their own owners, and decides nothing elsewhere', async () => {
  const rita = await homeOf('rita');
  expect(rita).toContain('globex');
  expect(rita).toContain('href="/repos/acme"');
  expect(rita).not.toContain('Waiting for your decision');
  expect(await homeOf('bob')).not.toContain('Waiting for your decision');
  const mallory = await homeOf('mallory');
  expect(mallory).toContain('No repositories yet');
  expect(mallory).not.toMatch(/acme|globex/);
});

test('with several owners, rows name theirs, and Freeze now and Unfreeze are a menu of them', async () => {
  acme.github.addOrganization('initech', { admins: ['ada'] });
  acme.github.addRepository('initech/tps');
  acme.github.install('initech');
  await acme.quiet();
  const text = await homeOf('ada');
  expect(text).toMatch(/id="frozen"[\s\S]*>acme\/web<\/a>[\s\S]*id="next"/);
  const menu = (name: string) =>
    new RegExp(`<summary class="button[^"]*">${name}</summary>([\\s\\S]*?)</details>`).exec(text)?.[1];
  expect(menu('Freeze now')).toMatch(/href="\/owners\/acme\/freeze"[\s\S]*href="\/owners\/initech\/freeze"/);
  // Only one has something to unfreeze.
  expect(text).toMatch(/<a class="button danger" href="\/owners\/acme\/unfreeze">Unfreeze<\/a>/);
  expect(text).not.toContain('/owners/initech/unfreeze');
});

test('the menu of an owner leads to the reader’s others', async () => {
  const ada = new Visitor(acme);
  await ada.signIn('ada');
  const menu = /<details class="menu owner">[\s\S]*?<\/details>/;
  const [first] = menu.exec((await ada.open('/repos/acme')).text)!;
  expect(first).toMatch(/href="\/repos\/initech"[\s\S]*href="\/">All owners/);
  expect(first).not.toMatch(/href="\/repos\/acme"|globex/);
  const [strangers] = menu.exec((await new Visitor(acme).open('/repos/acme')).text)!;
  expect(strangers).not.toContain('initech');
});

test('GitHub’s answer at the sign-in gives no right: the page hides what the person lost since', async () => {
  const rita = new Visitor(acme);
  await rita.signIn('rita');
  acme.github.setRole('acme/vault', 'rita', null);
  await acme.advanceTo(new Date(acme.clock.now() + 120_000));
  await acme.freeze('acme/vault', { reason: 'Unseen' });
  const { text } = await rita.open('/');
  expect(text).not.toContain('vault');
});

test('the sign-in of the header leads back to where one was', async () => {
  const visitor = new Visitor(acme);
  const { text } = await visitor.open('/repos/acme/web?zoom=week');
  expect(text).toContain('<a href="/auth/sign-in">Sign in</a>');
  const referer = 'https://holdfast.example/repos/acme/web?zoom=week';
  const begun = await visitor.open('/auth/sign-in', { headers: { Referer: referer } });
  const back = await visitor.open(await visitor.authorize(begun.location, 'bob'));
  expect(back.location).toBe('/repos/acme/web?zoom=week');
  const other = await visitor.open('/auth/sign-in', { headers: { Referer: 'https://evil.example/repos/x' } });
  expect((await visitor.open(await visitor.authorize(other.location, 'bob'))).location).toBe('/');
});

test('an owner that GitHub does not answer about hides no other one, and the page says until when', async () => {
  const ada = new Visitor(acme);
  await ada.signIn('ada');
  // A minute later, nothing that GitHub said before counts.
  await acme.advanceTo(new Date(acme.clock.now() + 61_000));
  const installation = await acme.app.deps.db.installation.findFirstOrThrow({
    where: { account: { loginKey: 'acme' } },
  });
  const resetAt = acme.clock.now() + 1_800_000;
  acme.app.deps.github.budgets.note(installation.id, {
    'x-ratelimit-limit': 5_000,
    'x-ratelimit-remaining': 0,
    'x-ratelimit-reset': resetAt / 1000,
    'x-ratelimit-resource': 'core',
  });
  const { status, text } = await ada.open('/');
  expect(status).toBe(200);
  expect(text).toContain('href="/repos/initech"');
  expect(text).toContain('GitHub does not say what you may see here');
  expect(text).toContain(new Date(resetAt).toISOString());
  expect(text).toContain('href="/help/command-line"');
  const owner = await ada.open('/repos/acme');
  expect(owner.status).toBe(503);
  expect(owner.text).toContain('GitHub’s rate limit is used up');
  expect(owner.text).toContain(new Date(resetAt).toISOString());
  expect(Number(owner.headers.get('retry-after'))).toBe(1_800);
  await acme.advanceTo(new Date(resetAt));
  expect((await ada.open('/repos/acme')).status).toBe(200);
});

test.each([404, 403, 503])('a %i of GitHub about one owner empties nothing', async (status) => {
  const ada = new Visitor(acme);
  await ada.signIn('ada');
  await acme.advanceTo(new Date(acme.clock.now() + 61_000));
  const match = { path: /\/orgs\/acme\/memberships\// };
  const fault = acme.github.faults.add({ match, kind: 'status', status });
  const home = await ada.open('/');
  fault.remove();
  expect(home.status).toBe(200);
  expect(home.text).toContain('href="/repos/initech"');
});

test('with no answer about any owner, the page still has all of them', async () => {
  const rita = new Visitor(acme);
  await rita.signIn('rita');
  await acme.advanceTo(new Date(acme.clock.now() + 61_000));
  const fault = acme.github.faults.add({
    match: { path: /memberships|collaborators/ },
    kind: 'status',
    status: 503,
  });
  const home = await rita.open('/');
  fault.remove();
  expect(home.status).toBe(200);
  expect(home.text).toMatch(/GitHub does not answer about your owners[\s\S]*href="\/repos\/globex"/);
});
