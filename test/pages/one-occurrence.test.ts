import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { Visitor } from '../support/visitor.ts';

// From the calendar, one occurrence of a plan is skipped, put back and moved. It is 2026-03-01.

const acme = acmeForAll();
let ada: Visitor;
let id = '';
const calendar = '/owners/acme/calendar?month=2026-03';
const wordsOf = (text: string) => text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
/** The bars of the grid, by their times and texts, and where their cards lead. */
const barsOf = (text: string) =>
  [...text.matchAll(/<div class="stay [^"]*">[\s\S]*?<div class="peek">[\s\S]*?<\/div>/g)].map(([bar]) => ({
    says: wordsOf(bar.split('<div class="peek">')[0]!).trim(),
    card: wordsOf(bar.split('<div class="peek">')[1]!).trim(),
    change: /href="([^"]*\/occurrences\/[^"#]*)"/.exec(bar)?.[1],
  }));

beforeAll(async () => {
  acme.github.addUser('mallory');
  for (const name of ['web', 'api', 'docs']) await acme.repository(name);
  const body = {
    ...{ name: 'Fridays', reason: 'Release', repositories: { include: ['*'] }, timezone: 'UTC' },
    ...{ start: '2026-03-06T09:00:00', end: '2026-03-06T18:00:00', recurrence: { rule: 'FREQ=WEEKLY' } },
  };
  ({ id } = (await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body })).body);
  await acme.quiet();
  ada = new Visitor(acme);
  await ada.signIn('ada');
});

test('a plan is one bar with its time, and its card says where and what one can do', async () => {
  const bars = barsOf((await ada.open(calendar)).text);
  expect(bars.map(({ says }) => says)).toEqual(Array.from({ length: 5 }, () => '09:00 Release ×3'));
  expect(bars[0]!.card).toBe('Release Fri 6 Mar, 09:00 to 18:00 · Scheduled web, api, docs Skip Move');
  expect(bars[0]!.change).toBe(`/owners/acme/plans/${id}/occurrences/2026-03-06T09:00:00`);
  const mallory = new Visitor(acme);
  await mallory.signIn('mallory');
  expect(barsOf((await mallory.open(calendar)).text)[0]).toMatchObject({ change: undefined });
});

test('what ended in one repository first is still one bar', async () => {
  await acme.call('POST', '/v1/freeze_plans/acme', {
    as: acme.admin,
    body: {
      name: 'Now',
      reason: 'Incident',
      repositories: { include: ['*'] },
      start: null,
      end: '2026-03-01T20:00:00',
      timezone: 'UTC',
    },
  });
  await acme.quiet();
  const {
    scheduled_freezes: [first],
  } = (await acme.call('GET', '/v1/repos/acme/web/scheduled_freeze', { as: acme.admin })).body;
  await acme.advanceTo('2026-03-01T12:00:00Z');
  await acme.remove('acme/web', first.id);
  const bars = barsOf((await ada.open(calendar)).text).filter(({ says }) => says.includes('Incident'));
  expect(bars.map(({ says }) => says)).toEqual(['09:00 Incident ×3']);
});

test('a week and a list show the same, and what finds no room leads to its week', async () => {
  const week = await ada.open('/owners/acme/calendar?show=week&day=2026-03-13');
  expect(week.text).toContain('<h1>9 to 15 March 2026</h1>');
  expect(barsOf(week.text)).toHaveLength(1);
  const list = await ada.open(`${calendar}&as=list`);
  expect(barsOf(list.text)).toEqual([]);
  expect(list.text).toContain('<div class="listed">');
  for (const name of ['a', 'b', 'c', 'd', 'e'])
    await acme.freeze('acme/web', { reason: name, start: '2026-03-25T10:00:00', end: '2026-03-25T11:00:00' });
  const { text } = await ada.open(calendar);
  expect(wordsOf(text)).toContain('+1 more');
  expect(text).toContain('href="/owners/acme/calendar?day=2026-03-25&amp;show=week"');
});

test('one is skipped and put back, and the plan’s page says so', async () => {
  const path = `/owners/acme/plans/${id}/occurrences/2026-03-13T09:00:00`;
  const { text } = await ada.open(path);
  expect(wordsOf(text)).toContain('The next one is at Fri 20 Mar, 09:00');
  const skipped = await ada.send(path, { do: 'skip' });
  expect([skipped.status, skipped.location]).toEqual([303, `${path}?said=saved`]);
  await acme.quiet();
  expect(wordsOf((await ada.open(path)).text)).toMatch(/Skipped[\s\S]*Put back/);
  const plan = wordsOf((await ada.open(`/owners/acme/plans/${id}`)).text);
  expect(plan).toContain('Skipped Fri 13 Mar, 09:00 Put back');
  expect(plan).not.toContain('Changed separately');
  const bars = barsOf((await ada.open(calendar)).text).filter(({ says }) => says.includes('Release'));
  expect(bars).toHaveLength(4);
  await ada.send(path, { do: 'back' });
  await acme.quiet();
  expect(wordsOf((await ada.open(path)).text)).toContain('Skip this time');
});

test('one is moved, and mistakes are at their fields', async () => {
  const path = `/owners/acme/plans/${id}/occurrences/2026-03-20T09:00:00`;
  const wrong = await ada.send(path, { do: 'move', start: '2026-03-21T10:00', end: '2026-03-21T09:00' });
  expect(wrong.status).toBe(422);
  expect(wrong.text).toMatch(/id="end-problem">\s*The end must be after the start/);
  expect(wrong.text).toContain('value="2026-03-21T10:00"');
  const moved = await ada.send(path, { do: 'move', start: '2026-03-21T10:00', end: '2026-03-21T12:00' });
  expect(moved.location).toBe(`/owners/acme/plans/${id}/occurrences/2026-03-21T10:00:00?said=saved`);
  expect(wordsOf((await ada.open(moved.location)).text)).toContain(
    'It was moved. The plan has it at Fri 20 Mar, 09:00',
  );
  await acme.quiet();
  const bars = barsOf((await ada.open(calendar)).text);
  expect(bars.map(({ says }) => says)).toContain('10:00 Release ×3');
});

test.each([
  ['3', '2026-03-30T09:00:00', '2026-03-30T18:00:00'],
  ['-2', '2026-03-25T09:00:00', '2026-03-25T18:00:00'],
  ['1e9', '2026-03-27T09:00:00', '2026-03-27T18:00:00'],
])('a bar that was dropped %s days away fills in the form, and moves nothing', async (days, start, end) => {
  const path = `/owners/acme/plans/${id}/occurrences/2026-03-27T09:00:00`;
  const { text } = await ada.open(`${path}?days=${days}`);
  const values = [...text.matchAll(/type="datetime-local"[^>]*?value="([^"]*)"/g)].map(([, value]) => value);
  expect(values).toEqual([start, end]);
  expect(await ada.open(path)).toMatchObject({ status: 200 });
});

test('what is not there, or not theirs, leads to the plan', async () => {
  const path = `/owners/acme/plans/${id}/occurrences`;
  expect(await ada.open(`${path}/2026-03-14T09:00:00`)).toMatchObject({
    status: 303,
    location: `/owners/acme/plans/${id}`,
  });
  expect(await ada.open(`${path}/nonsense`)).toMatchObject({ status: 303 });
  const mallory = new Visitor(acme);
  await mallory.signIn('mallory');
  expect((await mallory.send(`${path}/2026-03-27T09:00:00`, { do: 'skip' })).status).toBe(403);
});
