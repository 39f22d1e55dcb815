import { describe, expect, test } from 'vitest';
import { parseInterval } from '../../../src/conditions/time/interval.ts';
import { changesFrom, refusalOf } from './asking-clocks.ts';

describe('an interval once', () => {
  // The first instant that belongs to it and the last.
  test.each([
    [
      '2026-12-24T18:00/2027-01-02T09:00[Europe/Paris]',
      '2026-12-24T17:00:00.000Z',
      '2027-01-02T08:00:00.000Z',
    ],
    ['2026-12-24T18:00/2027-01-02T09:00', '2026-12-24T18:00:00.000Z', '2027-01-02T09:00:00.000Z'],
    ['2026-12-24/2026-12-27', '2026-12-24T00:00:00.000Z', '2026-12-27T00:00:00.000Z'],
    ['2026-12-24 / 2026-12-27 [Asia/Kolkata]', '2026-12-23T18:30:00.000Z', '2026-12-26T18:30:00.000Z'],
    ['2026-12-24 10:00/2026-12-24 10:00:00.001', '2026-12-24T10:00:00.000Z', '2026-12-24T10:00:00.001Z'],
    ['2026-12-24T10:00Z/2026-12-24T11:00+00:30', '2026-12-24T10:00:00.000Z', '2026-12-24T10:30:00.000Z'],
    ['2026-12-24T10:00-08:00/2026-12-25', '2026-12-24T18:00:00.000Z', '2026-12-25T00:00:00.000Z'],
    [
      '2026-07-01[Europe/Paris]/2026-07-02[europe/paris]',
      '2026-06-30T22:00:00.000Z',
      '2026-07-01T22:00:00.000Z',
    ],
    // Repeated: the first start and the second end. Skipped: past the gap.
    [
      '2026-10-25T02:30/2026-10-25T02:45[Europe/Paris]',
      '2026-10-25T00:30:00.000Z',
      '2026-10-25T01:45:00.000Z',
    ],
    [
      '2026-10-25T02:45/2026-10-25T02:30[Europe/Paris]',
      '2026-10-25T00:45:00.000Z',
      '2026-10-25T01:30:00.000Z',
    ],
    [
      '2026-03-29T02:15/2026-03-29T02:45[Europe/Paris]',
      '2026-03-29T01:00:00.000Z',
      '2026-03-29T01:45:00.000Z',
    ],
    [
      '2026-11-01T01:30/2026-11-01T03:00[America/New_York]',
      '2026-11-01T05:30:00.000Z',
      '2026-11-01T08:00:00.000Z',
    ],
    [
      '2026-04-05T01:45/2026-04-05T01:50[Australia/Lord_Howe]',
      '2026-04-04T14:45:00.000Z',
      '2026-04-04T15:20:00.000Z',
    ],
  ])('%j', (text, first, last) => {
    const clock = parseInterval(text);
    const after = new Date(Date.parse(last) + 1).toISOString();
    expect(changesFrom(clock, '2000-01-01T00:00:00Z', 3)).toEqual([`+${first}`, `-${after}`, 'never']);
    expect(clock.nextChange(Date.parse(last))).toBe(Date.parse(after));
    expect(clock.nextChange(Date.parse(after))).toBeNull();
  });
});

