import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CalendarFile, startCalendarFile } from '../sandbox/calendar-file.ts';
import { acmeForAll } from './api/acme.ts';
import { readCalendar } from './support/calendars.ts';

// One occurrence of a plan is skipped or moved, and the others stay.

const acme = acmeForAll();
const path = '/v1/freeze_plans/acme';
const as = () => ({ as: acme.keys.admin });
const show = async (id: string) => (await acme.call('GET', `${path}/${id}`, as())).body;
const starts = async (id: string) =>
  (await show(id)).next_occurrences.map(({ start }: { start: string }) => start);
const order = (id: string, start: string, body: object, caller = acme.keys.admin) =>
  acme.call('POST', `${path}/${id}/occurrences/${start}`, { as: caller, body });
async function ordered(id: string, start: string, body: object) {
  const answer = await order(id, start, body);
  expect(answer.status, answer.text).toBe(200);
  await acme.quiet();
  return answer.body;
}
type Listed = { id: string; start: string; end: string; reason: string; plan_id: string };
const freezes = async (id: string, repository = 'web') => {
  const { body } = await acme.call('GET', `/v1/repos/acme/${repository}/scheduled_freeze`, as());
  return (body.scheduled_freezes as Listed[]).filter(({ plan_id }) => plan_id === id);
};
const times = async (id: string, repository = 'web') =>
  (await freezes(id, repository)).map(({ start, end }) => `${start} ${end}`);
const window = (date: string, from = '09', to = '18') => `${date}T${from}:00:00 ${date}T${to}:00:00`;

const fridays = ['2026-03-06', '2026-03-13', '2026-03-20', '2026-03-27', '2026-04-03'];
const weekly = {
  name: 'Fridays',
  reason: 'Release day',
  repositories: { include: ['web', 'vault', 'later-*'] },
  start: `${fridays[0]}T09:00:00`,
  end: `${fridays[0]}T18:00:00`,
  timezone: 'Europe/Paris',
  recurrence: { rule: 'FREQ=WEEKLY' },
};
const at = (date: string, time = '09') => `${date}T${time}:00:00`;

