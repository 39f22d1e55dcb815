import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type CalendarFile, calendarOf, startCalendarFile } from '../sandbox/calendar-file.ts';
import { acmeForAll } from './api/acme.ts';
import { testOfAmount } from './support/amounts.ts';
import { readCalendar } from './support/calendars.ts';
import { shortenPatience } from './support/patience.ts';

// A plan follows the calendar of public holidays: what is a holiday there, is a freeze here.

const acme = acmeForAll();
let calendar: CalendarFile;
beforeAll(async () => void (calendar = await startCalendarFile()));
afterAll(() => calendar.close());

const path = '/v1/freeze_plans/acme';
const as = () => ({ as: acme.keys.admin });
const easter = ['UID:easter', 'SUMMARY:Easter Monday (public holiday)', 'DTSTART;VALUE=DATE:20260406'];
const labour = ['UID:labour', 'SUMMARY:Labour Day (Public Holiday)', 'DTSTART;VALUE=DATE:20260501'];
const party = ['UID:party', 'SUMMARY:Summer party', 'DTSTART:20260407T150000Z', 'DURATION:PT2H'];
const timed = (uid: string, start: string, length = 'PT2H') => [
  `UID:${uid}`,
  'SUMMARY:Audit (public holiday)',
  `DTSTART:${start}`,
  `DURATION:${length}`,
];

const plan = (more: object = {}) => ({
  name: 'Holidays',
  reason: 'Public holiday',
  repositories: { include: ['web'] },
  timezone: 'Europe/Paris',
  source: { url: calendar.url, titles: ['*public holiday*'] },
  ...more,
});
const create = async (more: object = {}) => {
  const answer = await acme.call('POST', path, { ...as(), body: plan(more) });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
};
const show = async (id: string) => (await acme.call('GET', `${path}/${id}`, as())).body;
const change = (id: string, body: object) => acme.call('PATCH', `${path}/${id}`, { ...as(), body });
const freezes = async () =>
  (await acme.call('GET', '/v1/repos/acme/web/scheduled_freeze', as())).body.scheduled_freezes as Record<
    string,
    string
  >[];
const times = async () => (await freezes()).map(({ start, end }) => `${start} ${end}`);
/** @param from the present when the story began. */
const daysAhead = (from: number, days: number) =>
  new Date(from + days * 86_400_000).toISOString().replace(/[-:]|\.\d+/g, '');
const in20Minutes = () => acme.advanceTo(new Date(acme.clock.now() + 20 * 60_000));
const failures = async (plan: string) => {
  const log = await acme.call('GET', '/v1/logs/acme?event_type=freeze_plan.source_failed&per_page=100', as());
  const events = log.body.events as { metadata: Record<string, unknown>; outcome: string }[];
  return events.filter(({ metadata }) => metadata.freeze_plan_id === plan);
};

beforeEach(() => {
  calendar.trouble(null);
  calendar.publish(easter, labour, party);
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const { id } of (await acme.call('GET', path, as())).body.freeze_plans)
    await acme.call('DELETE', `${path}/${id}`, as());
});

test('a plan has the events of the calendar with these titles', async () => {
  await acme.advanceTo('2026-03-30T08:00:00Z');
  const body = await create();
  expect(body).toMatchObject({
    start: null,
    end: null,
    recurrence: null,
    source: { url: calendar.url, titles: ['*public holiday*'] },
    source_state: { read_at: expect.stringMatching(/Z$/), error: null },
    next_occurrences: [
      {
        start: '2026-04-06T00:00:00',
        end: '2026-04-07T00:00:00',
        starts_at: '2026-04-05T22:00:00.000Z',
        ends_at: '2026-04-06T22:00:00.000Z',
      },
      { start: '2026-05-01T00:00:00' },
    ],
  });
  expect(body.warnings).toBeUndefined();
  expect(await times()).toEqual([
    '2026-04-06T00:00:00 2026-04-07T00:00:00',
    '2026-05-01T00:00:00 2026-05-02T00:00:00',
  ]);
  const { body: state } = await acme.call(
    'GET',
    '/v1/repos/acme/web/freeze_state?at=2026-04-06T10:00:00Z',
    as(),
  );
  expect(state.frozen).toBe(true);
});

