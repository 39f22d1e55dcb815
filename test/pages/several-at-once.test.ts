import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { exemptionsOf } from '../support/exemptions.ts';
import { Visitor, words } from '../support/visitor.ts';

// Rows of lists are chosen with boxes, and one press changes all of them, each as its own form would.

const acme = acmeForAll();
const request = (...asked: Parameters<ReturnType<typeof exemptionsOf>['request']>) =>
  exemptionsOf(acme).request(...asked);
const visitors: Record<string, Visitor> = {};
const [plans, exemptions, web] = ['/owners/acme/plans', '/owners/acme/exemptions', '/repos/acme/web'];

beforeAll(async () => {
  for (const login of ['rita', 'wes']) acme.github.addUser(login);
  for (const name of ['web', 'api'])
    await acme.repository(name, [{}, {}], {
      private: name === 'api',
      roles: { bob: 'write', rita: name === 'web' ? 'admin' : 'write' },
    });
  for (const login of ['ada', 'rita', 'wes']) {
    visitors[login] = new Visitor(acme);
    await visitors[login].signIn(login);
  }
});
beforeEach(() => acme.advanceTo(new Date(acme.clock.now() + 120_000)));

/** The boxes of a page, by what they are called. */
const boxesOn = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/name="chosen"\s+value="([^"]*)"\s+data-kind="\d"\s+aria-label="Select ([^"]*)"/g)].map(
      ([, value, name]) => [name!, value!],
    ),
  );
const open = async (path: string, as = 'ada') => boxesOn((await visitors[as]!.open(path)).text);
async function send(path: string, chosen: string[], fields: Record<string, string> = {}, as = 'ada') {
  const answer = await visitors[as]!.send(path, { do: 'bulk', chosen, ...fields });
  await acme.quiet();
  return answer;
}
const reason = { delete_reason: 'The release is out' };
/** The form that takes back what the page says. */
async function undo(path: string) {
  const { text } = await visitors['ada']!.open(path);
  const [, action, fields] = /<form class="undo" method="post" action="([^"]+)">(.*?)<\/form>/s.exec(text)!;
  const given = new URLSearchParams(
    [...fields!.matchAll(/name="([^"]+)"\s+value="([^"]*)"/g)].map(([, name, value]): [string, string] => [
      name!,
      value!,
    ]),
  );
  const all = Object.fromEntries([...new Set(given.keys())].map((name) => [name, given.getAll(name)]));
  await visitors['ada']!.send(action!, all);
  await acme.quiet();
}
const newestEvents = async (count: number) =>
  (await acme.call('GET', '/v1/logs/acme?repositories=all', { as: acme.admin })).body.events.slice(0, count);
const plan = async (name: string, more: object = {}) => {
  const body = {
    ...{ name, reason: name, start: '2027-05-01T08:00:00', end: '2027-05-02T08:00:00', timezone: 'UTC' },
    ...{ repositories: { include: ['web'] }, ...more },
  };
  const {
    status,
    body: made,
    text,
  } = await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body });
  expect(status, text).toBe(201);
  return made.id as string;
};
const planNames = async () =>
  (await acme.call('GET', '/v1/freeze_plans/acme', { as: acme.admin })).body.freeze_plans.map(
    ({ name }: { name: string }) => name,
  );

test('freezes of a repository end and scheduled ones are deleted, each in the log, and one Undo restores them', async () => {
  const later = { start: '2027-04-01T08:00:00', end: '2027-04-02T08:00:00' };
  for (const [name, more] of [
    ['One', {}],
    ['Two', {}],
    ['Later', later],
    ['Kept', later],
  ] as const)
    await acme.freeze('acme/web', { reason: name, ...more });
  expect(acme.frozen('acme/web')).toEqual([1, 2]);
  const boxes = await open(web);
  expect(Object.keys(boxes).toSorted()).toEqual(['Kept', 'Later', 'One', 'Two']);
  const unsaid = await send(web, [boxes['One']!]);
  expect([unsaid.status, unsaid.text.includes('Enter a reason.')]).toEqual([422, true]);
  const { location } = await send(web, [boxes['One']!, boxes['Two']!, boxes['Later']!], reason);
  expect(location).toMatch(/^\/repos\/acme\/web\?said=unfrozen&undo=/);
  expect(acme.frozen('acme/web')).toEqual([]);
  expect(Object.keys(await open(web))).toEqual(['Kept']);
  expect(await newestEvents(3)).toMatchObject(
    Array.from({ length: 3 }, () => ({
      type: 'scheduled_freeze.delete',
      trigger: 'page',
    })),
  );
  await undo(location);
  expect(acme.frozen('acme/web')).toEqual([1, 2]);
  expect(Object.keys(await open(web))).toHaveLength(4);
});

test('what somebody changed meanwhile stays, is named with the reason, and stops no other', async () => {
  const boxes = await open(web);
  const kept = boxes['Kept']!.split(' ')[0]!;
  await acme.update('acme/web', kept, { reason: 'Kept for good' });
  const answer = await send(web, [boxes['Kept']!, boxes['One']!, boxes['Two']!, boxes['Later']!], reason);
  expect(answer.status).toBe(409);
  expect(answer.text).toContain('3 rows were changed, and 1 could not be changed:');
  expect(words(answer)).toMatch(/Kept for good\W+Somebody changed this freeze/);
  expect(Object.keys(await open(web))).toEqual(['Kept for good']);
  // The way back still has Undo.
  await undo(/href="(\/repos\/acme\/web\?said[^"]*)"/.exec(answer.text)![1]!.replaceAll('&amp;', '&'));
  expect(Object.keys(await open(web))).toHaveLength(4);
  const all = Object.values(await open(web));
  await send(web, all, reason);
});

