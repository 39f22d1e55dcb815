import { beforeAll, beforeEach, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { Visitor } from '../support/visitor.ts';

// Who gets a role is found by a part of a login or name, shown with a picture, and chosen, without scripts.

const mostQuestions = 30;
const acme = acmeForAll({ callerQuestionsPerMinute: mostQuestions });
let ada: Visitor;
const roles = '/owners/acme/settings/roles';
const ofWeb = '/repos/acme/web/settings';

beforeAll(async () => {
  acme.github.addUser('grace', { name: 'Grace Hopper' });
  acme.github.addUser('gracious', { name: 'Somebody Else' });
  acme.github.addUser('mallory', { name: '"><b>Grace</b>' });
  await acme.repository('web', [], { roles: { grace: 'read' } });
  acme.github.addTeam('acme', 'grants');
  ada = new Visitor(acme);
  await ada.signIn('ada');
});
// One person asks only so much in a minute.
beforeEach(() => acme.advanceTo(new Date(acme.clock.now() + 120_000)));

const versionOf = (text: string): string => /name="version"\s+value="([^"]*)"/.exec(text)![1]!;
/** The people of a list, as the page shows them. */
const shown = (text: string, list: string): string[] => {
  const [, part] = text.split(`data-people="${list}"`);
  const [matches] = part!.split('class="chosen"');
  return [...matches!.matchAll(/type="checkbox" name="\w+" value="([^"]*)"/g)].map(([, each]) => each!);
};
const chosen = (text: string, list: string): string[] =>
  [...text.matchAll(new RegExp(`type="hidden" name="${list}_list" value="([^"]*)"`, 'g'))].map(
    ([, each]) => each!,
  );
const search = (
  fields: [string, string][],
  path = roles,
  headers: Record<string, string> = { 'Sec-Fetch-Site': 'same-origin' },
) => ada.open(`${path}?${new URLSearchParams([['do', 'settings'], ...fields])}`, { headers });
const settingsOf = async (path: string) => (await acme.call('GET', path, { as: acme.admin })).body;

test('a part of a login or a name finds teams, people with access, then others, with pictures', async () => {
  const { text } = await search([['freezers_typed', 'gra']]);
  expect(shown(text, 'freezers')).toEqual(['@acme/grants', 'grace', 'gracious', 'mallory']);
  const [picture] = text.match(/<img [^>]*>/)!;
  expect(picture).toMatch(
    /src="[^"]*\/avatars\/t\/\d+\?v=4&amp;s=48" alt="" width="24" height="24" loading="lazy"/,
  );
  expect(text).toContain('Grace Hopper');
  expect(text).not.toContain('<b>Grace');
  expect(shown((await search([['freezers_typed', 'hopper']])).text, 'freezers')).toEqual(['grace']);
  expect((await search([['freezers_typed', 'nobody-like-this']])).text).toContain('GitHub finds nobody');
});

test('pictures come from the GitHub of the service, and only on pages with people', async () => {
  const policyOf = async (path: string) =>
    /img-src ([^;]*)/.exec((await ada.open(path)).headers.get('content-security-policy')!)![1]!.split(' ');
  const { origin } = new URL(acme.github.url);
  for (const path of [roles, ofWeb]) expect(await policyOf(path)).toEqual(["'self'", origin]);
  const others = ['', '/keys', '/webhooks', '/slack', '/instant-hold'].map(
    (each) => `/owners/acme/settings${each}`,
  );
  for (const path of ['/repos/acme', '/', '/repos/acme/web', ...others])
    expect(await policyOf(path)).toEqual(["'self'"]);
});

test.each([
  ['another site', { 'Sec-Fetch-Site': 'cross-site' }, false],
  ['a site beside it', { 'Sec-Fetch-Site': 'same-site' }, false],
  ['a chat or a mail', { 'Sec-Fetch-Site': 'none' }, false],
  ['another site, whatever page it names', { 'Sec-Fetch-Site': 'cross-site', Referer: 'own' }, false],
  ['a browser that does not say from where', {}, false],
  ['another site, where browsers name only the page', { Referer: 'https://mallory.example/' }, false],
  ['a page of Holdfast', { 'Sec-Fetch-Site': 'same-origin' }, true],
  ['a page of Holdfast, where browsers name only the page', { Referer: 'own' }, true],
] as [string, Record<string, string>, boolean][])(
  'a link fills in the form only from a page of Holdfast: %s',
  async (_, from, counts) => {
    const own = acme.app.deps.config.publicUrl + roles;
    const headers = { ...from, ...(from['Referer'] === 'own' && { Referer: own }) };
    for (const path of [roles, ofWeb]) {
      const { text } = await search(
        [
          ['freezers_list', 'mallory'],
          ['approvers_typed', 'bob'],
          ['longest_open_end_hours', '7'],
        ],
        path,
        headers,
      );
      expect(chosen(text, 'freezers')).toEqual(counts ? ['mallory'] : []);
      expect(/name="approvers_typed"[^>]*value="bob"/.test(text)).toBe(counts);
      expect(/name="longest_open_end_hours"[^>]*value="7"/.test(text)).toBe(counts && path === ofWeb);
    }
  },
);