test('an unchanged calendar is not read as a whole', async () => {
  const { id } = await create();
  const before = calendar.answers.length;
  await in20Minutes();
  expect(calendar.answers.slice(before)).toEqual([304]);
  const { source_state } = await show(id);
  expect(Date.parse(source_state.read_at)).toBeGreaterThan(acme.clock.now() - 6 * 60_000);
});

describe('the calendar changes', () => {
  test('a new event freezes, a moved one moves its freeze, a removed one is deleted', async () => {
    const { id } = await create();
    const [first, second] = await freezes();
    const moved = [
      ...easter.slice(0, 1),
      'SUMMARY:Public holiday',
      'DTSTART;VALUE=DATE:20260408',
      'DURATION:P2D',
    ];
    calendar.publish(moved, timed('audit', '20260410T100000Z'));
    await in20Minutes();
    const now = await freezes();
    expect(now.map(({ start, end }) => [start, end])).toEqual([
      ['2026-04-08T00:00:00', '2026-04-10T00:00:00'],
      ['2026-04-10T12:00:00', '2026-04-10T14:00:00'],
    ]);
    expect(now[0]!.id).toBe(first!.id);
    expect(now.some((each) => each.id === second!.id)).toBe(false);
    expect((await show(id)).detached).toEqual([]);
  });

  test('an ongoing freeze follows its event, and stays when the event is removed', async () => {
    const begin = new Date(acme.clock.now() + 60 * 60_000);
    const at = (hours: number) =>
      `${new Date(begin.getTime() + hours * 3_600_000).toISOString().replace(/[-:]|\.\d+/g, '')}`;
    const local = (hours: number) => new Date(begin.getTime() + hours * 3_600_000).toISOString();
    calendar.publish(timed('audit', at(0)));
    await create({ timezone: 'UTC' });
    await acme.advanceTo(new Date(begin.getTime() + 60_000));
    const [ongoing] = await freezes();
    calendar.publish(timed('audit', at(0), 'PT4H'));
    await in20Minutes();
    expect(await freezes()).toMatchObject([{ id: ongoing!.id, end: local(4).slice(0, 19) }]);

    // It is on another day now: that day gets a freeze of its own.
    calendar.publish(timed('audit', at(48)));
    await in20Minutes();
    expect((await times()).map((each) => each.slice(0, 19))).toEqual([
      local(0).slice(0, 19),
      local(48).slice(0, 19),
    ]);

    calendar.publish();
    await in20Minutes();
    expect(await freezes(), 'an empty calendar has to say so twice').toHaveLength(2);
    await in20Minutes();
    expect((await freezes()).map(({ id }) => id)).toEqual([ongoing!.id]);
    await acme.advanceTo(new Date(begin.getTime() + 5 * 3_600_000));
    expect(await freezes()).toEqual([]);
  });

  test('an event that is used again for a later day freezes again', async () => {
    const later = (hours: number) =>
      new Date(acme.clock.now() + hours * 3_600_000).toISOString().replace(/[-:]|\.\d+/g, '');
    calendar.publish(timed('audit', later(1)));
    await create();
    await acme.advanceTo(new Date(acme.clock.now() + 5 * 3_600_000));
    expect(await freezes()).toEqual([]);
    calendar.publish(timed('audit', later(24)));
    await in20Minutes();
    expect(await freezes()).toHaveLength(1);
  });
});

