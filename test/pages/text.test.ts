import { expect, test } from 'vitest';
import { instantText, instantAndDistance, quotedLast, warningNotices } from '../../src/pages/text.ts';

const now = new Date('2026-11-27T12:00:00Z');
const shown = async (at: string, zone: string, ownZone?: string) =>
  String(await instantText(new Date(at), { zone, now }, ownZone))
    .replace(/<[^>]*>/g, '')
    .replace(/\s+/g, ' ');

test.each([
  // How far it is from now stands in the tooltip.
  ['2026-11-27T15:00:00Z', 'Europe/Berlin', undefined, 'Fri 27 Nov, 16:00'],
  ['2026-11-27T09:30:00Z', 'Europe/Berlin', undefined, 'Fri 27 Nov, 10:30'],
  ['2026-11-27T12:00:00Z', 'Europe/Berlin', undefined, 'Fri 27 Nov, 13:00'],
  ['2026-11-28T12:00:00Z', 'Europe/Berlin', undefined, 'Sat 28 Nov, 13:00'],
  ['2026-11-26T12:00:00Z', 'Europe/Berlin', undefined, 'Thu 26 Nov, 13:00'],
  // The zone of the freeze, where its clock differs at that instant.
  ['2026-12-24T17:00:00Z', 'Europe/Berlin', 'Europe/Paris', 'Thu 24 Dec, 18:00'],
  ['2026-12-24T17:00:00Z', 'Europe/Berlin', 'America/New_York', 'Thu 24 Dec, 18:00 (12:00 New York)'],
  ['2026-12-24T17:00:00Z', 'Europe/Berlin', 'Asia/Tokyo', 'Thu 24 Dec, 18:00 (Fri 25 Dec, 02:00 Tokyo)'],
  ['2026-11-27T15:00:00Z', 'Asia/Tokyo', 'UTC', 'Sat 28 Nov, 00:00 (Fri 27 Nov, 15:00 UTC)'],
  ['2026-12-24T17:00:00Z', 'Europe/London', 'UTC', 'Thu 24 Dec, 17:00'],
  ['2026-07-24T17:00:00Z', 'Europe/London', 'UTC', 'Fri 24 Jul, 18:00 (17:00 UTC)'],
  // The year of the reader's clock.
  ['2027-01-01T00:30:00Z', 'UTC', undefined, 'Fri 1 Jan 2027, 00:30 UTC'],
  ['2027-01-01T00:30:00Z', 'America/New_York', 'UTC', 'Thu 31 Dec, 19:30 (Fri 1 Jan 2027, 00:30 UTC)'],
  // No seconds.
  ['2026-12-24T17:00:59.999Z', 'UTC', undefined, 'Thu 24 Dec, 17:00 UTC'],
])('%s in %s, of a freeze in %s, is %s', async (at, zone, ownZone, text) => {
  expect(await shown(at, zone, ownZone)).toBe(text);
});

test.each([
  ['2026-11-27T15:00:00Z', '2026-11-27 16:00 Europe/Berlin, in 3 h', ' (in 3 h)'],
  ['2026-11-27T09:30:00Z', '2026-11-27 10:30 Europe/Berlin, 2 h 30 min ago', ' (2 h 30 min ago)'],
  ['2026-11-28T12:00:00Z', '2026-11-28 13:00 Europe/Berlin', ''],
])('%s: one who points at it reads %s, and the first line of a page has%s', async (at, title, beside) => {
  const times = { zone: 'Europe/Berlin', now };
  expect(String(await instantText(new Date(at), times))).toContain(`title="${title}"`);
  const text = String(await instantAndDistance(new Date(at), times)).replace(/<[^>]*>/g, '');
  expect(text.replace(/^[^(]*\d\d:\d\d\s*/, ' ').trimEnd()).toBe(beside === '' ? '' : beside);
});

test('the exact instant is in the markup, with both zones', async () => {
  const at = new Date('2026-12-24T17:00:07.123Z');
  expect(String(await instantText(at, { zone: 'Europe/Berlin', now }, 'Asia/Tokyo'))).toContain(
    '<time datetime="2026-12-24T17:00:07.123Z" title="2026-12-24 18:00:07 Europe/Berlin, 2026-12-25 02:00:07 Asia/Tokyo">',
  );
});

test.each([
  ['Release', '<q dir="auto">Release</q>.'],
  ['Is it safe?', '<q dir="auto">Is it safe?</q>'],
  ['Not today.', '<q dir="auto">Not today.</q>'],
  ['x'.repeat(200), expect.stringMatching(/^<q dir="auto">x+…<\/q>$/)],
])('a sentence that ends with %s has one end', async (text, shown) => {
  expect(String(await quotedLast(text))).toEqual(shown);
});

test('code in the Markdown of a warning is code on a page, and nothing else is markup', async () => {
  const shown = String(await warningNotices(['`label=<b>` depends on `base`.', 'An odd ` stays, with <b>.']));
  expect(shown).toBe(
    '<p class="notice"><code dir="auto">label=&lt;b&gt;</code> depends on <code dir="auto">base</code>.</p>' +
      '<p class="notice">An odd ` stays, with &lt;b&gt;.</p>',
  );
});