test('a form that has too many is refused, and keeps all of them', async () => {
  const many = Array.from({ length: 52 }, (_, index) => `person-${index}`);
  const version = versionOf((await ada.open(roles)).text);
  const { status, text } = await ada.send(roles, { do: 'settings', version, freezers_list: many });
  expect([status, chosen(text, 'freezers')]).toEqual([422, many]);
  expect(await settingsOf('/v1/settings/acme')).toMatchObject({ freezers: [] });
});

test('what is chosen stays while one searches on, one is removed, and all is saved at once', async () => {
  const opened = versionOf((await ada.open(roles)).text);
  const kept: [string, string][] = [
    ['version', opened],
    ['freezers_list', 'grace'],
    ['freezers_list', '@acme/grants'],
    ['approvers_list', 'bob'],
  ];
  const on = await search([...kept, ['freezers_typed', 'gracious']]);
  expect([chosen(on.text, 'freezers'), chosen(on.text, 'approvers')]).toEqual([
    ['grace', '@acme/grants'],
    ['bob'],
  ]);
  expect(shown(on.text, 'freezers')).toEqual(['gracious']);
  const without = await search([...kept, ['freezers_without', 'grace']]);
  expect(chosen(without.text, 'freezers')).toEqual(['@acme/grants']);
  expect(await settingsOf('/v1/settings/acme')).toMatchObject({ freezers: [], approvers: [] });

  const saved = await ada.send(roles, {
    ...{ do: 'settings', version: versionOf(on.text) },
    ...{ freezers_list: ['@acme/grants', 'gracious'], approvers_list: 'bob', freezers_typed: 'grace, ada' },
  });
  expect([saved.status, saved.location]).toEqual([303, `${roles}?said=saved`]);
  expect(await settingsOf('/v1/settings/acme')).toMatchObject({
    freezers: ['@acme/grants', 'gracious', 'grace', 'ada'],
    approvers: ['bob'],
  });
  const { text } = await ada.open(roles);
  expect(chosen(text, 'freezers')).toEqual(['@acme/grants', 'gracious', 'grace', 'ada']);
  expect(text.match(/<img /g)).toHaveLength(5);
});

test('a list is emptied', async () => {
  const fields = { freezers_typed: '', approvers_typed: '' };
  const version = versionOf((await ada.open(roles)).text);
  expect((await ada.send(roles, { do: 'settings', version, ...fields })).status).toBe(303);
  expect(await settingsOf('/v1/settings/acme')).toMatchObject({ freezers: [], approvers: [] });
});

test('a repository searches too, and keeps its other fields', async () => {
  const { text } = await search(
    [
      ['freezers', 'own'],
      ['freezers_typed', 'hopper'],
      ['longest_open_end_hours', '7'],
    ],
    ofWeb,
  );
  expect(shown(text, 'freezers')).toEqual(['grace']);
  expect(text).toMatch(/name="freezers"\s+value="own"\s+checked/);
  expect(text).toMatch(/name="longest_open_end_hours"[^>]*value="7"/);
});

test('what somebody types is never part of the search’s own syntax', async () => {
  expect(shown((await search([['freezers_typed', 'grace type:org" in:email']])).text, 'freezers')).toEqual(
    [],
  );
});

test('without the permission to see teams, people are found', async () => {
  const all = { ...acme.github.app.permissions };
  const { members: _, ...rest } = all;
  acme.github.acceptPermissions('acme', rest);
  await acme.quiet();
  // Nobody knows the admins of the owner then, but those of the repository.
  const { text } = await search([['freezers_typed', 'gra']], ofWeb);
  expect(shown(text, 'freezers')).toEqual(['grace', 'gracious', 'mallory']);
  acme.github.acceptPermissions('acme', all);
  await acme.quiet();
});

test('while GitHub does not answer, the page says so, keeps what is chosen, and takes what is typed', async () => {
  const fault = acme.github.faults.add({ match: { path: /graphql/ }, kind: 'status', status: 502 });
  const { status, text } = await search([
    ['freezers_list', 'grace'],
    ['freezers_typed', 'gra'],
  ]);
  fault.remove();
  expect(status).toBe(200);
  expect(text).toContain('GitHub could not say who these people and teams are');
  expect(chosen(text, 'freezers')).toEqual(['grace']);
  expect(text).toMatch(/name="freezers_typed"[^>]*value="gra"/);
});

test('a person searches only so often in a minute', async () => {
  let { text } = await search([['freezers_typed', 'gra']]);
  expect(shown(text, 'freezers')).not.toEqual([]);
  for (let index = 0; index < mostQuestions; index++) ({ text } = await search([['freezers_typed', 'gra']]));
  expect(text).toContain(`Your requests need more than ${mostQuestions} questions to GitHub in this minute.`);
});
