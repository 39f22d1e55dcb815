import { beforeAll, beforeEach, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { hiddenOf, Visitor } from '../support/visitor.ts';

// How the form of a plan asks when it repeats, what it says of mistakes, and what it shows before it saves.

const acme = acmeForAll();
let ada: Visitor;
const newPlan = '/owners/acme/plans/new';

beforeAll(async () => {
  await acme.repository('web', [{}]);
  ada = new Visitor(acme);
  await ada.signIn('ada');
});
// One person changes only so much in a minute.
beforeEach(() => acme.advanceTo(new Date(acme.clock.now() + 120_000)));

const release = { reason: 'Release', start: '2026-11-27T18:00', end: '2026-11-30T08:00', include: 'web' };
const planOf = (name: string) => acme.app.deps.db.freezePlan.findFirstOrThrow({ where: { name } });
/** Looks, and presses the button. */
async function save(path: string, given: Record<string, string | string[]>) {
  const fields = { ...given, version: hiddenOf((await ada.open(path)).text, 'version') };
  const { text } = await ada.send(path, { ...fields, step: 'preview' });
  const previewed = hiddenOf(text, 'previewed');
  return ada.send(path, { ...fields, previewed, step: 'save' });
}

test('an error is at its field', async () => {
  const answer = await ada.send(newPlan, {
    ...release,
    zone: 'Europe/Pariss',
    repeat: 'every',
    rule: 'FREQ=SOMETIMES',
    step: 'preview',
  });
  expect(answer.status).toBe(422);
  for (const field of ['zone', 'rule']) expect(answer.text).toContain(`id="${field}-problem"`);
  expect(answer.text).toContain('<a href="#zone">Correct the fields below.</a>');
  expect(answer.text).toContain('FREQ=SOMETIMES');
  const empty = await ada.send(newPlan, { ...release, include: '', step: 'preview' });
  expect(empty.text).toContain('id="include-problem"');
});

test.each([
  ['every', { every: 'two', day: ['MO', 'FR'] }, 'Enter a whole number from 1 to 9999.'],
  [
    'every',
    { unit: 'day', end: '2026-11-29T08:00' },
    'An occurrence begins before the one ahead of it ends.',
  ],
  ['until', { until: '2027-02-30' }, 'Enter a date like 2026-12-24.'],
  ['except', { except: '24.12., 25.12.' }, 'Enter a date like 2026-12-24.'],
])('a repetition that makes no sense is an error at %s, and stays typed', async (field, typed, message) => {
  const answer = await ada.send(newPlan, { ...release, repeat: 'every', ...typed, step: 'preview' });
  expect(answer.status).toBe(422);
  expect(answer.text.split(message)).toHaveLength(2);
  const [, problem = ''] = answer.text.split(`id="${field}-problem"`);
  expect(problem.trimStart().slice(1)).toMatch(new RegExp(`^${message.replaceAll('.', '\\.')}`));
  for (const [name, value] of Object.entries(typed))
    for (const each of [value].flat())
      expect(answer.text).toMatch(
        new RegExp(`name="${name}"[^>]*value="${each}"|name="${name}"[^>]*>\\s*${each}</textarea>`),
      );
});

test('every second Friday except Christmas needs six fields and no rule', async () => {
  const fields = { ...release, repeat: 'every', every: '2', except: '2026-12-25' };
  const { text } = await ada.send(newPlan, { ...fields, step: 'preview' });
  expect(text).toContain('Repeats: Every 2 weeks, except on 2026-12-25');
  expect(text).toContain('2026-12-11 18:00 UTC');
  expect(text).not.toContain('2026-12-25 18:00');
  expect(text).not.toContain('The nearest start');
  const wrong = await ada.send(newPlan, { ...fields, except: '2026-12-24', step: 'preview' });
  expect(wrong.text).toContain('The plan skips 2026-12-24 (<code dir="auto">except</code>)');
  const { location } = await save(newPlan, fields);
  const { id, name, rule } = await planOf('Release');
  expect([name, rule]).toEqual(['Release', 'FREQ=WEEKLY;INTERVAL=2']);
  expect(location).toContain(id);
});

test.each([
  [
    'FREQ=MONTHLY;BYDAY=4FR',
    /name="monthly_on"\s+value="weekday"\s+checked/,
    { unit: 'month', monthly_on: 'weekday' },
  ],
  ['BYDAY=SA,FR;FREQ=WEEKLY', /name="day"\s+value="SA"\s+checked/, { unit: 'week', day: ['FR', 'SA'] }],
  [
    'FREQ=MONTHLY;BYDAY=-1FR',
    /name="monthly_on"\s+value="last"\s+checked/,
    { unit: 'month', monthly_on: 'last' },
  ],
  [
    'FREQ=MONTHLY;BYDAY=-1SA',
    /name="rule"[^>]* value="FREQ=MONTHLY;BYDAY=-1SA"/,
    { rule: 'FREQ=MONTHLY;BYDAY=-1SA' },
  ],
])('the form of a plan with %s says it, and keeps it', async (rule, said, more) => {
  const body = {
    ...{ name: rule, reason: 'Release', repositories: { include: ['web'] }, timezone: 'UTC' },
    ...{ start: '2026-11-27T18:00:00', end: '2026-11-27T20:00:00', recurrence: { rule } },
  };
  const { id } = (await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body })).body;
  const path = `/owners/acme/plans/${id}/edit`;
  expect((await ada.open(path)).text).toMatch(said);
  await save(path, { ...release, ...more, name: rule, end: '2026-11-27T21:00', repeat: 'every' });
  expect(await planOf(rule)).toMatchObject({ end: '2026-11-27T21:00:00', rule });
});

