import { describe, expect, test } from 'vitest';
import { type CalendarFile, calendarOf } from '../sandbox/calendar-file.ts';
import { testOfAmount } from './support/amounts.ts';
import { easter, holidaysForAll, labour } from './support/holidays.ts';
import { shortenPatience } from './support/patience.ts';

// The calendar that a plan follows fails: what is known of it stays, and the plan says what is wrong.

const {
  acme,
  calendar,
  path,
  as,
  timed,
  plan,
  create,
  show,
  change,
  freezes,
  daysAhead,
  in20Minutes,
  failures,
} = holidaysForAll();

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
