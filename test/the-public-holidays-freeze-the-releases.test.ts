import { describe, expect, test } from 'vitest';
import { readCalendar } from './support/calendars.ts';
import { easter, holidaysForAll, labour, party } from './support/holidays.ts';

// A plan follows the calendar of public holidays: what is a holiday there, is a freeze here.

const { acme, calendar, path, as, timed, plan, create, show, change, freezes, times, in20Minutes } =
  holidaysForAll();

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
