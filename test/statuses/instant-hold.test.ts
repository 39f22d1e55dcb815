import { describe, expect, test } from 'vitest';
import type { Freeze } from '../../src/freezes/freeze.ts';
import { parseFreeze } from '../../src/freezes/judge-freeze.ts';
import {
  type Base,
  contextOf,
  isAsWanted,
  holdKeyOf,
  wantedNow,
} from '../../src/statuses/instant-hold/hold.ts';
import { selectedByBases, timeUntilHeld, whyNoBridge } from '../../src/statuses/time-until-held.ts';

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
  expect(wantedNow('bridge', [a, b], [holdKeyOf(a)], bases)).toMatchObject({
    freezes: [holdKeyOf(b)],
    branches: ['main'],
  });
  expect(wantedNow('bridge', [a, b], [holdKeyOf(a), holdKeyOf(b)], bases)).toBeNull();
  // Other conditions are another freeze.
  expect(holdKeyOf(freeze('a', { excludeConditions: ['label=x'] }))).not.toBe(holdKeyOf(a));
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

describe('how long it takes until everything is blocked', () => {
  const web = { name: 'web', mode: 'off', error: null, selected: 1000, open: 1000, refused: null } as const;
  const few = { ...web, name: 'few', selected: 10, open: 90 };
  test.each<[string, Parameters<typeof timeUntilHeld>[0], ReturnType<typeof timeUntilHeld>]>([
    ['nothing', [{ ...web, selected: 0 }], null],
    [
      'off',
      [web],
      {
        seconds: 480,
        statusesSeconds: 480,
        message:
          'All 1,000 pull requests are blocked within about 8 minutes. With an instant hold, it takes some seconds.',
      },
    ],
    ['off, and nothing requires the check', [{ ...web, refused: 0 }], null],
    [
      'off, and most branches do not require the check',
      [
        { ...web, refused: 10 },
        { ...few, refused: 0 },
      ],
      {
        seconds: 485,
        statusesSeconds: 485,
        message:
          'All 10 pull requests are blocked within about 8 minutes. With an instant hold, it takes some seconds.',
      },
    ],
    [
      'bridge, where one branch requires the check and another does not',
      [
        { ...web, mode: 'bridge', refused: 10 },
        { ...few, refused: 4 },
      ],
      {
        seconds: 485,
        statusesSeconds: 485,
        message:
          'A ruleset blocks 1,000 of 1,004 pull requests within a second. The others take about 8 minutes, as all of them do without an instant hold. Direct pushes are refused until the statuses are written.',
      },
    ],
    [
      'lock, and nothing requires the check',
      [{ ...web, mode: 'lock', refused: 0 }],
      {
        seconds: 1,
        statusesSeconds: 480,
        message:
          'A ruleset blocks all 1,000 pull requests within a second. Nothing requires the check, so without an instant hold nothing is blocked. Direct pushes are refused until the last freeze ends.',
      },
    ],
    [
      'bridge',
      [{ ...web, mode: 'bridge' }],
      {
        seconds: 1,
        statusesSeconds: 480,
        message:
          'A ruleset blocks all 1,000 pull requests within a second. Without an instant hold, it takes about 8 minutes. Direct pushes are refused until the statuses are written.',
      },
    ],
    [
      'a bridge that is not worth it',
      [{ ...few, mode: 'bridge' }],
      {
        seconds: 5,
        statusesSeconds: 5,
        message:
          'All 10 pull requests are blocked within about 5 seconds. The instant hold does nothing for this freeze: Holdfast can write the statuses of 10 pull requests in about 5 s.',
      },
    ],
    [
      'one that does not work',
      [{ ...web, mode: 'lock', error: 'The second App is not installed on acme/web.' }],
      {
        seconds: 480,
        statusesSeconds: 480,
        message:
          'All 1,000 pull requests are blocked within about 8 minutes. The instant hold does not work. The second App is not installed on acme/web.',
      },
    ],
    [
      'a lock that blocks many others',
      [{ ...web, mode: 'lock', selected: 1 }],
      {
        seconds: 1,
        statusesSeconds: 1,
        message:
          'A ruleset blocks 1 pull request within a second. Without an instant hold, it takes about 1 second. 999 other pull requests are blocked too, for up to about 8 minutes. Direct pushes are refused until the last freeze ends.',
      },
    ],
    [
      'several repositories',
      [{ ...web, mode: 'bridge' }, web, { ...few, mode: 'bridge' }, { ...few, mode: 'lock', error: 'Gone.' }],
      {
        seconds: 970,
        statusesSeconds: 970,
        message:
          'A ruleset blocks 1,000 of 2,020 pull requests within a second. The others take about 16 minutes, as all of them do without an instant hold. The instant hold does not work in few. In 1 repository, no ruleset is used: the statuses take some seconds, or it would block many others for a moment. Direct pushes are refused until the statuses are written.',
      },
    ],
    [
      'more rulesets than GitHub takes in a minute',
      Array.from({ length: 500 }, () => ({ ...web, mode: 'lock' as const })),
      {
        seconds: 180,
        statusesSeconds: 240_000,
        message:
          'Rulesets block all 500,000 pull requests within about 3 minutes. Without an instant hold, it takes about 67 hours. Direct pushes are refused until the last freeze ends.',
      },
    ],
  ])('%s', (_, repositories, expected) => {
    expect(timeUntilHeld(repositories, 125)).toEqual(expected);
  });
});
