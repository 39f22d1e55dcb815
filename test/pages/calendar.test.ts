import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { expectAtMost, fewestOf, statementsDuring } from '../support/statements.ts';
import { Visitor } from '../support/visitor.ts';

// What is frozen, was and will be, over days: for everybody as far as they can read the repositories. It is 2026-03-01.

const acme = acmeForAll();
let ada: Visitor;
let mallory: Visitor;
const calendar = '/owners/acme/calendar';

/** The list below the grid: each line as a reader sees it. */
const listOf = (text: string): string[] =>
  [...(text.split('<ol class="agenda">')[1]?.split('</ol>')[0] ?? '').matchAll(/<li>([\s\S]*?)<\/li>/g)].map(
    ([, item]) =>
      item!
        .replaceAll(/<[^>]+>/g, ' ')
        .replaceAll(/\s+/g, ' ')
        .trim(),
  );
const listed = async (visitor: Visitor, query = '') =>
  listOf((await visitor.open(`${calendar}?month=2026-03${query}`)).text);

const plan = (body: object) =>
  acme.call('POST', '/v1/freeze_plans/acme', {
    as: acme.admin,
    body: {
      repositories: { include: ['*'], exclude: [] },
      timezone: 'UTC',
      recurrence: null,
      ...body,
    },
  });

beforeAll(async () => {
  acme.github.addUser('mallory');
  for (const name of ['web', 'api', 'docs', 'mobile']) await acme.repository(name);
  await acme.repository('vault', [], { private: true });
  await acme.freeze('acme/web', {
    reason: 'INC-4711',
    public_reason: 'Incident',
    end: '2026-03-02T12:00:00',
  });
  const over = await acme.freeze('acme/api', { reason: 'Taken back', start: '2026-03-20T10:00:00' });
  await acme.remove('acme/api', over.id);
  const made = await plan({
    name: 'Weekly',
    reason: 'Release',
    start: '2026-03-06T18:00:00',
    end: '2026-03-09T08:00:00',
    recurrence: { rule: 'FREQ=WEEKLY', except: ['2026-05-08'], until: null },
  });
  expect(made.status, made.text).toBe(201);
  await acme.quiet();
  [ada, mallory] = [new Visitor(acme), new Visitor(acme)];
  await ada.signIn('ada');
  await mallory.signIn('mallory');
});

test('what a plan did to many repositories is one bar, and what never began is none', async () => {
  const lines = await listed(ada);
  expect(lines).toEqual([
    'Sun 1 Mar, 09:00 to Mon 2 Mar, 12:00 Frozen INC-4711 web',
    'Fri 6 Mar, 18:00 to Mon 9 Mar, 08:00 Scheduled Release 5 repositories',
    'Fri 13 Mar, 18:00 to Mon 16 Mar, 08:00 Scheduled Release 5 repositories',
    'Fri 20 Mar, 18:00 to Mon 23 Mar, 08:00 Scheduled Release 5 repositories',
    'Fri 27 Mar, 18:00 to Mon 30 Mar, 08:00 Scheduled Release 5 repositories',
    'Fri 3 Apr, 18:00 to Mon 6 Apr, 08:00 Scheduled Release 5 repositories',
  ]);
});

test('a plan shows its next year before its freezes exist, without skipped dates', async () => {
  const { text } = await ada.open(`${calendar}?month=2026-05`);
  expect(listOf(text).map((line) => line.slice(0, 'Fri 15 May'.length))).toEqual([
    // Its weekend reaches into the first week of the calendar.
    'Fri 24 Apr',
    'Fri 1 May,',
    'Fri 15 May',
    'Fri 22 May',
    'Fri 29 May',
  ]);
  expect(listOf(text).every((line) => line.includes('Scheduled Release 5 repositories'))).toBe(true);
  expect(listOf((await ada.open(`${calendar}?month=2027-02`)).text)).toHaveLength(5);
});

test('below its months, a calendar lists what begins within a year', async () => {
  const { text } = await ada.open(calendar);
  const months = text.slice(text.indexOf('id="later-heading"')).split('<h3>').slice(1);
  expect(months.map((month) => month.split('<')[0]).slice(0, 2)).toEqual(['April 2026', 'May 2026']);
  const later = months.flatMap(listOf);
  expect(later[0]).toMatch(/^Fri 10 Apr, 18:00 to Mon 13 Apr, 08:00/);
  expect(later.length).toBeGreaterThan(40);
  expect(later.some((line) => line.includes('Fri 8 May'))).toBe(false);
  expect((await mallory.open(calendar)).text).not.toContain('id="later-heading"');
});