describe('the calendar fails', () => {
  type Row = [string, Parameters<CalendarFile['trouble']>[0], RegExp];
  const said = (...events: string[][]) => ({ status: 200, body: calendarOf(...events) });
  const bad = (line: string) => said([...labour, line]);
  const unreadable: Row[] = [
    ['a day that does not exist', bad('RDATE:20260230T100000Z'), /line 9, `RDATE:20260230T100000Z`/],
    ['a rule for each second', bad('RRULE:FREQ=SECONDLY'), /repeats an event too often/],
    // The parser quotes a line without a colon. The database keeps neither half a character nor NUL.
    ['a line of emoji', bad(`SUMMARY a${'😀'.repeat(30)}`), /`SUMMARY a😀+`, invalid line .*😀/u],
    ['a line with NUL', bad('SUMMARY a\0b'), /line 9, `SUMMARY a b`, invalid line/],
    [
      'another charset',
      {
        status: 200,
        headers: { 'content-type': 'text/calendar; charset=klingon' },
        body: calendarOf(labour),
      },
      /charset klingon/,
    ],
  ];
  const troubles: Row[] = [
    ['not found', { status: 404 }, /answered 404\.$/],
    ['broken', { status: 500 }, /answered 500\.$/],
    ['elsewhere', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }, /leads to another address/],
    ['garbage', { status: 200, body: '<html>Sign in</html>' }, /is not an iCalendar file/],
    ['a part', { status: 200, body: calendarOf(easter).slice(0, -15) }, /is not an iCalendar file/],
    ['too large', { status: 200, body: 'x'.repeat(5 * 1024 * 1024 + 1) }, /more than 5 MiB/],
    ['away', 'reset', /does not answer/],
  ];
  test.each(troubles.slice(0, -1))(
    '%s: a request is refused at the calendar',
    async (_, trouble, message) => {
      const { id } = await create();
      calendar.trouble(trouble);
      const answers = [
        await acme.call('POST', path, { ...as(), body: plan() }),
        await acme.call('POST', `${path}/preview`, { ...as(), body: plan() }),
        await change(id, { source: { url: calendar.url } }),
      ];
      for (const { status, body } of answers) {
        expect([status, body.detail?.[0].loc]).toEqual([422, ['body', 'source', 'url']]);
        expect(body.detail[0].msg).toMatch(message);
      }
    },
  );

  test.each([...troubles, ...unreadable])('%s: the last good copy stays', async (_, trouble, message) => {
    calendar.publish(labour);
    const { id } = await create();
    const before = await freezes();
    calendar.trouble(trouble);
    await in20Minutes();
    await in20Minutes();
    expect(await freezes()).toEqual(before);
    const { source_state } = await show(id);
    expect(source_state.error).toMatch(message);
    const [told, ...others] = await failures(id);
    expect(others).toEqual([]);
    expect(told).toMatchObject({
      outcome: 'failure',
      metadata: { freeze_plan_id: id, error: source_state.error },
    });
    expect(JSON.stringify([told, source_state])).not.toContain('s3cret');

    calendar.trouble(null);
    await in20Minutes();
    expect((await show(id)).source_state.error).toBeNull();
  });

  test('a calendar that lost all that was ahead has to say so twice', async () => {
    const begin = acme.clock.now();
    calendar.publish(timed('first', daysAhead(begin, 3)), timed('second', daysAhead(begin, 4)));
    const { id } = await create();
    const before = await freezes();
    const state = async () => (await show(id)).source_state;
    const lost: [string, () => void][] = [
      ['empty', () => calendar.publish()],
      ['with others', () => calendar.publish(timed('other', daysAhead(begin, 30)))],
    ];
    for (const [what, lose] of lost) {
      lose();
      await in20Minutes();
      expect([what, await freezes()]).toEqual([what, before]);
      expect((await state()).error).toMatch(/has none of the events ahead that it had/);
      calendar.publish(timed('first', daysAhead(begin, 3)), timed('second', daysAhead(begin, 4)));
      await in20Minutes();
      expect([what, await freezes(), (await state()).error]).toEqual([what, before, null]);
    }
    expect(await failures(id)).toHaveLength(lost.length);

    // What fails in between says nothing of the events.
    calendar.publish();
    await in20Minutes();
    calendar.trouble({ status: 500 });
    await in20Minutes();
    calendar.trouble(null);
    await in20Minutes();
    expect(await freezes()).toEqual(before);
    await in20Minutes();
    expect([await freezes(), (await state()).error]).toEqual([[], null]);
    expect(await failures(id)).toHaveLength(lost.length + 1);
  });

  test('new names of the same events are no loss, and a change of the plan takes what it reads', async () => {
    const at = daysAhead(acme.clock.now(), 3);
    calendar.publish(timed('first', at));
    const { id } = await create();
    calendar.publish(timed('renamed', at));
    await in20Minutes();
    expect((await show(id)).source_state.error).toBeNull();
    expect(await freezes()).toHaveLength(1);
    calendar.publish();
    expect((await change(id, { source: { url: calendar.url } })).status).toBe(200);
    expect(await freezes()).toEqual([]);
  });

  testOfAmount('one that takes long is refused, and delays no other request', async () => {
    const rule = 'RRULE:FREQ=DAILY;COUNT=9999999;BYMONTH=2;BYMONTHDAY=30';
    const endless = (at: number) => [`UID:${at}`, 'SUMMARY:Public holiday', 'DTSTART:00010101', rule];
    calendar.publish(...Array.from({ length: 5000 }, (_, at) => endless(at)));
    const done: string[] = [];
    const refused = acme.call('POST', path, { ...as(), body: plan() }).finally(() => done.push('calendar'));
    await acme.call('GET', path, as()).finally(() => done.push('list'));
    expect([(await refused).status, done]).toEqual([422, ['list', 'calendar']]);
    expect((await refused).text).toMatch(/takes more than 2 s to read/);
  });

  test('one that hangs delays no other work', async () => {
    calendar.publish(labour);
    const { id } = await create();
    shortenPatience();
    calendar.trouble('hang');
    await in20Minutes();
    expect((await show(id)).source_state.error).toMatch(/did not answer within 10 s/);
    expect(await freezes()).toHaveLength(1);
  });

  test('a plan of a calendar that cannot be read is refused, and a change of it changes nothing', async () => {
    const { id } = await create();
    calendar.trouble({ status: 403 });
    for (const to of [path, `${path}/preview`]) {
      const answer = await acme.call('POST', to, { ...as(), body: plan() });
      expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ['body', 'source', 'url']]);
      expect(answer.body.detail[0].msg).toMatch(/answered 403/);
    }
    const before = await show(id);
    const answer = await change(id, { reason: 'Other', source: { url: calendar.url, titles: ['*'] } });
    expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ['body', 'source', 'url']]);
    expect(await show(id)).toEqual(before);
    // What does not concern the calendar needs no reading.
    expect((await change(id, { reason: 'Other' })).status).toBe(200);
  });
});

