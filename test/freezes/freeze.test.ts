import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type FreezeWindow,
  phaseOf,
  planWindow,
  reviseWindow,
  type WindowInput,
  type WindowResult,
} from '../../src/freezes/freeze-window.ts';
import { amount } from '../support/amounts.ts';

const instant = (text: string) => new Date(text);

function planned(input: Partial<WindowInput>, now: string): FreezeWindow {
  const result = planWindow({ start: null, end: null, timezone: 'Europe/Paris', ...input }, instant(now));
  if (!result.ok) throw new Error(JSON.stringify(result));
  return result.value;
}

/** `reason`, or the fields that are wrong, or `ok`. */
function outcome(result: WindowResult): string {
  if (result.ok) return 'ok';
  return result.reason === 'invalid' ? result.problems.map(({ field }) => field).join() : result.reason;
}

describe('errors are named', () => {
  const now = instant('2026-03-01T09:00:00Z');
  const said = (result: WindowResult): string =>
    result.ok || result.reason !== 'invalid' ? '' : result.problems.map(({ message }) => message).join();
  const later = { start: '2026-03-02T10:00:00', end: null, timezone: 'UTC' };
  const past = 'The end has passed. Send one in the future, or null for no end.';
  const notBegun =
    'The end has passed, and the freeze has not begun. Send one after the start, or delete it.';
  const order = 'The end must be after the start.';

  test.each([
    [{ start: null, end: '2026-03-01T08:00:00' }, past],
    [{ start: null, end: '2026-03-01T09:00:00' }, past],
    [{ start: '2026-01-01T00:00:00', end: '2026-01-02T00:00:00' }, past],
    [{ start: '2026-03-02T10:00:00', end: '2026-02-01T00:00:00' }, past],
    [{ start: '2026-03-02T10:00:00', end: '2026-03-02T10:00:00' }, order],
    [{ start: '2026-03-02T10:00:00', end: '2026-03-01T09:00:01' }, order],
  ])('a new freeze %j', (input, message) => {
    expect(said(planWindow({ ...input, timezone: 'UTC' }, now))).toBe(message);
  });

  test.each([
    [later, { end: '2026-03-01T08:00:00' }, notBegun],
    [later, { end: '2026-03-02T10:00:00' }, order],
    [{ ...later, end: '2026-03-03T10:00:00' }, { start: '2026-03-04T10:00:00' }, order],
    [{ ...later, start: '2026-03-01T07:00:00' }, { end: '2026-03-01T06:00:00' }, order],
    [{ ...later, start: '2026-03-01T07:00:00' }, { end: '2026-03-01T08:00:00' }, ''],
  ])('of a change of %j: %j', (freeze, change, message) => {
    expect(said(reviseWindow(planned(freeze, '2026-03-01T09:00:00Z'), change, now))).toBe(message);
  });

  const list = 'Send an IANA name such as Europe/Paris, America/New_York or UTC.';
  test.each([
    ['Europe/Pariss', 'Did you mean Europe/Paris?'],
    ['Europe/Prais', 'Did you mean Europe/Paris?'],
    ['paris', 'Did you mean Europe/Paris?'],
    ['America/New York', 'Did you mean America/New_York?'],
    ['US/Eastren', 'Did you mean US/Eastern?'],
    ['Asia/Kolkatta', 'Did you mean Asia/Kolkata?'],
    ['UTC+1', list],
    ['+01:00', list],
    ['Mars/Olympus_Mons', list],
    ['Europe', list],
    ['', list],
    ['x'.repeat(1000), list],
  ])('a time zone %s', (timezone, advice) => {
    expect(said(planWindow({ ...later, timezone }, now))).toBe(`This is not a time zone. ${advice}`);
  });
});

test('a freeze holds from its start on and no longer at its end', () => {
  const window = { startsAt: instant('2026-03-01T10:00:00Z'), endsAt: instant('2026-03-01T12:00:00Z') };
  const phases = ['09:59:59.999', '10:00:00', '11:59:59.999', '12:00:00'].map((time) =>
    phaseOf(window, instant(`2026-03-01T${time}Z`)),
  );
  expect(phases).toEqual(['scheduled', 'ongoing', 'ongoing', 'ended']);
  expect(phaseOf({ ...window, endsAt: null }, instant('9999-01-01T00:00:00Z'))).toBe('ongoing');
});

