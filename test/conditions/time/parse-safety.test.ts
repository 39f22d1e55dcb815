import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseInterval } from '../../../src/conditions/time/interval.ts';
import { parseAgo, parseTimestamp } from '../../../src/conditions/time/timestamp.ts';
import { parseSchedule } from '../../../src/conditions/time/schedule.ts';
import { leastCpuTime } from '../../support/cpu-time.ts';
import { refusalOf } from './asking-clocks.ts';
import { amount } from '../../support/amounts.ts';

const parsers = { parseTimestamp, parseAgo, parseSchedule, parseInterval };

const good = [
  '2012-09-17T22:02:51.123Z',
  '2012-09-17 22:02:51-08:00',
  '2021-04-05T07:19:04[Europe/Paris]',
  '1 day 2 hours 30 minutes ago',
  '7 days 18:02 ago',
  'Mon-Fri 09:00-17:00[Europe/Paris]',
  '6-7 22:00[UTC] - 06:00[UTC]',
  '2026-12-24T18:00/2027-01-02T09:00[Europe/Paris]',
  'XXXX-07-XXT14:00/XXXX-07-XXT19:00[Asia/Kolkata]',
];

describe.each(Object.entries(parsers))('%s', (_, parse) => {
  test('answers any text, and says where inside it', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ...'0123456789X-:/[].,+ TZ',
        'Mon',
        'Fri',
        'ago',
        'days',
        '[Europe/Paris]',
        '24:00',
        '\u2028',
      ),
      fc.string({ unit: 'binary', maxLength: 3 }),
    );
    const mutated = fc
      .tuple(fc.constantFrom(...good), fc.array(fc.tuple(fc.nat(50), fc.nat(4), piece), { maxLength: 3 }))
      .map(([text, edits]) =>
        edits.reduce((edited, [at, cut, put]) => edited.slice(0, at) + put + edited.slice(at + cut), text),
      );
    const pieces = fc.array(piece, { maxLength: 20 }).map((all) => all.join(''));
    fc.assert(
      fc.property(fc.oneof(mutated, pieces, fc.string({ unit: 'binary' })), (text) => {
        const refusal = refusalOf(() => parse(text));
        if (!refusal) return;
        expect(refusal.message).toMatch(/^Invalid (timestamp|timezone|schedule|interval)\. ./);
        expect(refusal.at).toBeGreaterThanOrEqual(0);
        expect(refusal.at).toBeLessThanOrEqual(Math.max(0, text.length - 1));
      }),
      { numRuns: amount(3000) },
    );
  });

  const repeated = [
    ' ',
    '1',
    'X',
    '[',
    ']',
    '-',
    '/',
    ':',
    'a',
    'T',
    '\t',
    '\u00a0',
    '1 ',
    'ago ',
    ' ago',
    'Mon-',
    '1 day ',
  ];
  const starts = [
    '',
    '1',
    '1 day',
    '2026-03-01',
    '2026-03-01T10:00',
    '2026-03-01[',
    '2026-03-01/',
    'Mon',
    'Mon-',
    '09:00',
    '09:00-17:00',
  ];
  test('long texts are answered at once', () => {
    for (const text of good) refusalOf(() => parse(text));
    for (const start of starts) {
      for (const unit of repeated) {
        for (const end of ['', 'x', ' ago']) {
          const text = start + unit.repeat(10_000 / unit.length) + end;
          expect(
            leastCpuTime(() => refusalOf(() => parse(text))),
            JSON.stringify(text.slice(0, 30)),
          ).toBeLessThan(10);
        }
      }
    }
  });
});