describe('a change of the plan', () => {
  test('of the titles, of the zone, and of what it says', async () => {
    await acme.advanceTo(
      acme.clock.now() > Date.parse('2026-04-02') ? new Date(acme.clock.now()) : '2026-04-02',
    );
    calendar.publish(labour, party.with(2, 'DTSTART:20260502T150000Z'));
    const { id } = await create();
    const source = { url: calendar.url, titles: ['summer*'] };
    const { body } = await change(id, { source });
    expect(body.source).toEqual(source);
    expect(await times()).toEqual(['2026-05-02T17:00:00 2026-05-02T19:00:00']);
    await change(id, { timezone: 'America/New_York', source: { url: calendar.url } });
    expect(await times()).toEqual([
      '2026-05-01T00:00:00 2026-05-02T00:00:00',
      '2026-05-02T11:00:00 2026-05-02T13:00:00',
    ]);
    await change(id, { reason: 'Closed' });
    expect((await freezes()).map(({ reason }) => reason)).toEqual(['Closed', 'Closed']);
  });

  test('that would give it times of its own is refused', async () => {
    const { id } = await create();
    const answer = await change(id, { end: '2026-12-24T10:00:00', source: null });
    expect([answer.status, answer.body.detail.map(({ loc }: { loc: string[] }) => loc[1])]).toEqual([
      422,
      ['end', 'source'],
    ]);
    expect((await change(id, { start: null, end: null, recurrence: null })).status).toBe(200);
    const window = { start: '2026-12-24T10:00:00', end: '2026-12-25T10:00:00', source: null };
    const { body } = await acme.call('POST', path, { ...as(), body: plan(window) });
    expect((await change(body.id, plan().source && { source: plan().source })).status).toBe(422);
  });
});