describe('a new freeze', () => {
  const now = '2026-03-01T09:30:15.700Z';

  test('keeps the times as sent, and the instants that they name', () => {
    expect(planned({ start: '2026-03-02T10:00', end: '2026-03-02T12:00:00.5' }, now)).toEqual({
      start: '2026-03-02T10:00:00',
      end: '2026-03-02T12:00:00.5',
      timezone: 'Europe/Paris',
      startsAt: instant('2026-03-02T09:00:00Z'),
      endsAt: instant('2026-03-02T11:00:00.500Z'),
    });
  });

  test('with start null begins now, to the second, in its zone', () => {
    const window = planned({ start: null, timezone: 'Asia/Kolkata' }, now);
    expect(window).toMatchObject({ start: '2026-03-01T15:00:15', end: null, endsAt: null });
    expect(window.startsAt).toEqual(instant('2026-03-01T09:30:15Z'));
    expect(phaseOf(window, instant(now))).toBe('ongoing');
  });

  test.each<[Partial<WindowInput>, string]>([
    [{ start: '2020-01-01T00:00:00' }, 'ok'],
    [{ start: '2020-01-01T00:00:00', end: '2026-03-01T10:30:16' }, 'ok'],
    [{ start: '2020-01-01T00:00:00', end: '2026-03-01T10:30:15' }, 'end'],
    [{ start: '2026-03-02T10:00:00', end: '2026-03-02T10:00:00' }, 'end'],
    [{ start: '2026-03-02T10:00:00', end: '2026-03-02T09:00:00' }, 'end'],
    [{ start: null, end: '2026-03-01T10:30:15' }, 'end'],
    [{ timezone: '+01:00' }, 'timezone'],
    [{ timezone: 'ACT' }, 'timezone'],
    [{ start: '2026-03-02T10:00:00Z', end: '2026-03-02', timezone: 'x' }, 'timezone,start,end'],
    // In a gap, and the end of a repeated hour: both are something.
    [{ start: '2026-03-29T02:10:00', end: '2026-03-29T02:20:00' }, 'ok'],
    [{ start: '2026-10-25T02:30:00', end: '2026-10-25T02:30:00' }, 'ok'],
    [{ start: '9999-01-01T00:00:00', end: '9999-12-31T23:59:59' }, 'ok'],
  ])('%j: %s', (input, expected) => {
    const whole = { start: null, end: null, timezone: 'Europe/Paris', ...input };
    expect(outcome(planWindow(whole, instant(now)))).toBe(expected);
  });
});

type Change = Parameters<typeof reviseWindow>[1];

