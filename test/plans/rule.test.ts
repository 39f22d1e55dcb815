import { describe, expect, test } from 'vitest';
import { parseRule } from '../../src/plans/rule.ts';

describe('a rule that is refused names its part', () => {
  test.each([
    ['', /`` is not a part/],
    ['INTERVAL=2', /FREQ is missing/],
    ['FREQ=HOURLY', /^FREQ takes one of DAILY/],
    ['FREQ=DAILY;UNTIL=20270101T000000Z', /`UNTIL` .* in `until`/],
    ['FREQ=WEEKLY;INTERVAL=2;WKST=SU', /`WKST` .* Monday/],
    ['FREQ=DAILY;WKST=XX', /`WKST` .* Monday/],
    ['FREQ=DAILY;BYHOUR=1', /`BYHOUR`/],
    ['DTSTART:20260101', /`DTSTART:20260101`/],
    ['RRULE:RRULE:FREQ=DAILY', /`RRULE:FREQ`/],
    ['FREQ=DAILY;;', /`` is not a part/],
    ['FREQ=DAILY;FREQ=DAILY', /^FREQ stands twice/],
    ['FREQ=DAILY;INTERVAL=0', /^INTERVAL takes/],
    ['FREQ=DAILY;INTERVAL=1.5', /^INTERVAL takes/],
    ['FREQ=DAILY;COUNT=1001', /^COUNT takes .* 1 to 1000/],
    ['FREQ=DAILY;BYDAY=XX', /^BYDAY takes/],
    ['FREQ=DAILY;BYDAY=3SA', /^BYDAY takes a number/],
    ['FREQ=MONTHLY;BYDAY=0SA', /^BYDAY takes/],
    ['FREQ=MONTHLY;BYDAY=54SA', /^BYDAY takes/],
    ['FREQ=MONTHLY;BYMONTHDAY=32', /^BYMONTHDAY takes/],
    ['FREQ=WEEKLY;BYMONTHDAY=3', /^BYMONTHDAY does not go/],
    ['FREQ=MONTHLY;BYMONTH=-1', /^BYMONTH takes/],
    ['FREQ=MONTHLY;BYSETPOS=1', /^BYSETPOS chooses/],
    ['FREQ=MONTHLY;BYDAY=MO;BYSETPOS=367', /^BYSETPOS takes/],
    [`FREQ=MONTHLY;BYMONTHDAY=${'1,'.repeat(500)}1`, /at most 1000 characters/],
  ])('%s', (rule, message) => {
    expect(parseRule(rule)).toEqual({ ok: false, message: expect.stringMatching(message) });
  });
});

test('a rule can have 1,000 characters', () => {
  const rule = `FREQ=MONTHLY;BYMONTHDAY=${'1,'.repeat(487)}10`;
  expect(rule).toHaveLength(1000);
  expect(parseRule(rule).ok).toBe(true);
});

test.each([
  ['freq=monthly;byday=-1fr,+2mo', 'FREQ=MONTHLY;BYDAY=-1FR,+2MO'],
  ['RRULE:FREQ=WEEKLY;BYDAY=FR', 'FREQ=WEEKLY;BYDAY=FR'],
  ['FREQ=WEEKLY;BYDAY=FR;', 'FREQ=WEEKLY;BYDAY=FR'],
  [' rrule:FREQ=WEEKLY; BYDAY=FR, SA ;\r\n', 'FREQ=WEEKLY;BYDAY=FR,SA'],
  ['FREQ=WEEKLY;WKST=SU;BYDAY=FR', 'FREQ=WEEKLY;BYDAY=FR'],
  ['FREQ=WEEKLY;WKST=SU;INTERVAL=1', 'FREQ=WEEKLY;INTERVAL=1'],
  ['FREQ=MONTHLY;INTERVAL=2;WKST=SA', 'FREQ=MONTHLY;INTERVAL=2'],
  ['FREQ=WEEKLY;INTERVAL=2;WKST=MO', 'FREQ=WEEKLY;INTERVAL=2'],
])('%j is read as %s, as people paste it', (pasted, rule) => {
  expect(parseRule(pasted)).toMatchObject({ ok: true });
  expect(parseRule(pasted)).toEqual(parseRule(rule));
});