test.each<[object, (string | number)[]]>([
  [{ start: '2026-12-24T10:00:00' }, ['start']],
  [{ end: '2026-12-24T10:00:00' }, ['end']],
  [{ recurrence: { rule: 'FREQ=WEEKLY' } }, ['recurrence']],
  [{ source: { url: 'holidays' } }, ['source', 'url']],
  [{ source: { url: 'ftp://example.com/a.ics' } }, ['source', 'url']],
  [{ source: { url: 'http://192.168.0.1/a.ics' } }, ['source', 'url']],
  [{ source: { url: 'https://user@example.com/a.ics' } }, ['source', 'url']],
  [{ source: { titles: ['*'] } }, ['source', 'url']],
  [{ source: { url: 'https://example.com/a.ics', titles: [] } }, ['source', 'titles']],
  [{ source: { url: 'https://example.com/a.ics', titles: ['{'] } }, ['source', 'titles', 0]],
])('%j is refused', async (more, loc) => {
  const answer = await acme.call('POST', path, { ...as(), body: plan(more) });
  expect([answer.status, answer.body.detail[0].loc], answer.text).toEqual([422, ['body', ...loc]]);
});

test('titles that no event has are a warning, and zones that nobody knows', async () => {
  const { warnings } = await create({
    source: { url: calendar.url, titles: ['*public holiday*', '*freze*'] },
  });
  expect(warnings).toEqual([
    expect.stringMatching(/^No event of the calendar of 127\.0\.0\.1:\d+ has the title `\*freze\*`\.$/),
  ]);
  calendar.publish([...labour.slice(0, 2), 'DTSTART;TZID=Mars:20270501T100000', 'DURATION:PT1H']);
  expect((await create()).warnings).toEqual([expect.stringMatching(/time zone `Mars` of the calendar/)]);
  calendar.publish();
  const { warnings: none, next_occurrences } = await create({ source: { url: calendar.url } });
  expect([none, next_occurrences]).toEqual([[expect.stringMatching(/no such events ahead/)], []]);
});

test('others than those who may change the plan see the host of the calendar only', async () => {
  const { host } = new URL(calendar.url);
  const uma = acme.github.addUser('uma').token;
  acme.github.setRole('acme/web', 'uma', 'admin');
  const begun = new Date(acme.clock.now() - 60_000).toISOString().replace(/[-:]|\.\d+/g, '');
  calendar.publish(timed('audit', begun));
  const { id } = await create({ repositories: { include: ['web', 'vault'] } });
  // Its freeze of the other repository is ongoing, so she may see the plan, and not change it.
  await change(id, { repositories: { include: ['web'] } });
  const seen = await acme.call('GET', `${path}/${id}`, { as: uma });
  expect([seen.status, seen.body.source?.url], seen.text).toEqual([200, host]);
  await acme.advanceTo(new Date(acme.clock.now() + 3 * 3_600_000));
  for (const to of [`${path}/${id}`, path]) {
    const { text } = await acme.call('GET', to, { as: uma });
    expect(text).toContain(calendar.url);
  }
  const log = await acme.call('GET', '/v1/logs/acme?event_type=freeze_plan.create', as());
  expect(log.body.events[0].metadata.freeze_plan_attributes.source).toEqual({
    url: host,
    titles: ['*public holiday*'],
  });
  expect(log.text).not.toContain('s3cret');
  expect(acme.logs.filter((line) => line.includes('s3cret'))).toEqual([]);
});

test('its events are in the calendar of freezes, a year ahead', async () => {
  calendar.publish([...labour, 'RRULE:FREQ=YEARLY'], timed('audit', '20261210T100000Z'));
  await create();
  const { url } = (
    await acme.call('POST', '/v1/calendars/acme', { ...as(), body: { repositories: ['web'] } })
  ).body;
  const read = async () => readCalendar(await (await fetch(acme.app.url + new URL(url).pathname)).text());
  const ahead = async () =>
    (await read()).filter(({ status, start }) => status === 'CONFIRMED' && start > '2026-04-20');
  const before = await ahead();
  expect(before.map(({ start }) => start)).toEqual(['2026-04-30T22:00:00.000Z', '2026-12-10T10:00:00.000Z']);
  calendar.publish([...labour, 'RRULE:FREQ=YEARLY'], timed('audit', '20261211T100000Z'));
  await in20Minutes();
  const after = (await ahead()).find(({ start }) => start === '2026-12-11T10:00:00.000Z')!;
  expect(after.uid).toBe(before[1]!.uid);
  expect(after.sequence).toBeGreaterThan(before[1]!.sequence);
});