test('the preview lists the pull requests that would be blocked, and finds some of them', async () => {
  const changes = Array.from({ length: 22 }, (_, index) => ({ title: `Change ${index + 1}` }));
  await acme.repository('busy', [...changes, { title: 'Excluded', labels: ['hotfix'] }]);
  const fields = { ...release, include: 'busy\nweb', exception: 'label=hotfix' };
  const look = async (find: string) => (await ada.send(newPlan, { ...fields, find, step: 'preview' })).text;
  const listed = (text: string) =>
    [...text.matchAll(/href="\/repos\/acme\/(\w+\/pulls\/\d+)"/g)].map(([, path]) => path);
  const all = await look('');
  expect(all).toContain('<summary>busy: 22 pull requests</summary>');
  expect(listed(all).filter((path) => path!.startsWith('busy/'))).toHaveLength(20);
  expect(all).toContain('<p>and 2 more</p>');
  expect(listed(all)).toContain('web/pulls/1');
  expect(all).not.toContain('Excluded</span>');
  expect(listed(await look('CHANGE 22'))).toEqual(['busy/pulls/22']);
  expect(listed(await look('#21'))).toEqual(['busy/pulls/21']);
  expect(listed(await look('web'))).toEqual(['web/pulls/1']);
  expect(await look('no such')).toMatch(/None with “no such”/);
});

test('a form that names what a freezer may not freeze comes back as it was typed, and names that', async () => {
  acme.github.addUser('rita');
  await acme.repository('api', [{}]);
  await acme.repository('infra', [{}]);
  await acme.repository('vault', [{}], { private: true });
  for (const name of ['web', 'api'])
    await acme.call('PATCH', `/v1/repos/acme/${name}/settings`, {
      as: acme.admin,
      body: { freezers: ['rita'] },
    });
  const rita = new Visitor(acme);
  await rita.signIn('rita');
  const plan = { ...release, start: '2026-11-27T18:00:00', end: null, name: 'Ritas', timezone: 'UTC' };
  const body = { ...plan, include: undefined, repositories: { include: ['api'] } };
  const { id } = (await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body })).body;
  const edit = `/owners/acme/plans/${id}/edit`;
  const version = hiddenOf((await rita.open(edit)).text, 'version');
  const typed = { ...release, reason: 'Three pages of reasons', except: '2026-12-24', step: 'preview' };
  const problem = (text: string) => /<p class="problem"[^>]*>([^]*?)<\/p>/.exec(text)?.[1] ?? '';
  for (const [path, fields] of [
    [newPlan, { include: 'web\nserach\nvault\ninfra' }],
    [edit, { include: 'api\nserach\nvault\ninfra', version }],
    ['/owners/acme/freeze', { names: 'web\nserach\nvault\ninfra', include: '' }],
  ] as const) {
    const answer = await rita.send(path, { ...typed, ...fields });
    expect([path, answer.status]).toEqual([path, 403]);
    // What they cannot see and what does not exist are one to them.
    expect(problem(answer.text)).toContain('You can see no repository of acme named serach, vault.');
    expect(problem(answer.text)).toContain('You aren&#39;t an admin or freezer of infra.');
    expect(answer.text).toMatch(/<textarea[^>]* name="reason"[^>]*>\nThree pages of reasons</);
    expect(answer.text).toMatch(/\nserach\nvault</);
    expect(answer.text).toMatch(/value="infra"\s+checked/);
    expect(hiddenOf(answer.text, 'version')).toBe(path === edit ? version : '');
  }
  // Of a plan that is not hers she does not get the form.
  acme.github.setRole('acme/infra', 'rita', 'write');
  const other = { ...body, name: 'Others', repositories: { include: ['infra'] } };
  const others = (await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body: other })).body.id;
  const refused = await rita.send(`/owners/acme/plans/${others}/edit`, { ...typed, version });
  expect([refused.status, refused.text.includes('<form class="form"')]).toEqual([403, false]);
});