describe('an interval that comes again', () => {
  test.each([
    [
      'XXXX-07-XXT14:00/XXXX-07-XXT19:00',
      '2026-07-30T15:00:00Z',
      [
        '-2026-07-30T19:00:00.001Z',
        '+2026-07-31T14:00:00.000Z',
        '-2026-07-31T19:00:00.001Z',
        '+2027-07-01T14:00:00.000Z',
      ],
    ],
    [
      'XXXX-07-XXT14:00/XXXX-07-XXT19:00[Europe/Paris]',
      '2026-12-30T15:00:00Z',
      ['+2027-07-01T12:00:00.000Z', '-2027-07-01T17:00:00.001Z'],
    ],
    [
      'XXXX-12-24/XXXX-12-27',
      '2026-03-01T00:00:00Z',
      ['+2026-12-24T00:00:00.000Z', '-2026-12-27T00:00:00.001Z', '+2027-12-24T00:00:00.000Z'],
    ],
    [
      'xxxx-12-24/xxxx-12-27',
      '2026-03-01T00:00:00Z',
      ['+2026-12-24T00:00:00.000Z', '-2026-12-27T00:00:00.001Z'],
    ],
    // An end is included, so that also an end at midnight belongs to it.
    [
      'XXXX-07-XXT14:00/XXXX-08-01',
      '2026-07-31T00:00:00Z',
      ['+2026-07-31T14:00:00.000Z', '-2026-08-01T00:00:00.001Z', '+2027-07-01T14:00:00.000Z'],
    ],
    // Short months have no 31.
    [
      'XXXX-XX-31T10:00/XXXX-XX-31T11:00',
      '2026-03-31T12:00:00Z',
      ['+2026-05-31T10:00:00.000Z', '-2026-05-31T11:00:00.001Z', '+2026-07-31T10:00:00.000Z'],
    ],
    [
      'XXXX-XX-15/XXXX-XX-31',
      '2026-03-31T12:00:00Z',
      ['+2026-05-15T00:00:00.000Z', '-2026-05-31T00:00:00.001Z'],
    ],
    [
      'XXXX-02-29/XXXX-02-29T12:00',
      '2028-03-01T00:00:00Z',
      ['+2032-02-29T00:00:00.000Z', '-2032-02-29T12:00:00.001Z'],
    ],
    ['XXXX-02-29/XXXX-02-29T12:00', '2096-03-01T00:00:00Z', ['+2104-02-29T00:00:00.000Z']],
    // Some digits of a number, some of the year.
    [
      '2026-XX-1XT10:00/2026-XX-1XT12:00',
      '2026-11-19T11:00:00Z',
      ['-2026-11-19T12:00:00.001Z', '+2026-12-10T10:00:00.000Z'],
    ],
    [
      '202X-07-01/202X-07-02',
      '2028-12-01T00:00:00Z',
      ['+2029-07-01T00:00:00.000Z', '-2029-07-02T00:00:00.001Z', 'never'],
    ],
    ['209X-07-01/209X-07-02', '2026-12-01T00:00:00Z', ['+2090-07-01T00:00:00.000Z']],
    ['201X-07-01/201X-07-02', '2026-12-01T00:00:00Z', ['never']],
    [
      '2026-07-03/XXXX-XX-XXT12:00',
      '2026-07-01T00:00:00Z',
      ['+2026-07-03T00:00:00.000Z', '-2026-07-03T12:00:00.001Z', '+2026-07-04T00:00:00.000Z'],
    ],
    // Leap days: of this year, and of the years that are filled in.
    [
      '2001-XX-XX/2399-12-31',
      '2026-06-01T00:00:00Z',
      ['-2028-02-29T00:00:00.000Z', '+2028-03-01T00:00:00.000Z', '-2032-02-29T00:00:00.000Z'],
    ],
    [
      '202X-02-29/2399-12-31',
      '2031-06-01T00:00:00Z',
      [
        '+2034-01-01T00:00:00.000Z',
        '-2035-01-01T00:00:00.000Z',
        '+2038-01-01T00:00:00.000Z',
        '-2039-01-01T00:00:00.000Z',
        '+2040-01-01T00:00:00.000Z',
      ],
    ],
    // All the time, and but for an instant.
    ['XXXX-01-01/XXXX-12-31T23:59:59.999', '2026-07-01T00:00:00Z', ['never']],
    ['XXXX-XX-XX/XXXX-XX-XXT23:59:59.999[Europe/Paris]', '2026-03-28T12:00:00Z', ['never']],
    [
      'XXXX-XX-XXT00:00:00.001/XXXX-XX-XXT23:59:59.999',
      '2026-07-01T05:00:00Z',
      ['-2026-07-02T00:00:00.000Z', '+2026-07-02T00:00:00.001Z'],
    ],
    ['20XX-01-01/20XX-12-31T23:59:59.999', '2026-07-01T05:00:00Z', ['-2100-01-01T00:00:00.000Z', 'never']],
    // Daylight saving: the gap is the end or the beginning, a repeated hour counts twice.
    [
      'XXXX-XX-XXT02:30/XXXX-XX-XXT04:00[Europe/Paris]',
      '2026-03-28T12:00:00Z',
      ['+2026-03-29T01:00:00.000Z', '-2026-03-29T02:00:00.001Z'],
    ],
    [
      'XXXX-03-29T02:10/XXXX-03-29T02:40[Europe/Paris]',
      '2026-03-28T12:00:00Z',
      ['+2027-03-29T00:10:00.000Z', '-2027-03-29T00:40:00.001Z'],
    ],
    [
      'XXXX-10-25T02:10/XXXX-10-25T02:40[Europe/Paris]',
      '2026-03-28T12:00:00Z',
      [
        '+2026-10-25T00:10:00.000Z',
        '-2026-10-25T00:40:00.001Z',
        '+2026-10-25T01:10:00.000Z',
        '-2026-10-25T01:40:00.001Z',
        '+2027-10-25T00:10:00.000Z',
      ],
    ],
    [
      'XXXX-XX-01T01:40/XXXX-XX-01T01:50[America/New_York]',
      '2026-10-31T12:00:00Z',
      [
        '+2026-11-01T05:40:00.000Z',
        '-2026-11-01T05:50:00.001Z',
        '+2026-11-01T06:40:00.000Z',
        '-2026-11-01T06:50:00.001Z',
        '+2026-12-01T06:40:00.000Z',
      ],
    ],
    [
      'XXXX-10-04T02:10/XXXX-10-04T02:40[Australia/Lord_Howe]',
      '2026-01-01T12:00:00Z',
      ['+2026-10-03T15:30:00.000Z', '-2026-10-03T15:40:00.001Z'],
    ],
    // A year ends in each zone for itself.
    [
      '2026-XX-XX/2027-01-01[Asia/Tokyo]',
      '2025-12-31T12:00:00Z',
      ['+2025-12-31T15:00:00.000Z', '-2026-12-31T15:00:00.001Z', 'never'],
    ],
    [
      'XXXX-XX-01/XXXX-XX-02[Pacific/Kiritimati]',
      '2026-02-15T12:00:00Z',
      ['+2026-02-28T10:00:00.000Z', '-2026-03-01T10:00:00.001Z'],
    ],
    // Cairo goes back from Friday 00:00 to Thursday 23:00, so that Thursday comes again.
    [
      'XXXX-10-XX/XXXX-10-XXT23:30[Africa/Cairo]',
      '2026-10-29T12:00:00Z',
      [
        '-2026-10-29T20:30:00.001Z',
        '+2026-10-29T21:00:00.000Z',
        '-2026-10-29T21:30:00.001Z',
        '+2026-10-29T22:00:00.000Z',
      ],
    ],
  ])('%j after %s', (text, instant, changes) => {
    expect(changesFrom(parseInterval(text), instant, changes.length)).toEqual(changes);
  });
});

