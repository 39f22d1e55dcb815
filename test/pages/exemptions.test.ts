import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { exemptionsOf, type Shown } from '../support/exemptions.ts';
import { Visitor, words } from '../support/visitor.ts';

// All exemptions of an owner on one page: what waits for a decision first, with the forms to decide.

const acme = acmeForAll();
const visitors = new Map<string, Visitor>();
const path = '/owners/acme/exemptions';
const see = async (login: string, query = '') => words(await visitors.get(login)!.open(path + query));
let first: Shown;
let tokens: Record<string, string>;

beforeAll(async () => {
  for (const login of ['wendy', 'rita', 'mallory']) acme.github.addUser(login);
  const roles = { wendy: 'write', rita: 'read' } as const;
  await acme.repository('web', [{}, {}, {}], { roles });
  await acme.repository('api', [{}]);
  tokens = Object.fromEntries(
    ['ada', 'wendy'].map((login) => [
      login,
      acme.github.addToken(login, { kind: 'classic', scopes: ['repo', 'admin:org'] }),
    ]),
  );
  for (const login of ['ada', 'wendy', 'rita', 'mallory']) {
    const visitor = new Visitor(acme);
    await visitor.signIn(login);
    visitors.set(login, visitor);
  }
  visitors.set('nobody', new Visitor(acme));
  await acme.freeze('acme/web', { reason: 'Incident' });
  await acme.freeze('acme/api', { reason: 'Incident' });
  const exemptions = exemptionsOf(acme);
  first = await exemptions.exempt('acme/web', 1, { reason: 'Waits first' }, tokens['wendy']);
  await exemptions.exempt('acme/web', 2, { reason: 'Waits too' }, tokens['wendy']);
  await exemptions.exempt('acme/api', 1, { reason: 'Is active' }, tokens['ada']);
  const gone = await exemptions.exempt('acme/web', 3, { reason: 'Is over' }, tokens['wendy']);
  await exemptions.decide('deny', 'acme/web', gone, tokens['ada']);
});

test('requests come first, then active ones, then those that are over', async () => {
  const text = await see('ada');
  const order = [
    'Waiting for a decision',
    'acme/web #1',
    'Waits first',
    'Waits too',
    ' Active ',
    'acme/api #1',
    'Is active',
    ' Over ',
    'Is over',
  ];
  const places = order.map((each) => text.indexOf(each));
  expect(places).toEqual(places.toSorted((one, other) => one - other));
  expect(places[0]).toBeGreaterThan(0);
});

test('by repository and by state', async () => {
  expect(await see('ada', '?repository=API')).not.toContain('Waits first');
  expect(await see('ada', '?repository=api')).toContain('Is active');
  const denied = await see('ada', '?state=denied');
  expect(denied).toContain('Is over');
  expect(denied).not.toMatch(/Waits first|Is active/);
  expect(await see('ada', '?cursor=x')).toContain('Is over');
});

test('writers see the repositories that they can write to, and cannot decide; others see nothing', async () => {
  const text = await see('wendy');
  expect(text).toContain('Waits first');
  expect(text).toContain('Withdraw');
  expect(text).not.toMatch(/Approve |Deny|Is active/);
  for (const login of ['rita', 'mallory']) {
    const seen = await visitors.get(login)!.open(path);
    expect([seen.status, seen.text.includes('Waits first')]).toEqual([403, false]);
  }
  expect((await visitors.get('nobody')!.open(path)).status).toBe(302);
});

test('an admin decides there, and comes back to the list', async () => {
  const form = `/repos/acme/web/pulls/1/exemptions/${first.id}/approve`;
  const { text } = await visitors.get('ada')!.open(path);
  expect(text).toContain(`action="${form}"`);
  const answer = await visitors.get('ada')!.send(form, { from_list: 'yes' });
  // The page has the button that takes it back.
  expect([answer.status, answer.location]).toEqual([303, `${path}?said=approved&approved=${first.id}`]);
  await acme.quiet();
  expect(await see('ada')).toMatch(/Active .*acme\/web #1 Exempt/);
});

test('what is over has pages', async () => {
  const { exemption } = acme.app.deps.db;
  const { serial: _, ...row } = await exemption.findFirstOrThrow({ where: { reason: 'Is over' } });
  const data = Array.from({ length: 30 }, (_, index) => ({
    ...row,
    id: crypto.randomUUID(),
    reason: `Past ${index}`,
    requestedBy: { type: 'user', id: 1, name: 'ada' },
    decidedBy: { type: 'user', id: 1, name: 'ada' },
  }));
  await exemption.createMany({ data });
  const seen = await visitors.get('ada')!.open(path);
  const [, older] = /href="(\?[^"]*)"[^>]*>\s*Older exemptions/.exec(seen.text)!;
  expect(words(seen)).not.toContain('Is over');
  const next = await see('ada', older!.replaceAll('&amp;', '&'));
  expect(next).toContain('Is over');
  expect(next).not.toContain('Waiting for a decision');
});

test('whoever denies there is told that it was done', async () => {
  const { id } = await exemptionsOf(acme).exempt('acme/web', 3, { reason: 'Not today' }, tokens['wendy']);
  const form = `/repos/acme/web/pulls/3/exemptions/${id}/deny`;
  const { location } = await visitors.get('ada')!.send(form, { from_list: 'yes', reason: 'Wait' });
  expect(location).toBe(`${path}?said=denied`);
  const text = words(await visitors.get('ada')!.open(location));
  expect(text).toContain('Denied. What was asked for stays blocked.');
});