describe('a plan that repeats', () => {
  let id = '';
  beforeAll(async () => void ({ id } = await acme.plan(weekly)));
  afterAll(() => acme.call('DELETE', `${path}/${id}`, as()));

  test('skips one day in all repositories, and not the next', async () => {
    const [before] = (await freezes(id)).slice(1);
    const answer = await ordered(id, at(fridays[1]!), { skip: true });
    expect(answer.next_occurrences.slice(0, 2)).toMatchObject([
      { start: at(fridays[0]!) },
      { start: at(fridays[2]!) },
    ]);
    expect(answer.recurrence.except).toEqual([]);
    expect(answer.detached).toEqual([
      { repository: 'acme/web', freeze_id: before!.id, start: at(fridays[1]!) },
      { repository: 'acme/vault', freeze_id: expect.any(String), start: at(fridays[1]!) },
    ]);
    expect(await times(id)).toEqual([0, 2, 3, 4].map((each) => window(fridays[each]!)));
    const [event] = (await acme.call('GET', '/v1/logs/acme', as())).body.events;
    expect(event).toMatchObject({
      type: 'freeze_plan.update',
      metadata: { freeze_plan_id: id, occurrence: { start: at(fridays[1]!), skip: true } },
    });
    const [deletion] = (await acme.call('GET', '/v1/repos/acme/web/logs', as())).body.events;
    expect(deletion).toMatchObject({ type: 'scheduled_freeze.delete' });
    expect(await ordered(id, at(fridays[1]!), { skip: true })).toMatchObject({ detached: answer.detached });
  });

  test('does not make it in a repository that appears later, nor when the plan changes', async () => {
    acme.github.addRepository('acme/later-on', { protect: { main: ['holdfast/freeze'] } });
    await acme.quiet();
    await acme.call('PATCH', `${path}/${id}`, { ...as(), body: { reason: 'The release' } });
    await acme.quiet();
    expect(await times(id, 'later-on')).toEqual([0, 2, 3, 4].map((each) => window(fridays[each]!)));
    expect(await times(id)).toEqual([0, 2, 3, 4].map((each) => window(fridays[each]!)));
    const state = await acme.call('GET', `/v1/repos/acme/web/freeze_state?at=${fridays[1]}T12:00:00Z`, as());
    expect(state.body).toMatchObject({ frozen: false });
  });

  test('puts it back, as the plan is now', async () => {
    const answer = await ordered(id, at(fridays[1]!), { skip: false });
    expect(answer.detached).toEqual([]);
    for (const repository of ['web', 'vault', 'later-on'])
      expect(await times(id, repository)).toEqual(fridays.map((date) => window(date)));
    expect((await freezes(id)).map(({ reason }) => reason)).toEqual(fridays.map(() => 'The release'));
    expect(await starts(id)).toHaveLength(10);
  });

  test('moves one, which the plan then leaves alone', async () => {
    const moved = { start: '2026-03-21T10:00:00', end: '2026-03-21T12:00:00' };
    const answer = await ordered(id, at(fridays[2]!), moved);
    expect(answer.next_occurrences[2]).toEqual({
      ...moved,
      starts_at: '2026-03-21T09:00:00.000Z',
      ends_at: '2026-03-21T11:00:00.000Z',
    });
    expect(answer.detached.map(({ start }: Listed) => start)).toEqual([1, 2, 3].map(() => moved.start));
    await acme.call('PATCH', `${path}/${id}`, { ...as(), body: { reason: 'Another release' } });
    await acme.quiet();
    const found = (await freezes(id)).find(({ start }) => start === moved.start);
    expect(found).toMatchObject({ ...moved, reason: 'The release' });
    acme.github.addRepository('acme/later-still', { protect: { main: ['holdfast/freeze'] } });
    await acme.quiet();
    expect(await times(id, 'later-still')).toContain(`${moved.start} ${moved.end}`);
    expect(await ordered(id, moved.start, { end: '2026-03-21T13:00:00' })).toMatchObject({
      next_occurrences: expect.arrayContaining([
        expect.objectContaining({ start: moved.start, end: '2026-03-21T13:00:00' }),
      ]),
    });
    expect(await times(id)).toContain('2026-03-21T10:00:00 2026-03-21T13:00:00');
  });

  test('has it again if it is moved back', async () => {
    const [start, end] = window(fridays[2]!).split(' ');
    const answer = await ordered(id, '2026-03-21T10:00:00', { start, end });
    expect(answer.detached).toEqual([]);
    expect(await times(id)).toEqual(fridays.map((date) => window(date)));
    expect((await freezes(id)).map(({ reason }) => reason)).toEqual(fridays.map(() => 'Another release'));
  });

  test('leaves out one that is far ahead, of which no freeze exists yet', async () => {
    const far = '2026-06-05';
    expect((await ordered(id, at(far), { skip: true })).detached).toHaveLength(4);
    await acme.advanceTo('2026-05-28T08:00:00Z');
    await acme.quiet();
    expect((await times(id)).slice(0, 2)).toEqual([window('2026-05-29'), window('2026-06-12')]);
    await ordered(id, at(far), { skip: false });
    expect(await times(id)).toContain(window(far));
  });

  test.each([
    ['an unknown start', '2026-05-30T09:00:00', { skip: true }, 404, /no occurrence that starts at/],
    ['no time', 'friday', { skip: true }, 422, /not a wall-clock time/],
    ['nothing', at('2026-05-29'), {}, 422, /either `skip`/],
    ['two things', at('2026-05-29'), { skip: true, end: at('2026-05-30') }, 422, /either `skip`/],
    ['an end before the start', at('2026-06-05'), { end: at('2026-06-04') }, 422, /after the start/],
    [
      'another one’s start',
      at('2026-06-05'),
      { start: at('2026-06-12'), end: at('2026-06-12', '10') },
      409,
      /Another occurrence/,
    ],
    ['one that is over', at('2026-05-22'), { skip: true }, 409, /is over/],
  ])('refuses %s', async (_, start, body, status, detail) => {
    const answer = await order(id, start, body);
    expect([answer.status, answer.text]).toEqual([status, expect.stringMatching(detail)]);
  });

  test('ends one that is on, and neither skips nor moves it', async () => {
    await acme.advanceTo('2026-05-29T10:00:00Z');
    await acme.quiet();
    const start = at('2026-05-29');
    expect(await order(id, start, { skip: true })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('has begun, so it cannot be skipped') },
    });
    expect(await order(id, start, { start: at('2026-05-30') })).toMatchObject({ status: 400 });
    await ordered(id, start, { end: at('2026-05-29', '11') });
    expect(await times(id)).not.toContain(window('2026-05-29'));
    expect((await starts(id))[0]).toBe(at('2026-06-05'));
  });

  test('is changed by those who may change it', async () => {
    const start = at('2026-06-05');
    expect((await order(id, start, { skip: true }, acme.people.rita)).status).toBe(403);
    expect((await order(id, start, { skip: true }, acme.keys.ci)).status).toBe(403);
    expect((await order(id, start, { skip: true }, acme.people.ada)).status).toBe(200);
  });

  test('tells calendar apps once that it is cancelled', async () => {
    const feed = await acme.call('POST', '/v1/calendars/acme', { ...as(), body: {} });
    const answer = await fetch(acme.app.url + new URL(feed.body.url).pathname);
    const that = readCalendar(await answer.text()).filter(({ start }) => start.startsWith('2026-06-05'));
    expect(that.map(({ status }) => status)).toEqual(['CANCELLED']);
  });
});