describe('what is refused', () => {
  const never = /^Invalid interval\. It holds on no day.*`or`.*schedule/;
  const noDay = /^Invalid interval\. There is no day on which both dates exist/;
  const notAfter = /^Invalid interval\. Send an end that is after the start/;
  const form = /^Invalid interval\. Send start\/end, such as/;
  const timestamp = /^Invalid timestamp\. Send one such as/;
  const oneZone = /^Invalid interval\. Send one zone, at the end/;
  const notBoth = /^Invalid interval\. Send offsets or a zone/;
  const noOffset = /^Invalid interval\. With X, send a zone in brackets at the end/;
  test.each([
    ['2026-12-27/2026-12-24', 11, notAfter],
    ['2026-12-24/2026-12-24', 11, notAfter],
    ['2026-12-24T10:00+02:00/2026-12-24T09:00+01:00', 23, notAfter],
    ['2026-12-24T10:00/2026-12-24T09:59[Europe/Paris]', 17, notAfter],
    ['XXXX-12-20/XXXX-01-05', 0, never],
    ['XXXX-XX-20/XXXX-XX-05', 0, never],
    ['XXXX-XX-XXT22:00/XXXX-XX-XXT06:00', 0, never],
    ['202X-12-20/202X-01-05[Europe/Paris]', 0, never],
    ['XXXX-07-XX/XXXX-07-XX', 0, never],
    ['2026-07-01/2026-07-XX', 0, never],
    ['19XX-07-01/19XX-07-05', 0, never],
    ['XXXX-02-30/XXXX-03-02', 0, noDay],
    ['XXXX-13-XX/XXXX-13-XX', 0, noDay],
    ['2021-02-29/XXXX-XX-XX', 0, /^Invalid timestamp\. There is no such date/],
    ['20X1-02-29/20X1-03-01', 0, noDay],
    ['XXXX-07-XXT1X:00/XXXX-07-XXT19:00', 12, /^Invalid timestamp\. X stands for digits of the date/],
    ['XXXX-07-XX/XXXX-07-XXTXX:00', 22, /^Invalid timestamp\. X stands for digits of the date/],
    ['2026-12-24', 9, form],
    ['2026-12-24 to/2026-12-27', 11, form],
    ['/', 0, timestamp],
    ['/2026-12-24', 0, timestamp],
    ['2026-12-24/', 10, timestamp],
    ['2026-12-24//2026-12-25', 11, timestamp],
    ['2026-12-24/P1D', 11, timestamp],
    ['1 day ago/2026-12-24', 0, timestamp],
    ['2026-12-24/2026-12-25/2026-12-26', 21, /^Invalid interval\. Nothing may follow the end/],
    ['2026-12-24/2026-12-25 Europe/Paris', 22, /^Invalid interval\. Nothing may follow the end/],
    ['2026-12-24[Europe/Paris]/2026-12-25', 10, oneZone],
    ['2026-12-24[Europe/Paris]/2026-12-25Z', 10, oneZone],
    ['2026-12-24[Europe/Paris]/2026-12-25[Europe/Rome]', 10, oneZone],
    ['2026-12-24Z/2026-12-25[Europe/Paris]', 10, notBoth],
    ['2026-12-24/2026-12-25Z[Europe/Paris]', 21, /^Invalid timestamp\. Send an offset or a zone/],
    ['XXXX-12-24Z/XXXX-12-25', 10, noOffset],
    ['XXXX-12-24/XXXX-12-25T10:00+02:00', 27, noOffset],
    ['2026-12-24/2026-12-25[Mars/Base]', 22, /^Invalid timezone/],
    ['2026-12-24/2026-12-25[Europe/Paris', 21, /^Invalid timezone/],
    ['2026-12-24/2026-12-32', 11, /^Invalid timestamp\. There is no such date/],
  ])('%j at %i', (text, at, message) => {
    expect(refusalOf(() => parseInterval(text))).toEqual({ at, message: expect.stringMatching(message) });
  });
});
