import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ConditionInput } from '../../src/conditions/ast.ts';
import { isTimed, nextChange } from '../../src/conditions/match.ts';
import { prepared, somePullRequest } from './some-pull-request.ts';

// A Sunday.
const now = Date.parse('2026-03-01T10:00:00Z');
const created = (text: string) => ({ values: { 'created-at': Date.parse(text) } });

const next = (conditions: ConditionInput[], changes: Parameters<typeof somePullRequest>[0] = {}) => {
  const at = nextChange(prepared(conditions), somePullRequest(changes), now);
  return at === null ? null : new Date(at).toISOString();
};

describe('of one condition', () => {
  test.each([
    ['base=main', null],
    ['created-at<2026-01-01', null],
    ['schedule=Mon-Fri 09:00-17:00', '2026-03-02T09:00:00.000Z'],
    ['schedule!=Sun 09:00-17:00', '2026-03-01T17:00:00.001Z'],
    ['schedule=Sat-Sun', '2026-03-02T00:00:00.000Z'],
    ['schedule=Mon-Sun', null],
    ['current-datetime>=2026-03-01T12:00', '2026-03-01T12:00:00.000Z'],
    ['current-datetime<2026-03-01T12:00', '2026-03-01T12:00:00.000Z'],
    ['current-datetime>2026-03-01T12:00', '2026-03-01T12:00:00.001Z'],
    ['current-datetime<=2026-03-01T12:00', '2026-03-01T12:00:00.001Z'],
    ['current-datetime>2026-03-01T10:00', '2026-03-01T10:00:00.001Z'],
    ['current-datetime>=2026-03-01T10:00', null],
    ['current-datetime=2026-03-01T12:00/2026-03-01T13:00[Europe/Paris]', '2026-03-01T11:00:00.000Z'],
    ['current-datetime=2026-03-01T08:00/2026-03-01T09:00', null],
    ['current-datetime=2026-03-01T12:00/2026-03-01T13:00', '2026-03-01T12:00:00.000Z'],
  ])('%s: %s', (condition, expected) => {
    expect(next([condition])).toBe(expected);
    expect(next([{ not: condition }])).toBe(expected);
  });

  test.each([
    ['created-at<1 day ago', '2026-03-01T09:00:00Z', '2026-03-02T09:00:00.001Z'],
    ['created-at<=1 day ago', '2026-03-01T09:00:00Z', '2026-03-02T09:00:00.000Z'],
    ['created-at>1 day ago', '2026-03-01T09:00:00Z', '2026-03-02T09:00:00.000Z'],
    ['created-at>=1 day ago', '2026-03-01T09:00:00Z', '2026-03-02T09:00:00.001Z'],
    ['created-at<1 day ago', '2026-02-01T09:00:00Z', null],
    ['created-at<30 minutes ago', '2026-03-01T09:45:00Z', '2026-03-01T10:15:00.001Z'],
  ])('%s of a pull request from %s: %s', (condition, at, expected) => {
    expect(next([condition], created(at))).toBe(expected);
  });

  test('of commits, the earliest counts', () => {
    expect(next(['commits[*].date_author>1 day ago'])).toBeNull();
    expect(next(['commits[*].date_author>3 days ago'])).toBe('2026-03-02T08:00:00.000Z');
  });

  test('an unknown fact does not change by time', () => {
    expect(next(['created-at<1 day ago'], { values: { 'created-at': undefined } })).toBeNull();
  });
});

describe('of several', () => {
  const soon = 'schedule=Mon';
  const later = 'schedule=Wed';

  test.each<[ConditionInput[], string | null]>([
    [[soon, later], '2026-03-02T00:00:00.000Z'],
    [[{ or: [later, soon] }], '2026-03-02T00:00:00.000Z'],
    [['base=main', soon], '2026-03-02T00:00:00.000Z'],
    // A part that time cannot change already decides.
    [['base=other', soon], null],
    [[{ or: ['base=main', soon] }], null],
    [[{ or: ['base=other', soon] }, later], '2026-03-02T00:00:00.000Z'],
    [[{ not: { or: ['base=main', soon] } }], null],
    [['files=x', soon], '2026-03-02T00:00:00.000Z'],
  ])('%j: %s', (conditions, expected) => {
    expect(next(conditions, { values: { files: undefined } })).toBe(expected);
  });
});

const timed = fc.constantFrom(
  'schedule=Mon-Fri 09:00-17:00[Europe/Paris]',
  'schedule=22:00-06:00',
  'current-datetime=XXXX-XX-0XT12:00/XXXX-XX-0XT13:30',
  'current-datetime>=2026-03-02T00:00',
  'created-at>7 days ago',
  'created-at<=8 days 5 hours ago',
  'base=main',
  'label=x',
  'files=x',
);
const { node } = fc.letrec<{ node: ConditionInput }>((tie) => {
  const nodes = fc.array(tie('node'), { minLength: 1, maxLength: 3 });
  return {
    node: fc.oneof(
      { maxDepth: 3 },
      timed,
      fc.record({ and: nodes }),
      fc.record({ or: nodes }),
      fc.record({ not: tie('node') }),
    ),
  };
});

test('nothing changes before the computed instant', () => {
  const facts = somePullRequest({ values: { files: undefined } });
  const minutes = fc.array(fc.integer({ min: 1, max: 14 * 1440 }), { minLength: 5, maxLength: 20 });
  fc.assert(
    fc.property(node, minutes, (condition, offsets) => {
      const matcher = prepared([condition]);
      const change = nextChange(matcher, facts, now);
      const verdict = matcher.judge(facts, now);
      expect(change === null || change > now).toBe(true);
      if (!isTimed(matcher)) expect(change).toBeNull();
      for (const at of offsets.map((offset) => now + offset * 60_000)) {
        if (change === null || at < change) expect(matcher.judge(facts, at)).toBe(verdict);
      }
      if (change !== null) expect(matcher.judge(facts, change - 1)).toBe(verdict);
    }),
  );
});