describe('a plan that follows a calendar', () => {
  let calendar: CalendarFile;
  let id = '';
  const holiday = (uid: string, date: string) => [
    `UID:${uid}`,
    `SUMMARY:${uid}`,
    `DTSTART;VALUE=DATE:${date}`,
  ];
  beforeAll(async () => {
    calendar = await startCalendarFile();
    calendar.publish(holiday('one', '20260701'), holiday('two', '20260708'));
    const body = { name: 'Holidays', reason: 'Holiday', repositories: { include: ['web'] }, timezone: 'UTC' };
    await acme.advanceTo('2026-06-20T08:00:00Z');
    const answer = await acme.call('POST', path, {
      ...as(),
      body: { ...body, source: { url: calendar.url } },
    });
    expect(answer.status, answer.text).toBe(201);
    ({ id } = answer.body);
  });
  afterAll(() => calendar.close());
  const readAgain = () => acme.advanceTo(new Date(acme.clock.now() + 20 * 60_000));

  test('skips an event also after it was moved in the calendar', async () => {
    await ordered(id, '2026-07-01T00:00:00', { skip: true });
    expect(await times(id)).toEqual(['2026-07-08T00:00:00 2026-07-09T00:00:00']);
    calendar.publish(holiday('one', '20260702'), holiday('two', '20260708'));
    await readAgain();
    expect(await times(id)).toEqual(['2026-07-08T00:00:00 2026-07-09T00:00:00']);
    await ordered(id, '2026-07-02T00:00:00', { skip: false });
    expect(await times(id)).toEqual([
      '2026-07-02T00:00:00 2026-07-03T00:00:00',
      '2026-07-08T00:00:00 2026-07-09T00:00:00',
    ]);
  });

  test('moves an event, which stays there', async () => {
    await ordered(id, '2026-07-08T00:00:00', { start: '2026-07-08T12:00:00' });
    calendar.publish(holiday('one', '20260702'), holiday('two', '20260709'));
    await readAgain();
    expect((await times(id))[1]).toBe('2026-07-08T12:00:00 2026-07-09T00:00:00');
    expect(await starts(id)).toEqual(['2026-07-02T00:00:00', '2026-07-08T12:00:00']);
  });
});

test('a plan that happens once has nothing to skip', async () => {
  const { id } = await acme.plan({
    ...weekly,
    start: '2026-08-07T09:00:00',
    end: '2026-08-07T18:00:00',
    recurrence: null,
  });
  expect(await order(id, '2026-08-07T09:00:00', { skip: true })).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining('does not repeat') },
  });
});
