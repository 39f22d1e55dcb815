import { describe, expect, test } from 'vitest';
import { describeMoment, describeWindow, readWindow } from '../../src/cli/times/window.ts';

const wednesday = Date.parse('2026-03-04T10:30:20Z');
const zone = 'Europe/Paris';

describe('windows', () => {
  const world = { now: () => wednesday, zone };

  test('the weekend, in a zone that is not the reader’s', () => {
    const window = readWindow({ from: 'fri 18:00', until: 'mon 08:00', zone: 'America/New_York' }, world);
    expect(window).toMatchObject({ start: '2026-03-06T18:00:00', end: '2026-03-09T08:00:00' });
    // New York's clocks go forward that Sunday, so it is an hour shorter.
    expect(describeWindow(window, zone)).toBe(
      'from 2026-03-06 18:00 America/New_York (2026-03-07 00:00 Europe/Paris) until 2026-03-09 08:00 America/New_York (2026-03-09 13:00 Europe/Paris), 2 days 13 h',
    );
  });

  test('from now, for a time and without an end', () => {
    const window = readWindow({ for: '2h' }, world);
    expect(window).toMatchObject({ start: null, end: '2026-03-04T13:31:00', timezone: zone });
    expect(describeWindow(window, zone)).toBe('from now until 2026-03-04 13:31 Europe/Paris, 2 h');
    expect(describeWindow(readWindow({ from: 'now' }, world), zone)).toBe(
      'from now until somebody removes it',
    );
  });

  test('days go by the wall clock, hours do not', () => {
    const before = { now: () => Date.parse('2026-03-28T11:00:00Z'), zone };
    expect(readWindow({ for: '1d' }, before).end).toBe('2026-03-29T12:00:00');
    expect(readWindow({ for: '24h' }, before).end).toBe('2026-03-29T13:00:00');
  });

  test.each([
    [{ for: '2h', until: '18:00' }, 'Write --for or --until, not both'],
    [{ until: 'now' }, 'before it begins'],
    [{ from: 'tomorrow 18:00', until: 'tomorrow 08:00' }, 'It would end at 2026-03-05 08:00 Europe/Paris'],
    [{ for: 'ages' }, '"ages" is not a length of time'],
    [{ zone: 'Europe/Pariss' }, '"Europe/Pariss" is no time zone'],
  ])('%o is refused', (options, why) => expect(() => readWindow(options, world)).toThrow(why));

  test('a length that ends in the hour that comes twice is doubtful', () => {
    const before = { now: () => Date.parse('2026-10-24T23:30:00Z'), zone };
    expect(() => readWindow({ for: '1h' }, before)).toThrow(/comes twice .* or --zone UTC\.$/);
    expect(readWindow({ for: '1h', zone: 'UTC' }, before).end).toBe('2026-10-25T00:30:00');
  });

  test('a moment is shown in the reader’s zone where that shows another time', () => {
    expect(describeMoment(wednesday, 'UTC', 'Africa/Abidjan')).toBe('2026-03-04 10:30:20 UTC');
    expect(describeMoment(wednesday, 'UTC', zone)).toBe(
      '2026-03-04 10:30:20 UTC (2026-03-04 11:30:20 Europe/Paris)',
    );
  });
});
