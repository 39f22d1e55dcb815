import { describe, expect, test } from 'vitest';
import { parseTimestamp } from '../../../src/conditions/time/timestamp.ts';
import { refusalOf } from './asking-clocks.ts';

describe('a timestamp', () => {
  test.each([
    ['2021-04-05', '2021-04-05T00:00:00.000Z'],
    ['2012-09-17T22:02:51', '2012-09-17T22:02:51.000Z'],
    ['2012-09-17T22:02', '2012-09-17T22:02:00.000Z'],
    ['2012-09-17 22:02:51', '2012-09-17T22:02:51.000Z'],
    ['2012-09-17t22:02:51z', '2012-09-17T22:02:51.000Z'],
    ['2012-09-17T22:02:51Z', '2012-09-17T22:02:51.000Z'],
    ['2012-09-17T22:02Z', '2012-09-17T22:02:00.000Z'],
    ['2012-09-17T22:02:51.5', '2012-09-17T22:02:51.500Z'],
    ['2012-09-17T22:02:51.123456789Z', '2012-09-17T22:02:51.123Z'],
    ['2012-09-17T22:02:51.9999', '2012-09-17T22:02:51.999Z'],
    ['2012-09-17T22:02:51-08:00', '2012-09-18T06:02:51.000Z'],
    ['2012-09-17T22:02:51+05:45', '2012-09-17T16:17:51.000Z'],
    ['2012-09-17T22:02:51+0200', '2012-09-17T20:02:51.000Z'],
    ['2012-09-17T22:02+02', '2012-09-17T20:02:00.000Z'],
    ['2012-09-17T22:02 +02:00', '2012-09-17T20:02:00.000Z'],
    ['2021-04-05Z', '2021-04-05T00:00:00.000Z'],
    ['2021-04-05-08:00', '2021-04-05T08:00:00.000Z'],
    ['2021-04-05[Europe/Paris]', '2021-04-04T22:00:00.000Z'],
    ['2021-04-05 [Europe/Paris]', '2021-04-04T22:00:00.000Z'],
    ['2021-04-05T07:19:04[Europe/Paris]', '2021-04-05T05:19:04.000Z'],
    ['2021-12-05T07:19:04[europe/paris]', '2021-12-05T06:19:04.000Z'],
    ['2021-04-05T07:19[UTC]', '2021-04-05T07:19:00.000Z'],
    ['2021-04-05T07:19[Asia/Kolkata]', '2021-04-05T01:49:00.000Z'],
    ['  2021-04-05T07:19  ', '2021-04-05T07:19:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999', '9999-12-31T23:59:59.999Z'],
    // Repeated: the first. Skipped: the first that exists.
    ['2026-10-25T02:30[Europe/Paris]', '2026-10-25T00:30:00.000Z'],
    ['2026-03-29T02:30[Europe/Paris]', '2026-03-29T01:00:00.000Z'],
    ['2026-03-08T02:30[America/New_York]', '2026-03-08T07:00:00.000Z'],
    ['2026-11-01T01:30[America/New_York]', '2026-11-01T05:30:00.000Z'],
    ['2026-10-04T02:15[Australia/Lord_Howe]', '2026-10-03T15:30:00.000Z'],
    ['2026-03-08[America/Havana]', '2026-03-08T05:00:00.000Z'],
  ])('%j is %s', (text, instant) => {
    expect(new Date(parseTimestamp(text)).toISOString()).toBe(instant);
  });

  const one = /^Invalid timestamp\. Send one such as 2026-03-01,/;
  const noDate = /^Invalid timestamp\. There is no such date/;
  const noTime = /^Invalid timestamp\. There is no such time/;
  const timeForm = /^Invalid timestamp\. Send the time as 10:00/;
  const alone = /^Invalid timestamp\. Send one alone/;
  const zone = /^Invalid timezone\. Send an IANA name/;
  test.each([
    ['', 0, one],
    ['   ', 2, one],
    ['100', 0, one],
    ['now', 0, one],
    ['2021-4-5', 0, one],
    ['12021-04-05', 0, one],
    ['2021-04-051', 0, one],
    ['２021-04-05', 0, one],
    ['-2021-04-05', 0, one],
    ['2021-02-29', 0, noDate],
    ['2100-02-29', 0, noDate],
    ['2021-04-31', 0, noDate],
    ['2021-13-01', 0, noDate],
    ['2021-00-01', 0, noDate],
    ['2021-01-00', 0, noDate],
    ['0000-01-01', 0, noDate],
    ['2021-04-05T24:00', 11, noTime],
    ['2021-04-05T10:60', 11, noTime],
    ['2021-04-05T10:59:60', 11, noTime],
    ['2021-04-05T10', 10, timeForm],
    ['2021-04-05T', 10, timeForm],
    ['2021-04-05 10', 10, timeForm],
    ['2021-04-05T1:00', 10, timeForm],
    ['2021-04-05T10:00:0', 10, timeForm],
    ['2021-04-05T10:00.5', 10, timeForm],
    ['2021-04-05T10:00:00.', 10, timeForm],
    ['2021-04-05T10:00:00.1234567890', 10, timeForm],
    ['2021-04-05foo', 10, alone],
    ['2021-04-05x', 0, one],
    ['2021-04-05T10:00:00 UTC', 20, alone],
    ['2021-04-05T10:00:00+1', 19, alone],
    ['2021-04-05/2021-04-06', 10, alone],
    ['2021-04-05T10:00[Europe/Paris]!', 30, alone],
    ['2021-04-05T10:00+24:00', 16, /^Invalid timezone\. Send an offset/],
    ['2021-04-05T10:00+02:60', 16, /^Invalid timezone\. Send an offset/],
    ['2021-04-05T10:00[InvalidTZ]', 17, zone],
    ['2021-04-05T10:00[]', 17, zone],
    ['2021-04-05T10:00[+02:00]', 17, zone],
    ['2021-04-05T10:00[ACT]', 17, zone],
    ['2021-04-05T10:00[u-ca=hebrew]', 17, zone],
    ['2021-04-05T10:00[Europe/Paris', 16, /^Invalid timezone\. Close the bracket/],
    ['2021-04-05T10:00[[Europe/Paris]]', 16, /^Invalid timezone\. Close the bracket/],
    ['2021-04-05T10:00Z[Europe/Paris]', 16, /^Invalid timestamp\. Send an offset or a zone/],
    ['2021-04-05T10:00+02:00[Europe/Paris]', 16, /^Invalid timestamp\. Send an offset or a zone/],
    ['XXXX-04-05', 0, /^Invalid timestamp\. Send digits: X is for intervals/],
    ['2021-04-05TXX:00', 11, /^Invalid timestamp\. X stands for digits of the date/],
    ['7 days 18:00', 0, /^Invalid timestamp\. Let a time ago end in `ago`/],
    ['30minutes', 0, /^Invalid timestamp\. Let a time ago end in `ago`/],
  ])('%j is refused at %i', (text, at, message) => {
    expect(refusalOf(() => parseTimestamp(text))).toEqual({ at, message: expect.stringMatching(message) });
  });
});
