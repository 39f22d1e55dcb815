import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeInstant, isTimeZone, parseLocalTime, toLocalTime } from '../../src/time/local-time.ts';
import { leastCpuTime } from '../support/cpu-time.ts';
import { amount } from '../support/amounts.ts';

describe('a wall-clock time', () => {
  test.each([
    ['2026-03-01T10:00', '2026-03-01T10:00:00'],
    ['2026-03-01T10:00:00', '2026-03-01T10:00:00'],
    ['2026-03-01T10:00:00.5', '2026-03-01T10:00:00.5'],
    ['2026-03-01T10:00:00.000000000', '2026-03-01T10:00:00.000000000'],
    ['2028-02-29T23:59:59', '2028-02-29T23:59:59'],
    ['2000-02-29T00:00', '2000-02-29T00:00:00'],
    ['0001-01-01T00:00:00', '0001-01-01T00:00:00'],
    ['9999-12-31T23:59:59', '9999-12-31T23:59:59'],
  ])('%s is read as %s', (text, value) => {
    expect(parseLocalTime(text)).toEqual({ ok: true, value });
  });

  const designator = /has a zone designator\. Send the wall-clock time without it/;
  const noSuch = /no such date or time/;
  const notOne = /not a wall-clock time/;
  test.each([
    ['2026-03-01T10:00:00Z', designator],
    ['2026-03-01T10:00:00z', designator],
    ['2026-03-01T10:00Z', designator],
    ['2026-03-01T10:00:00.123Z', designator],
    ['2026-03-01T10:00:00+01:00', designator],
    ['2026-03-01T10:00:00-0800', designator],
    ['2026-03-01T10:00:00+01', designator],
    ['2026-03-01T10:00:00 +01:00', designator],
    ['2026-03-01 10:00:00Z', designator],
    ['2026-03-01T10:00:00[Europe/Paris]', designator],
    ['2026-03-01T10:00:00+01:00[Europe/Paris][u-ca=hebrew]', designator],
    ['2026-03-01', /date without a time/],
    ['2026-02-30T10:00:00', noSuch],
    ['2026-02-29T10:00:00', noSuch],
    ['2100-02-29T10:00:00', noSuch],
    ['2026-13-01T10:00:00', noSuch],
    ['2026-00-01T10:00:00', noSuch],
    ['2026-03-01T24:00:00', noSuch],
    ['2026-03-01T10:60:00', noSuch],
    ['2026-12-31T23:59:60', notOne],
    ['0000-01-01T00:00:00', notOne],
    ['-000001-01-01T00:00:00', notOne],
    ['+010000-01-01T00:00:00', notOne],
    ['10000-01-01T00:00:00', notOne],
    ['2026-03-01 10:00:00', notOne],
    ['2026-03-01T10', notOne],
    ['20260301T100000', notOne],
    ['2026-03-01T10:00:00.', notOne],
    ['2026-03-01T10:00:00.1234567890', notOne],
    ['2026-03-01T10:00:00,5', notOne],
    [' 2026-03-01T10:00:00', notOne],
    ['2026-03-01T10:00:00\n', notOne],
    ['２０２６-03-01T10:00:00', notOne],
    ['10:00', notOne],
    ['now', notOne],
    ['', notOne],
  ])('%j is refused', (text, message) => {
    const result = parseLocalTime(text);
    expect(result).toMatchObject({ ok: false });
    expect(result.ok ? '' : result.message).toMatch(message);
  });

  test('any text is answered; what is read is read again as itself', () => {
    const near = fc
      .tuple(
        fc.constantFrom('2026-03-01T10:00:00', '2028-02-29T10:00'),
        fc.nat(20),
        fc.string({ maxLength: 4 }),
      )
      .map(([text, at, put]) => text.slice(0, at) + put + text.slice(at + put.length));
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), near), (text) => {
        const result = parseLocalTime(text);
        if (result.ok) expect(parseLocalTime(result.value)).toEqual(result);
      }),
      { numRuns: amount(2000) },
    );
  });

  test.each(['[]', 'Z', '+01', '[', ' ', '1', '[a'])('a long tail of %j is answered at once', (tail) => {
    const text = `2026-03-01T10:00${tail.repeat(50_000)}x`;
    expect(leastCpuTime(() => parseLocalTime(text))).toBeLessThan(100);
  });
});

describe('a time zone', () => {
  test.each(['Europe/Paris', 'US/Eastern', 'UTC', 'GMT', 'Etc/GMT+5', 'europe/paris', 'Asia/Kolkata'])(
    '%s is one',
    (name) => expect(isTimeZone(name)).toBe(true),
  );

  // ACT and AET: Intl takes them for zones and Temporal throws.
  test.each([
    '',
    '+01:00',
    '-0800',
    '+01',
    'Z',
    'GMT+1',
    'UTC+1',
    'Mars/Base',
    'Europe/Paris ',
    'ACT',
    'AET',
  ])('%j is none', (name) => expect(isTimeZone(name)).toBe(false));

  test.each([
    '[Europe/Paris]',
    '2026-03-01T10:00Z',
    '__proto__',
    'constructor',
    'Europe/\u0000',
    'x'.repeat(9999),
  ])('%j is none', (name) => expect(isTimeZone(name)).toBe(false));

  test('every zone that Intl lists is one, and what is one can be used', () => {
    const listed = Intl.supportedValuesOf('timeZone');
    expect(listed.filter((name) => !isTimeZone(name))).toEqual([]);
    const capitals = fc.string({ unit: fc.constantFrom(...'ABCDEGMPSTUZ'), minLength: 2, maxLength: 4 });
    fc.assert(
      fc.property(fc.oneof(capitals, fc.string()), (name) => {
        if (isTimeZone(name)) expect(toLocalTime(new Date(0), name)).toMatch(/^19(69|70)-/);
      }),
      { numRuns: amount(1000) },
    );
  });
});

test.each([
  ['2026-03-01T10:00:00.999Z', 'Europe/Paris', '2026-03-01T11:00:00', '2026-03-01 11:00 Europe/Paris'],
  ['2026-07-01T10:00:07Z', 'US/Eastern', '2026-07-01T06:00:07', '2026-07-01 06:00:07 US/Eastern'],
  ['2026-03-01T20:00:00Z', 'Asia/Kolkata', '2026-03-02T01:30:00', '2026-03-02 01:30 Asia/Kolkata'],
])('%s in %s', (instant, zone, local, text) => {
  expect(toLocalTime(new Date(instant), zone)).toBe(local);
  expect(describeInstant(new Date(instant), zone)).toBe(text);
});