test('others see public reasons, and nothing of private repositories or of later plans', async () => {
  const { text } = await mallory.open(`${calendar}?month=2026-03`);
  expect(listOf(text)[0]).toBe('Sun 1 Mar, 09:00 to Mon 2 Mar, 12:00 Frozen Incident web');
  expect(listOf(text)[1]).toContain('4 repositories');
  expect(text).not.toMatch(/INC-4711|vault|\/plans\/[0-9a-f]/);
  expect(listOf((await mallory.open(`${calendar}?month=2026-05`)).text)).toEqual([]);
  const hidden = await mallory.open(`${calendar}?repository=vault`);
  const absent = await mallory.open(`${calendar}?repository=absent`);
  expect([hidden.status, hidden.text]).toEqual([absent.status, absent.text]);
  expect(hidden.status).toBe(404);
});

test('a chosen repository shows its own, and links keep the choice', async () => {
  const { text } = await ada.open(`${calendar}?month=2026-03&repository=DOCS`);
  expect(listOf(text)).toHaveLength(5);
  expect(listOf(text)[0]).toBe('Fri 6 Mar, 18:00 to Mon 9 Mar, 08:00 Scheduled Release docs');
  expect(text).toContain('?month=2026-04&amp;repository=DOCS');
});

test('an ended freeze stays where it was, until it was deleted', async () => {
  const freeze = await acme.freeze('acme/mobile', { reason: 'Short', end: '2026-03-05T10:00:00' });
  await acme.advanceTo('2026-03-01T12:00:00Z');
  await acme.remove('acme/mobile', freeze.id);
  expect(await listed(ada, '&repository=mobile')).toContain('Sun 1 Mar, 09:00 to 12:00 Ended Short mobile');
});

test('what is over takes no place of what goes on and what comes that day', async () => {
  for (const reason of ['One', 'Two', 'Three', 'Four', 'Five']) {
    const { id } = await acme.freeze('acme/docs', { reason });
    await acme.advanceTo(new Date(acme.clock.now() + 60_000).toISOString());
    await acme.remove('acme/docs', id);
  }
  const until = { end: '2026-03-01T23:00:00' };
  await acme.freeze('acme/docs', { reason: 'Tonight', start: '2026-03-01T20:00:00', ...until });
  await acme.freeze('acme/docs', { reason: 'Going on', ...until });
  const { text } = await ada.open(`${calendar}?month=2026-03&repository=docs`);
  const bars = [...text.split('class="listed')[0]!.matchAll(/class="stay (\w+)[\s\S]*?<bdi>([^<]*)/g)];
  expect(bars.slice(0, 4).map(([, state, reason]) => `${state} ${reason}`)).toEqual([
    'ongoing Going on',
    'scheduled Tonight',
    'ended One',
    'ended Two',
  ]);
  expect(text).toContain('+3 more');
});

test('a day leads to a new plan that begins on it, in the zone of the reader', async () => {
  ada.cookies.set('zone', 'Europe/Paris');
  const { text } = await ada.open(`${calendar}?month=2026-03&repository=web`);
  expect(listOf(text)[0]).toMatch(/^Sun 1 Mar, 10:00 to Mon 2 Mar, 13:00/);
  const href = /href="([^"]*)" aria-label="Tuesday 24 March: new plan"/.exec(
    text.replaceAll(/\s+aria/g, ' aria'),
  )![1]!;
  const form = (await ada.open(href.replaceAll('&amp;', '&'))).text;
  expect(form).toMatch(/name="start"[\s\S]*?value="2026-03-24T00:00"/);
  expect(form).toMatch(/name="zone"[\s\S]*?value="Europe\/Paris"/);
  expect(form).toMatch(/name="repository"\s+value="web"\s+checked/);
  ada.cookies.delete('zone');
});

test('nonsense shows this month', async () => {
  for (const query of ['month=2026-13', 'month=0001-01', 'show=decade&zone=Mars/Base', 'month=x'])
    expect((await ada.open(`${calendar}?${query}`)).text).toContain('<h1>March 2026</h1>');
});

test.runIf(process.env['TEST_DATABASE_URL'])(
  'what it reads does not grow with the repositories',
  async () => {
    const open = () => ada.open(`${calendar}?month=2026-03`);
    const few = await fewestOf(() => statementsDuring(open));
    for (const name of ['a', 'b', 'c', 'd', 'e']) await acme.repository(name);
    const many = await fewestOf(() => statementsDuring(open));
    expect(few.length).toBeGreaterThan(2);
    expectAtMost(few.length, many);
  },
);
