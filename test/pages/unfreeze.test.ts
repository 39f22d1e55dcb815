import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { Visitor, words } from '../support/visitor.ts';

// What the page of Unfreeze says before somebody ends anything. Browsers: test/browser/freeze-now.test.ts.

const acme = acmeForAll();
const ada = new Visitor(acme);
const path = '/owners/acme/unfreeze';
const plain = (html: string) =>
  html
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
const rowsOf = (html: string) =>
  [...html.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([row]) => plain(row)).filter(Boolean);
const tickedOn = (html: string) =>
  [...html.matchAll(/name="ongoing"\s+value="([^"]+)"[^>]*\schecked/g)].map(([, value]) => value);
const button = (html: string) => plain(/<button[^>]*data-ends>(.*?)<\/button>/s.exec(html)![1]!);

beforeAll(async () => {
  for (const name of ['api', 'web', 'infra']) await acme.repository(name, [{}, { labels: ['docs'] }]);
  await ada.signIn('ada');
});

test('the only freeze is selected, and the button says what it ends', async () => {
  const { id } = await acme.freeze('acme/web', { reason: 'Alone' });
  const { text } = await ada.open(path);
  expect(tickedOn(text)).toEqual([`freezes ${id}`]);
  expect(button(text)).toBe('End 1 freeze in 1 repository');
  await acme.remove('acme/web', id);
});

test('of several, none is selected but the one that a person came from; each says what it frees and who made it', async () => {
  const body = { name: 'Night', reason: 'Night', repositories: { include: ['api', 'web'] } };
  const times = { start: null, end: null, timezone: 'UTC' };
  const rel = acme.github.addToken('ada', { kind: 'classic', scopes: ['repo'] });
  const plan = await acme.call('POST', '/v1/freeze_plans/acme', { as: rel, body: { ...body, ...times } });
  await acme.quiet();
  // Both hold the pull request with the label, so the end of one of them does not free it.
  const docs = await acme.freeze('acme/web', { reason: 'Docs', matching_conditions: ['label=docs'] });
  await acme.freeze('acme/infra', { reason: 'No deploys', holds: ['deployments'] });
  const { text } = await ada.open(path);
  expect(tickedOn(text)).toEqual([]);
  expect(button(text)).toBe('End the selected freezes');
  const [merges, deployments] = text.split('Freezes of deployments</legend>');
  const ofMerges = rowsOf(merges!);
  expect(ofMerges[0]).toBe('Freeze Holds Created by End');
  // They began at one instant, so their order is any.
  expect(ofMerges.slice(1).toSorted()).toEqual([
    'Docs Holds 1 pull request in 1 repository: web. Its end alone frees none. the application key admin key until removed',
    'Night The entire plan. Holds 4 pull requests in 2 repositories: api, web. Its end alone frees 3. ada until removed',
  ]);
  expect(rowsOf(deployments!)[1]).toMatch(/^No deploys Deployments wait.*Deployments in 1 repository: infra/);
  const from = await ada.open(`${path}?ongoing=freezes+${docs.id}`);
  expect(tickedOn(from.text)).toEqual([`freezes ${docs.id}`]);
  // A refused form keeps what was selected, also nothing.
  const chosen = { ongoing: `plan ${plan.body.id}`, delete_reason: ' ' };
  const refused = await ada.send(path, chosen);
  expect(refused.status).toBe(422);
  expect(tickedOn(refused.text)).toEqual([chosen.ongoing]);
  expect(button(refused.text)).toBe('End 1 freeze in 2 repositories');
  const none = await ada.send(path, { delete_reason: 'Over' });
  expect(none.status).toBe(422);
  expect(tickedOn(none.text)).toEqual([]);
});

/** The boxes of an overview, by what they select, and whether one is ticked. */
const boxesOf = (html: string) =>
  [...html.matchAll(/class="bulk-box"\s+form="bulk"\s+name="ongoing"\s+value="([^"]+)"[^>]*>/g)].map(
    ([box, value]) => ({ value: value!, isTicked: /\schecked/.test(box) }),
  );

