import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { RepositoryState } from '../../src/explanations/repository-states.ts';
import { endOfForm, freezeForm, readFreezeFields } from '../../src/pages/freeze-now/freeze-form.ts';
import { acmeForAll } from '../support/acme.ts';
import { Visitor } from '../support/visitor.ts';

// What Freeze now asks: how long, and which of many repositories.

const acme = acmeForAll();
let ada: Visitor;
const form = '/owners/acme/freeze';
const names = Array.from({ length: 14 }, (_, index) => `app-${index}`);

beforeAll(async () => {
  for (const name of names) await acme.repository(name, []);
  await acme.repository('own', [], { roles: { bob: 'admin' } });
  ada = new Visitor(acme);
  await ada.signIn('ada');
});
// One person changes only so much in a minute.
beforeEach(() => acme.advanceTo(new Date(acme.clock.now() + 120_000)));

/** The repositories with a box: all, and those with a tick. */
const boxesOf = (text: string) => {
  const boxes = [...text.matchAll(/name="repository"\s+value="([^"]+)"(\s+checked)?/g)];
  return {
    all: boxes.map(([, name]) => name!),
    ticked: boxes.filter(([, , tick]) => tick).map(([, name]) => name!),
  };
};
const typedOf = (text: string) => /name="names"[^>]*>\n([^<]*)</.exec(text)?.[1];

test('the filter shows what matches, and keeps what is ticked and typed', async () => {
  const fields = {
    which: 'ticked',
    repository: 'app-3',
    names: 'x-*',
    reason: '',
    filter: 'APP-1',
    step: 'show',
  };
  const { status, text } = await ada.send(form, fields);
  expect(status).toBe(200);
  expect(boxesOf(text)).toEqual({
    all: ['app-1', 'app-10', 'app-11', 'app-12', 'app-13', 'app-3'],
    ticked: ['app-3'],
  });
  expect(typedOf(text)).toBe('x-*');
  expect(text).not.toContain('Enter a reason.');
});

test('a person who may not freeze all filters without choosing anything first', async () => {
  const bob = new Visitor(acme);
  await bob.signIn('bob');
  const { text } = await bob.open(form);
  expect(text).toMatch(/value="show"[^>]*formmethod="get"/);
  const found = await bob.open(`${form}?which=ticked&reason=INC-1&filter=ow&step=show`);
  expect(boxesOf(found.text).all).toEqual(['own']);
  expect(found.text).toContain('INC-1</textarea>');
});

test('a typed pattern is frozen beside a ticked repository', async () => {
  const fields = { which: 'ticked', repository: 'own', names: 'app-1?', reason: 'INC-2' };
  const seen = await ada.send(form, { ...fields, step: 'preview' });
  expect(seen.text).toContain('Freeze 5 repositories');
  const previewed = /name="previewed"\s+value="([^"]*)"/.exec(seen.text)![1]!;
  expect((await ada.send(form, { ...fields, previewed, step: 'freeze' })).status).toBe(303);
  const plan = await acme.app.deps.db.freezePlan.findFirstOrThrow({ where: { reason: 'INC-2' } });
  expect(plan.include).toEqual(['own', 'app-1?']);
});

test('of 2,000 repositories, 100 that match and what is selected are listed, in less than 150 KB', () => {
  const repositories = Array.from({ length: 2000 }, (_, index) => ({
    ...{ id: BigInt(index), name: `service-number-${index}`, isFreezable: true },
  })) as RepositoryState[];
  const shown = (which: 'all' | 'ticked', selected: string[]) =>
    String(
      freezeForm({
        ...{
          login: 'acme',
          repositories,
          mayAll: true,
          filter: '',
          problems: new Map(),
          preview: null,
          templates: '',
          maySaveTemplate: false,
        },
        fields: readFreezeFields(
          new URLSearchParams(selected.map((name): [string, string] => ['repository', name])),
          which,
        ),
      }),
    );
  const none = shown('all', []);
  expect(boxesOf(none).all).toHaveLength(100);
  expect(none).toContain('and 1,900 more: filter');
  const all = shown(
    'ticked',
    repositories.map(({ name }) => name),
  );
  expect([...boxesOf(all).ticked, ...typedOf(all)!.split('\n')]).toHaveLength(2000);
  for (const text of [none, all]) expect(text.length).toBeLessThan(150_000 - 20_000);
});

test.each([
  ['4h', '', '2026-03-01T22:00:00Z', '2026-03-02T11:00:00'],
  // In Tokyo it is 07:00 of the 2nd, and 08:00.
  ['morning', '', '2026-03-01T22:00:00Z', '2026-03-02T08:00:00'],
  ['morning', '', '2026-03-01T23:00:00Z', '2026-03-03T08:00:00'],
  ['until', '2026-04-01T10:00', '2026-03-01T22:00:00Z', '2026-04-01T10:00'],
  ['open', '2026-04-01T10:00', '2026-03-01T22:00:00Z', null],
] as const)('%s %s from %s ends at %s', (duration, until, now, end) =>
  expect(endOfForm({ duration, until, zone: 'Asia/Tokyo' }, new Date(now))).toBe(end),
);

test.each([
  ['', 'Choose a date and a time.'],
  ['2026-02-01T10:00', 'The end'],
])('the end "%s" is an error at its field', async (until, message) => {
  const fields = { which: 'all', reason: 'x', duration: 'until', until, step: 'preview' };
  const { status, text } = await ada.send(form, fields);
  expect(status).toBe(422);
  expect(text).toMatch(new RegExp(`id="until-problem">\\s*${message}`));
  if (until) expect(text).toContain(`value="${until}"`);
});

test.each([
  ['a freeze', form, 'freeze', { repository: ['app-1', 'app-2'] }],
  ['a freeze by patterns', form, 'freeze', { names: 'app-1?' }],
  ['a plan', '/owners/acme/plans/new', 'save', { repository: ['app-1', 'app-2'], include: '' }],
])(
  '%s of all repositories that selects some is asked again, and freezes nothing',
  async (_, to, step, named) => {
    const fields = { which: 'all', reason: 'x', duration: '1h', start: '2026-04-01T10:00', ...named };
    const { status, text } = await ada.send(to, { ...fields, step });
    expect(status).toBe(422);
    expect(text).toContain('You chose all repositories, and selected some.');
    expect(text).toMatch(/value="ticked"\s+checked/);
    expect(boxesOf(text).ticked).toEqual('repository' in named ? named.repository : []);
    expect(await acme.app.deps.db.freeze.count({ where: { reason: 'x' } })).toBe(0);
  },
);
