import { beforeEach, describe, expect, test } from 'vitest';
import { type Freeze, acmeForAll } from '../support/acme.ts';
import { Visitor, words as wordsOf } from '../support/visitor.ts';

// One freeze: the whole of it to read, and for admins of its repository to change, by forms.

const acme = acmeForAll();
let ada: Visitor;
let bob: Visitor;
let web: string;
let freeze: Freeze;
let number = 0;
beforeEach(async () => {
  // A person can make a limited number of changes in a minute.
  await acme.advanceTo(new Date(acme.clock.now() + 61_000));
  [ada, bob] = [new Visitor(acme), new Visitor(acme)];
  await ada.signIn('ada');
  await bob.signIn('bob');
  web = await acme.repository(`web-${number++}`, [{ title: 'New checkout', labels: ['risky'] }, {}], {
    roles: { bob: 'write' },
  });
  freeze = await acme.freeze(web, {
    reason: 'Release 4.2',
    end: '2026-12-02T12:00:00',
    timezone: 'Europe/Paris',
    matching_conditions: ['label=risky', { or: ['base=main', { not: 'author=bob' }] }],
  });
});

const path = () => `/repos/${web}/freezes/${freeze.id}`;
const words = (text: string): string => wordsOf({ text });
/** The fields of a form of the page, as a browser sends them when nothing is typed. */
function formOf(text: string, change: string): Record<string, string> {
  const form = new RegExp(`action="[^"]*/${change}">[^]*?</form>`).exec(text)![0];
  const decode = (value: string) => value.replaceAll('&quot;', '"').replaceAll('&amp;', '&');
  const inputs = [...form.matchAll(/<input([^>]*)>/g)]
    .filter(([, attributes]) => !/type="radio"/.test(attributes!) || /\schecked/.test(attributes!))
    .map(([, attributes]): [string, string] => [
      /name="([^"]*)"/.exec(attributes!)![1]!,
      decode(/value="([^"]*)"/.exec(attributes!)?.[1] ?? ''),
    ]);
  const areas = [...form.matchAll(/<textarea[^>]*name="([^"]*)"[^>]*>\n?([^]*?)<\/textarea>/g)].map(
    ([, name, value]): [string, string] => [name!, decode(value!)],
  );
  return Object.fromEntries([...inputs, ...areas]);
}
const listed = async () =>
  (await acme.call('GET', `/v1/repos/${web}/scheduled_freeze`, { as: acme.admin })).body
    .scheduled_freezes as (Freeze & Record<string, unknown>)[];
const now = async () => (await listed()).find(({ id }) => id === freeze.id);
const newestEvent = async () => {
  const { db } = acme.app.deps;
  const { id } = await db.repository.findFirstOrThrow({ where: { nameKey: web.split('/')[1]! } });
  return db.auditEvent.findFirstOrThrow({ where: { repositoryId: id }, orderBy: { id: 'desc' } });
};
/** Fills in a form of the page and sends it; then the page that comes of it. */
async function change(kind: string, typed: Record<string, string> = {}) {
  const { text } = await ada.open(path());
  const sent = await ada.send(`${path()}/${kind}`, { ...formOf(text, kind), ...typed });
  await acme.quiet();
  return sent;
}

test('shows everything: until when, what it holds, by titles, and its id', async () => {
  const { status, text } = await ada.open(path());
  expect(status).toBe(200);
  expect(words(text)).toContain('Release 4.2 Ongoing until Wed 2 Dec, 11:00 UTC (12:00 Paris)');
  expect(words(text)).toContain('Pull requests that match label=risky and ( base=main or not author=bob )');
  expect(words(text)).toContain('1 pull request is blocked. #1 New checkout');
  expect(words(text)).toContain('Enforced Yes');
  expect(text).toContain(`<code class="id">${freeze.id}</code>`);
  expect(words(text)).toContain('the application key admin key of test created a freeze');
});

test('a freeze that is over can be read, and not changed', async () => {
  await acme.remove(web, freeze.id);
  const { text } = await ada.open(path());
  expect(words(text)).toMatch(/Deleted Sun 1 Mar, 09:\d\d UTC.* Deletion reason Done/);
  expect(text).not.toContain('method="post" action="/repos');
});

test('there is no page for a missing freeze', async () => {
  for (const id of ['nonsense', '00000000-0000-4000-8000-000000000000'])
    expect((await ada.open(`/repos/${web}/freezes/${id}`)).status).toBe(404);
  const other = await acme.repository(`other-${number++}`);
  expect((await ada.open(`/repos/${other}/freezes/${freeze.id}`)).status).toBe(404);
});