test('plans are deleted together, by admins of the owner', async () => {
  const ids = [];
  for (const name of ['First', 'Second', 'Third']) ids.push(await plan(name));
  await acme.quiet();
  const boxes = await open(plans);
  expect(Object.keys(boxes).toSorted()).toEqual(['First', 'Second', 'Third']);
  expect(await open(plans, 'rita')).toEqual({});
  const refused = await send(plans, [boxes['First']!, boxes['Second']!], reason, 'wes');
  expect(refused.status).toBe(403);
  const change = { reason: 'Another' };
  await acme.call('PATCH', `/v1/freeze_plans/acme/${ids[1]}`, { as: acme.admin, body: change });
  const answer = await send(plans, [boxes['First']!, boxes['Second']!], reason);
  expect(words(answer)).toMatch(/Second\W+Somebody changed this plan/);
  expect((await planNames()).toSorted()).toEqual(['Second', 'Third']);
  const rest = Object.values(await open(plans));
  expect(words(await visitors['ada']!.open(plans))).toContain('You cannot undo this.');
  const { location } = await send(plans, rest, reason);
  expect(location).toBe(`${plans}?said=deleted`);
  const after = await visitors['ada']!.open(location);
  expect([after.text.includes('Deleted.'), after.text.includes('Undo')]).toEqual([true, false]);
  // Nor does an address from before offer it.
  const now = acme.clock.now();
  const before = await visitors['ada']!.open(`${location}&undo=${now - 5000}-${now}`);
  expect(before.text).not.toContain('class="undo"');
  expect(await planNames()).toEqual([]);
});

test.each([
  [plans, async () => plan('Gone'), 'Gone', (id: string) => `/v1/freeze_plans/acme/${id}`],
  [
    web,
    async () => (await acme.freeze('acme/web', { reason: 'Gone' })).id,
    'Gone',
    (id: string) => `/v1/repos/acme/web/scheduled_freeze/${id}`,
  ],
])(
  'where all rows are gone, the page names them and does not say that they were deleted: %s',
  async (path, make, name, at) => {
    const id = await make();
    await acme.quiet();
    const box = (await open(path))[name]!;
    await acme.call('DELETE', at(id), { as: acme.admin, body: reason });
    await acme.quiet();
    const answer = await send(path, [box], reason);
    expect(words(answer)).toMatch(
      /0 rows were changed, and 1 could not be changed: Back to the list Gone : It is no longer there\./,
    );
    expect([answer.status, answer.text.includes(`href="${path}"`)]).toEqual([409, true]);
    expect(answer.text).not.toContain('said=');
  },
);

test('what somebody changes while a press is under way stays', async () => {
  for (const name of ['Early', 'Late']) await acme.freeze('acme/web', { reason: name });
  const boxes = await open(web);
  const { db } = acme.app.deps;
  // Whoever changes the second one comes between.
  const transaction = db.$transaction.bind(db);
  const held = vi.spyOn(db, '$transaction').mockImplementationOnce((async (work: never) => {
    await acme.update('acme/web', boxes['Late']!.split(' ')[0]!, { reason: 'Later still' });
    return transaction(work);
  }) as never);
  const answer = await send(web, [boxes['Early']!, boxes['Late']!], reason);
  held.mockRestore();
  expect(words(answer)).toMatch(/Late\W+Somebody changed this freeze/);
  const left = await open(web);
  expect(Object.keys(left)).toEqual(['Later still']);
  await send(web, Object.values(left), reason);
});

test('requests are approved together where the reader may, and one Undo revokes them', async () => {
  await acme.freeze('acme/web');
  await acme.freeze('acme/api');
  const bob = acme.github.addToken('bob');
  for (const number of [1, 2]) await request('acme/web', number, {}, bob);
  await request('acme/api', 1, {}, bob);
  expect(Object.keys(await open(exemptions))).toEqual(['acme/web #1', 'acme/web #2', 'acme/api #1']);
  // Only what she may decide on has a box; a forged one names what stayed.
  const ritas = await open(exemptions, 'rita');
  expect(Object.keys(ritas)).toEqual(['acme/web #1', 'acme/web #2']);
  const all = Object.values(await open(exemptions));
  const answer = await send(exemptions, [all[0]!, all[2]!], {}, 'rita');
  expect([answer.status, acme.frozen('acme/web'), acme.frozen('acme/api')]).toEqual([403, [2], [1, 2]]);
  expect(words(answer)).toMatch(/acme\/api #1\W+\w/);
  // Whoever may not see the repository learns no name.
  const stranger = await send(exemptions, [all[2]!], {}, 'wes');
  expect(words(stranger)).toContain(`${all[2]!.trim()} : It is no longer there.`);
  expect(stranger.text).not.toContain('acme/api');
  expect(stranger.text).not.toContain('said=');

  const { location } = await send(exemptions, Object.values(await open(exemptions)));
  expect([acme.frozen('acme/web'), acme.frozen('acme/api')]).toEqual([[], [2]]);
  expect(await newestEvents(2)).toMatchObject([
    { type: 'exemption.approved' },
    { type: 'exemption.approved' },
  ]);
  await undo(location);
  expect([acme.frozen('acme/web'), acme.frozen('acme/api')]).toEqual([[2], [1, 2]]);
});

test.each([plans, exemptions, web])('a press without a row changes nothing: %s', async (path) => {
  const { status, text } = await send(path, [], reason);
  expect([status, text.includes('Select at least one row.')]).toEqual([422, true]);
});
