import { describe, expect, test } from 'vitest';
import { parseAgo } from '../../../src/conditions/time/timestamp.ts';
import { refusalOf } from './asking-clocks.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

describe('a time ago', () => {
  test.each([
    ['7 days ago', 7 * day],
    ['1 day ago', day],
    ['2 hours ago', 2 * hour],
    ['1 hour ago', hour],
    ['30 minutes ago', 30 * minute],
    ['1 minute ago', minute],
    ['1 day 2 hours 30 minutes ago', day + 2 * hour + 30 * minute],
    ['1 day 30 minutes ago', day + 30 * minute],
    ['36 hours 90 minutes ago', 36 * hour + 90 * minute],
    ['7 days 18:02 ago', 7 * day + 18 * hour + 2 * minute],
    ['18:02 ago', 18 * hour + 2 * minute],
    ['0 days ago', 0],
    ['  7  DAYS  2hours Ago  ', 7 * day + 2 * hour],
    ['007 days ago', 7 * day],
    ['36500 days ago', 36_500 * day],
  ])('%j', (text, value) => expect(parseAgo(text)).toBe(value));

  test.each([
    '',
    '2021-04-05',
    '7 days',
    'ago 7 days',
    'Chicago',
    '7 daysago',
    '2021-04-05[America/Chicago]',
  ])('%j is none', (text) => expect(parseAgo(text)).toBeNull());

  const order = /^Invalid timestamp\. Send days, hours and minutes in this order/;
  const most = /^Invalid timestamp\. Send at most 36500 days/;
  test.each([
    ['ago', 0, order],
    [' ago', 1, order],
    ['days ago', 0, order],
    ['7 ago', 0, order],
    ['a day ago', 0, order],
    ['-1 days ago', 0, order],
    ['1.5 days ago', 0, order],
    ['2 weeks ago', 0, order],
    ['10 seconds ago', 0, order],
    ['1 day, 2 hours ago', 5, order],
    ['2 hours 1 day ago', 8, order],
    ['1 day 1 day ago', 6, order],
    ['1 day 18:60 ago', 6, order],
    ['1 day 18:2 ago', 6, order],
    ['1 day 18:02 5 minutes ago', 12, order],
    ['1 day ago ago', 6, order],
    ['7 days long ago', 7, order],
    ['36500 days 1 minute ago', 0, most],
    ['99999999999999999999 hours ago', 0, most],
    [`${'9'.repeat(400)} minutes ago`, 0, most],
  ])('%j is refused', (text, at, message) => {
    expect(refusalOf(() => parseAgo(text))).toEqual({ at, message: expect.stringMatching(message) });
  });
});