describe('a change', () => {
  const made = '2026-03-01T08:00:00Z';
  const freeze = planned({ start: '2026-03-01T10:00:00', end: '2026-03-01T12:00:00' }, made);

  test.each<[Change, string]>([
    [{}, 'ok'],
    [{ start: null }, 'ok'],
    [{ start: '2026-03-01T11:00:00' }, 'ok'],
    [{ start: '2020-01-01T00:00:00' }, 'ok'],
    [{ start: '2026-03-01T12:00:00' }, 'end'],
    [{ end: '2026-03-01T10:00:00' }, 'end'],
    [{ timezone: 'America/New_York' }, 'ok'],
    [{ timezone: 'Nowhere', start: 'soon' }, 'timezone,start'],
  ])('before it begins, %j: %s', (change, expected) => {
    expect(outcome(reviseWindow(freeze, change, instant('2026-03-01T08:30:00Z')))).toBe(expected);
  });

  test.each<[Change, string]>([
    [{}, 'ok'],
    [{ start: '2026-03-01T10:00' }, 'ok'],
    [{ start: '2026-03-01T09:00:00', timezone: 'UTC' }, 'ok'],
    [{ timezone: 'Europe/Berlin' }, 'ok'],
    [{ start: null }, 'start-already-passed'],
    [{ start: '2026-03-01T10:00:01' }, 'start-already-passed'],
    [{ start: '2026-03-01T09:00:00' }, 'start-already-passed'],
    [{ timezone: 'UTC' }, 'start-already-passed'],
    // Also past its end: that it has begun comes first.
    [{ start: '2026-03-01T13:00:00' }, 'start-already-passed'],
    [{ start: '2026-03-01T13:00:00', end: '2026-03-01T12:30:00' }, 'start-already-passed'],
    [{ timezone: 'America/New_York', end: '2026-03-01T04:00:00' }, 'start-already-passed'],
    [{ end: null }, 'ok'],
    [{ end: '2027-01-01T00:00:00' }, 'ok'],
    [{ end: '2026-03-01T10:30:00' }, 'ok'],
    [{ end: '2026-03-01T10:00:00' }, 'end'],
    [{ end: '2026-03-01T10:30:00Z' }, 'end'],
    [{ start: 'soon' }, 'start'],
  ])('once it has begun, %j: %s', (change, expected) => {
    expect(outcome(reviseWindow(freeze, change, instant('2026-03-01T10:00:00Z')))).toBe(expected);
  });

  test('at the very start it has begun', () => {
    expect(outcome(reviseWindow(freeze, { start: '2026-03-01T11:00:00' }, freeze.startsAt))).toBe(
      'start-already-passed',
    );
  });

  test('keeps absent fields; null for the end removes it', () => {
    const result = reviseWindow(freeze, { end: null }, instant(made));
    expect(result).toEqual({ ok: true, value: { ...freeze, end: null, endsAt: null } });
  });

  test('start null on the second that it began is no change', () => {
    const begun = planned({ start: null }, '2026-03-01T09:00:00.100Z');
    const result = reviseWindow(begun, { start: null }, instant('2026-03-01T09:00:00.900Z'));
    expect(result).toEqual({ ok: true, value: begun });
  });

  describe('begun in the second of two equal hours', () => {
    const begun = planned({ start: null }, '2026-10-25T01:30:15Z');
    const now = instant('2026-10-25T01:40:00Z');

    test('its start stays where it was', () => {
      expect(begun.start).toBe('2026-10-25T02:30:15');
      expect(reviseWindow(begun, { start: begun.start }, now)).toEqual({ ok: true, value: begun });
    });

    test('its end must be after its real start, not after the start in its text', () => {
      expect(outcome(reviseWindow(begun, { end: '2026-10-25T02:20:00' }, now))).toBe('end');
      expect(outcome(reviseWindow(begun, { end: '2026-10-25T02:31:00' }, now))).toBe('ok');
    });
  });
});

describe('for every input', () => {
  const times = fc.oneof(
    fc
      .date({ min: instant('2026-01-01'), max: instant('2026-12-31'), noInvalidDate: true })
      .map((date) => date.toISOString().slice(0, 19)),
    fc.constantFrom(
      '2026-03-29T02:30:00',
      '2026-10-25T02:30:00',
      '0001-01-01T00:00:00',
      '9999-12-31T23:59:59',
    ),
    fc.string(),
  );
  const zones = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom('Europe/Paris', 'UTC', 'US/Eastern', 'Australia/Lord_Howe') },
    { weight: 1, arbitrary: fc.string() },
  );
  const input = fc.record({ start: fc.option(times), end: fc.option(times), timezone: zones });
  const clock = fc.date({ min: instant('2026-01-01'), max: instant('2026-12-31'), noInvalidDate: true });

  test('a window ends after its start, and a new one in the future', () => {
    fc.assert(
      fc.property(input, clock, (sent, now) => {
        const result = planWindow(sent, now);
        if (!result.ok) return;
        const { startsAt, endsAt } = result.value;
        expect(endsAt === null || (endsAt > startsAt && endsAt > now)).toBe(true);
      }),
      { numRuns: amount(1000) },
    );
  });

  test('the start of a begun freeze never moves', () => {
    const change = fc.record(
      { start: fc.option(times), end: fc.option(times), timezone: zones },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(input, clock, change, fc.nat(86_400_000), (sent, now, changes, later) => {
        const made = planWindow(sent, now);
        if (!made.ok) return;
        const then = new Date(now.getTime() + later);
        const result = reviseWindow(made.value, changes, then);
        if (!result.ok || phaseOf(made.value, then) === 'scheduled') return;
        expect(result.value.startsAt).toEqual(made.value.startsAt);
        expect(result.value.endsAt === null || result.value.endsAt > result.value.startsAt).toBe(true);
      }),
      { numRuns: amount(2000) },
    );
  });
});