describe('an admin', () => {
  test('makes it last an hour or a day longer', async () => {
    const { status, location } = await change('extend', { by: 'hour' });
    expect([status, location]).toEqual([303, `${path()}?done=extended`]);
    expect((await now())!.end).toBe('2026-12-02T13:00:00');
    await change('extend', { by: 'day' });
    expect((await now())!.end).toBe('2026-12-03T13:00:00');
    const { metadata, type } = await newestEvent();
    await change('extend', { by: 'until', end: '2026-12-24T18:00' });
    expect((await now())!.end).toBe('2026-12-24T18:00:00');
    for (const end of ['', '2020-01-01T00:00', 'soon'])
      expect((await change('extend', { by: 'until', end })).status).toBe(422);
    expect(type).toBe('scheduled_freeze.update');
    expect(metadata).toMatchObject({ updated_by: { type: 'user', name: 'ada' } });
    expect(words((await ada.open(location)).text)).toContain('The freeze was extended.');
  });

  test('ends it now, and what it held is free', async () => {
    await acme.advanceTo(new Date(acme.clock.now() + 5_000));
    expect(acme.frozen(web)).toEqual([1]);
    expect((await change('end')).location).toBe(`${path()}?done=ended`);
    expect(acme.frozen(web)).toEqual([]);
    expect(words((await ada.open(path())).text)).toMatch(/Ended Sun 1 Mar, 09:\d\d UTC/);
  });

  test('ends none that has not begun', async () => {
    freeze = await acme.freeze(web, { reason: 'Later', start: '2026-12-24T00:00:00' });
    const { text } = await ada.open(path());
    expect(text).not.toContain('/end"');
    const version = formOf(text, 'delete')['version']!;
    const { status, text: answer } = await ada.send(`${path()}/end`, { version });
    expect(status).toBe(422);
    expect(words(answer)).toContain('Nothing was changed.');
  });

  test('deletes it, with a required reason', async () => {
    const empty = await change('delete', { delete_reason: ' ' });
    expect(empty.status).toBe(422);
    expect(words(empty.text)).toContain('Enter a reason.');
    expect(await now()).toBeDefined();
    expect((await change('delete', { delete_reason: 'Released' })).status).toBe(303);
    expect(await now()).toBeUndefined();
    const { metadata } = await newestEvent();
    expect(metadata).toMatchObject({ reason: 'Released', deleted_by: { type: 'user', name: 'ada' } });
  });

  test('edits the changed fields, and leaves the rest', async () => {
    expect((await change('edit')).status).toBe(303);
    expect((await newestEvent()).type).not.toBe('scheduled_freeze.update');
    const typed = { reason: 'Release 4.3', exclude_conditions: 'label=hotfix\r\n{"not": "draft"}' };
    expect((await change('edit', typed)).status).toBe(303);
    expect(await now()).toMatchObject({
      reason: 'Release 4.3',
      end: '2026-12-02T12:00:00',
      matching_conditions: ['label=risky', { or: ['base=main', { not: 'author=bob' }] }],
      exclude_conditions: ['label=hotfix', { not: 'draft' }],
    });
    expect(words((await ada.open(path())).text)).toContain('ada changed a freeze');
  });

  test('sees errors beside the field, and keeps the typed text', async () => {
    const typed = { reason: 'Kept', end: '2020-01-01T00:00', matching_conditions: 'lable=risky' };
    const { status, text } = await change('edit', typed);
    expect(status).toBe(422);
    expect(text).toContain('id="matching_conditions-problem"');
    expect(formOf(text, 'edit')).toMatchObject(typed);
    expect((await now())!['reason']).toBe('Release 4.2');
  });

  test('sees if somebody changed it meanwhile', async () => {
    const fields = formOf((await ada.open(path())).text, 'edit');
    await acme.update(web, freeze.id, { reason: 'By somebody else' });
    const { status, text } = await ada.send(`${path()}/edit`, { ...fields, reason: 'Mine' });
    expect(status).toBe(422);
    expect(words(text)).toContain('Somebody changed this freeze after you opened the page.');
    expect((await now())!['reason']).toBe('By somebody else');
  });
});

test('a person who is not an admin sees no forms, and sends none', async () => {
  const { text } = await ada.open(path());
  const asked: [Visitor, number][] = [
    [bob, 403],
    [new Visitor(acme), 403],
  ];
  for (const [visitor, status] of asked) {
    expect((await visitor.open(path())).text).not.toContain('method="post" action="/repos');
    for (const [kind, more] of [
      ['edit', { reason: 'Mine' }],
      ['extend', { by: 'day' }],
      ['end', {}],
      ['delete', { delete_reason: 'Mine' }],
    ] as const)
      expect((await visitor.send(`${path()}/${kind}`, { ...formOf(text, kind), ...more })).status).toBe(
        status,
      );
  }
  // Of another site, with the admin's own cookie.
  const foreign = { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' };
  const fields = { ...formOf(text, 'delete'), delete_reason: 'Mine' };
  expect((await ada.send(`${path()}/delete`, fields, foreign)).status).toBe(403);
  expect(await now()).toMatchObject({ reason: 'Release 4.2', end: '2026-12-02T12:00:00' });
});

test('a person who was an admin a moment ago changes nothing', async () => {
  acme.github.setRole(web, 'bob', 'admin');
  await acme.advanceTo(new Date(acme.clock.now() + 61_000));
  const { text } = await bob.open(path());
  acme.github.setRole(web, 'bob', 'read');
  const fields = { ...formOf(text, 'delete'), delete_reason: 'Mine' };
  expect((await bob.send(`${path()}/delete`, fields)).status).toBe(403);
  expect(await now()).toBeDefined();
});

test('the address that a form was sent to leads to its page, such as in a tab that is restored', async () => {
  const visitor = new Visitor(acme);
  const plan = '/owners/acme/plans/6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f';
  const freeze = '/repos/acme/web/freezes/6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f';
  const pull = '/repos/acme/web/pulls/1';
  for (const [page, form] of [
    [plan, '/extend'],
    [plan, '/delete'],
    [freeze, '/extend'],
    [freeze, '/edit'],
    [pull, '/exemptions'],
    [pull, '/exemptions/6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f/approve'],
  ] as const) {
    const { status, location } = await visitor.open(page + form);
    expect([status, location], form).toEqual([303, page]);
  }
  expect((await visitor.open(`${freeze}/nothing`)).status).toBe(404);
});
