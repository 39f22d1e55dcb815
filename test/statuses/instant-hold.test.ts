import { describe, expect, test } from 'vitest';
import type { Freeze } from '../../src/freezes/freeze.ts';
import { parseFreeze } from '../../src/freezes/judge-freeze.ts';
import {
  type Base,
  contextOf,
  isAsWanted,
  keyOf,
  selectedByBases,
  wantedNow,
} from '../../src/statuses/instant-hold/hold.ts';
import { timeUntilHeld, whyNoBridge } from '../../src/statuses/instant-hold/foresee.ts';

const freeze = (id: string, more: Partial<Freeze> = {}) =>
  parseFreeze({
    id,
    matchingConditions: [],
    excludeConditions: [],
    endsAt: null,
    timezone: 'Europe/Paris',
    reason: 'private',
    ...more,
  } as unknown as Freeze);

const base = (name: string | null, open = 10, isHead = false): Base => ({ name, open, isHead });
const bases = [base('main'), base('release', 5), base('feature', 1, true)];

describe('the branches that a ruleset targets', () => {
  test.each<[Partial<Freeze>, string[]]>([
    [{}, ['main', 'release', '~DEFAULT_BRANCH']],
    [{ matchingConditions: ['label=risky'] }, ['main', 'release', '~DEFAULT_BRANCH']],
    [{ matchingConditions: ['base=main'] }, ['main']],
    [{ matchingConditions: ['base=none-yet'] }, ['none-yet']],
    [{ matchingConditions: ['base~=^rel'] }, ['release']],
    [{ matchingConditions: ['base=feature'] }, ['feature']],
    [{ excludeConditions: ['base=release'] }, ['main', '~DEFAULT_BRANCH']],
  ])('%j: %j', (conditions, branches) => {
    expect(wantedNow('lock', [freeze('a', conditions)], [], bases)?.branches).toEqual(branches);
  });

  test('no freeze that could hold anything', () => {
    expect(wantedNow('lock', [], [], bases)).toBeNull();
    expect(wantedNow('off', [freeze('a')], [], bases)).toBeNull();
    expect(wantedNow('lock', [freeze('a', { matchingConditions: ['base~=^none'] })], [], bases)).toBeNull();
  });
});

test('the context says until when, no reason, and is another one for each beginning', () => {
  const end = new Date('2027-01-02T08:00:00Z');
  const [a, b] = [freeze('a', { endsAt: end }), freeze('b')];
  const one = wantedNow('lock', [a], [], bases)!;
  const both = wantedNow('lock', [a, b], [], bases)!;
  expect(one.text).toBe('Frozen until 2027-01-02 09:00 Europe/Paris');
  expect(both.text).toBe('Frozen until removed (+1 more)');
  const contexts = [contextOf(one, 1n), contextOf(one, 2n), contextOf(both, 1n)];
  expect(new Set(contexts).size).toBe(3);
  for (const context of contexts) {
    expect(context.length).toBeLessThanOrEqual(255);
    expect(context).not.toContain('private');
  }
  const stored = { context: contexts[0]!, freezes: one.freezes, branches: one.branches };
  expect(isAsWanted(stored, one)).toBe(true);
  expect(isAsWanted(stored, both)).toBe(false);
  expect(isAsWanted({ ...stored, branches: ['main'] }, one)).toBe(false);
  expect(isAsWanted(stored, null)).toBe(false);
  expect(isAsWanted({ context: null, freezes: [], branches: [] }, null)).toBe(true);
});

test('a bridge is for freezes whose statuses do not hold yet', () => {
  const [a, b] = [freeze('a'), freeze('b', { matchingConditions: ['base=main'] })];
  expect(wantedNow('bridge', [a, b], [keyOf(a)], bases)).toMatchObject({
    freezes: [keyOf(b)],
    branches: ['main'],
  });
  expect(wantedNow('bridge', [a, b], [keyOf(a), keyOf(b)], bases)).toBeNull();
  // Other conditions are another freeze.
  expect(keyOf(freeze('a', { excludeConditions: ['label=x'] }))).not.toBe(keyOf(a));
});

test.each<[Partial<Freeze>, Base[], number | null]>([
  [{}, bases, 16],
  [{ matchingConditions: ['base=main'] }, bases, 10],
  [{ excludeConditions: ['base=main'] }, bases, 6],
  [{ matchingConditions: ['label=x'] }, bases, null],
  [{ excludeConditions: ['label=x'] }, bases, null],
  [{}, [base(null)], null],
])('%j selects, by branches alone, %#', (conditions, of, count) => {
  expect(selectedByBases(freeze('a', conditions), of)?.selected ?? null).toBe(count);
});

test.each([
  [{ selected: 100, open: 100 }, 75, true],
  [{ selected: 25, open: 100 }, 75, true],
  [{ selected: 24, open: 100 }, 60, false],
  [{ selected: 20, open: 20 }, 60, true],
  [{ selected: 19, open: 20 }, 60, false],
  [{ selected: 0, open: 0 }, 60, false],
])('%j at %i a minute is worth a bridge: %s', (selected, perMinute, isWorth) => {
  expect(whyNoBridge(selected, perMinute) === null).toBe(isWorth);
});