test.each(['/', '/repos/acme'])(
  'the boxes of %s end what they select, and nothing else',
  async (overview) => {
    for (const { value } of boxesOf((await ada.open(overview)).text))
      expect((await ada.send(path, { ongoing: value, delete_reason: 'Tidy' })).status).toBe(303);
    const one = await acme.freeze('acme/web', { reason: 'One' });
    const body = {
      name: 'All',
      reason: 'All',
      repositories: { include: ['*'] },
      start: null,
      timezone: 'UTC',
    };
    const plan = await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body });
    const stays = await acme.freeze('acme/api', { reason: 'Stays' });
    await acme.quiet();
    const ids = [one.id, plan.body.id, stays.id].toSorted();
    const boxes = boxesOf((await ada.open(overview)).text);
    expect(boxes.map(({ value }) => value).toSorted()).toEqual(ids);
    expect(boxes.some(({ isTicked }) => isTicked)).toBe(false);
    const ongoing = [one.id, plan.body.id as string];
    // Without a reason, the page Unfreeze asks for it, and keeps what was selected.
    const refused = await ada.send(path, { ongoing, delete_reason: '' });
    expect(refused.status).toBe(422);
    expect(tickedOn(refused.text).toSorted()).toEqual([`freezes ${one.id}`, `plan ${plan.body.id}`]);
    expect((await ada.send(path, { ongoing, delete_reason: 'Over' })).status).toBe(303);
    expect(boxesOf((await ada.open(overview)).text).map(({ value }) => value)).toEqual([stays.id]);
  },
);

test('who is an admin of all that is frozen ends it from the overview; others have no boxes there', async () => {
  acme.github.addUser('rita');
  const others = new Map<string, Visitor>();
  for (const login of ['rita', 'bob']) {
    others.set(login, new Visitor(acme));
    await others.get(login)!.signIn(login);
  }
  for (const repository of ['acme/web', 'acme/api']) acme.github.setRole(repository, 'rita', 'admin');
  await acme.call('PATCH', '/v1/repos/acme/web/settings', { as: acme.admin, body: { freezers: ['bob'] } });
  const { id } = await acme.freeze('acme/web', { reason: 'Hers' });
  await acme.quiet();
  const rita = others.get('rita')!;
  const { text } = await rita.open('/repos/acme');
  const named = [...text.matchAll(/type="hidden" name="repository" value="(\w+)"/g)].map(([, name]) => name!);
  expect(named).toContain('web');
  expect(boxesOf((await others.get('bob')!.open('/repos/acme')).text)).toEqual([]);
  // With a freeze in a repository of others beside it, the form would be refused.
  acme.github.setRole('acme/api', 'rita', 'read');
  const beside = await acme.freeze('acme/api', { reason: 'Not hers' });
  await acme.advanceTo(new Date(acme.clock.now() + 120_000));
  expect(boxesOf((await rita.open('/repos/acme')).text)).toEqual([]);
  await acme.remove('acme/api', beside.id);
  acme.github.setRole('acme/api', 'rita', 'admin');
  await acme.advanceTo(new Date(acme.clock.now() + 120_000));
  const ended = await rita.send(path, { repository: named, ongoing: id, delete_reason: 'Over' });
  expect(ended.status, words(ended)).toBe(303);
});

test('what GitHub would merge anyway is not held, and what it would refuse anyway is not freed', async () => {
  for (const [name, protect] of [
    ['loose', {}],
    ['kept', undefined],
  ] as const)
    await acme.repository(name, [{}, {}, {}], protect && { protect });
  acme.github.pushToBranch('acme/kept', 'main', { conflictsWith: [2] });
  const body = {
    name: 'Both',
    reason: 'Both',
    repositories: { include: ['loose', 'kept'] },
    timezone: 'UTC',
  };
  const as = acme.admin;
  const plan = await acme.call('POST', '/v1/freeze_plans/acme', {
    as,
    body: { ...body, start: null, end: null },
  });
  expect(plan.status, plan.text).toBe(201);
  await acme.quiet();
  const rows = async (ofRow: string) =>
    rowsOf((await ada.open(`${path}?repository=loose&repository=kept`)).text).find((row) =>
      row.startsWith(ofRow),
    );
  await acme.freeze('acme/loose', { reason: 'Alone' });
  expect(await rows('Alone')).toContain('Holds 0 of 3 pull requests in 1 repository: loose the application');
  // GitHub says that it refuses the one with the conflict, which it does after the freeze, too.
  await acme.advanceTo(new Date(acme.clock.now() + 60_000));
  await acme.advanceTo(new Date(acme.clock.now() + 60_000));
  expect(await rows('Both')).toContain(
    'Holds 3 of 6 pull requests in 2 repositories: kept, loose. Its end alone frees 2.',
  );
});
