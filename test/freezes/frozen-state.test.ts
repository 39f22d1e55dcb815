import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ConditionInput } from '../../src/conditions/ast.ts';
import type { Freeze } from '../../src/freezes/freeze.ts';
import { frozenStateAt, type KeptFreeze, type Span } from '../../src/plans/frozen-state.ts';
import { parseFreeze, couldHold } from '../../src/freezes/judge-freeze.ts';
import { amount } from '../support/amounts.ts';

const freeze = (more: Partial<Freeze>): Freeze => ({
  id: 'one',
  repositoryId: 1n,
  reason: 'Release',
  start: '',
  end: null,
  timezone: 'UTC',
  startsAt: new Date(0),
  endsAt: null,
  matchingConditions: [],
  excludeConditions: [],
  ...more,
});

describe('could hold a pull request into a branch', () => {
  const could = (
    base: string | null,
    matching: ConditionInput[],
    exclude: ConditionInput[] = [],
    more: Partial<Freeze> = {},
  ) =>
    couldHold(parseFreeze(freeze({ matchingConditions: matching, excludeConditions: exclude, ...more })), {
      base,
    });

  test.each<[boolean, string | null, ConditionInput[], ConditionInput[]?]>([
    [true, null, []],
    [true, 'main', []],
    [true, 'main', ['base=main']],
    [false, 'next', ['base=main']],
    [true, null, ['base=main']],
    [true, 'release/1', ['base~=^release/']],
    [false, 'main', ['-base=main']],
    [false, 'main', [{ not: 'base=main' }]],
    // Conditions beyond the base could be true or false, also those on the time.
    [true, 'main', ['label=risky']],
    [true, 'main', ['-label=risky', 'schedule=Mon-Fri 09:00-17:00[Europe/Paris]']],
    [true, 'main', ['current-datetime<2020-01-01T00:00[UTC]']],
    [false, 'next', ['label=risky', 'base=main']],
    [true, 'next', [{ or: ['label=risky', 'base=main'] }]],
    [true, 'main', [{ not: { and: ['base=main', 'label=risky'] } }]],
    [false, 'main', [{ not: { or: ['base=main', 'label=risky'] } }]],
    // Only a sure exclusion excludes.
    [false, 'main', [], ['base=main']],
    [true, 'next', [], ['base=main']],
    [true, null, [], ['base=main']],
    [true, 'main', [], ['base=main', 'label=hotfix']],
    [false, 'main', [], [{ or: ['base=main', 'label=hotfix'] }]],
    // An unreadable condition holds.
    [true, 'main', ['nonsense' as ConditionInput]],
  ])('%s: into %s, matching %j, excluding %j', (expected, base, matching, exclude) => {
    expect(could(base, matching, exclude)).toBe(expected);
  });

  test('a freeze that holds only deployments could not', () => {
    expect(could('main', [], [], { holds: ['deployments'] })).toBe(false);
    expect(could('main', [], [], { holds: ['merges', 'deployments'] })).toBe(true);
  });
});

test.each<[boolean, Partial<Freeze>]>([
  [false, {}],
  [false, { environments: ['*'] }],
  [true, { holds: ['deployments'] }],
  [true, { holds: ['merges', 'deployments'], environments: ['staging', 'PROD*'] }],
  [true, { holds: ['deployments'], environments: ['{prod,live}uction'] }],
  [false, { holds: ['deployments'], environments: ['prod'] }],
  // Conditions are about pull requests, also those that nobody can read.
  [true, { holds: ['deployments'], matchingConditions: ['base=next'], excludeConditions: ['author=ada'] }],
  [true, { holds: ['deployments'], matchingConditions: ['nonsense' as ConditionInput] }],
])('%s: could hold a deployment to production: %j', (expected, more) => {
  expect(couldHold(parseFreeze(freeze(more)), { environment: 'production' })).toBe(expected);
});

const kept = (id: string, from: number, to: number | null, deletedAt: number | null = null): KeptFreeze => ({
  parsed: parseFreeze(freeze({ id, startsAt: new Date(from), endsAt: to === null ? null : new Date(to) })),
  deletedAt: deletedAt === null ? null : new Date(deletedAt),
});
const stateAt = (freezes: KeptFreeze[], at: number, planned: Span[][] = []) => {
  const {
    frozen,
    freezes: ids,
    nextTransitionAt,
  } = frozenStateAt(freezes, { base: null }, new Date(at), planned);
  return [frozen, ids, nextTransitionAt && nextTransitionAt.getTime()];
};

describe('the state at an instant', () => {
  test('a freeze holds from its start on and no longer at its end', () => {
    const one = [kept('a', 10, 20)];
    expect(stateAt(one, 9)).toEqual([false, [], 10]);
    expect(stateAt(one, 10)).toEqual([true, ['a'], 20]);
    expect(stateAt(one, 19)).toEqual([true, ['a'], 20]);
    expect(stateAt(one, 20)).toEqual([false, [], null]);
  });

  test('those that follow each other without a gap change nothing in between', () => {
    const all = [kept('a', 10, 20), kept('b', 15, 18), kept('c', 20, 30), kept('d', 31, 40)];
    expect(stateAt(all, 16)).toEqual([true, ['a', 'b'], 30]);
    expect(stateAt(all, 30)).toEqual([false, [], 31]);
    expect(stateAt([...all, kept('e', 35, null)], 36)).toEqual([true, ['d', 'e'], null]);
  });

  test('a deleted one held until it was deleted, and never if that was before it began', () => {
    expect(stateAt([kept('a', 10, null, 15)], 12)).toEqual([true, ['a'], 15]);
    expect(stateAt([kept('a', 10, 20, 5)], 4)).toEqual([false, [], null]);
  });

  test('plans that follow each other forever are not asked forever', () => {
    let asked = 0;
    const days = function* () {
      for (let from = 0; ; from += 10) {
        asked += 1;
        yield { id: null, from, to: from + 10 };
      }
    };
    expect(frozenStateAt([], { base: null }, new Date(5), [days()])).toEqual({
      frozen: true,
      freezes: [],
      nextTransitionAt: null,
    });
    expect(asked).toBeLessThan(5000);
  });

  test('agrees with a look at each instant', () => {
    const instant = fc.integer({ min: 0, max: 30 });
    const span = fc.record({
      from: instant,
      length: fc.integer({ min: 1, max: 10 }),
      isOpen: fc.boolean(),
      deletedAt: fc.option(instant),
      /** Of which plan that has not made it yet; null: it is made. */
      plan: fc.option(fc.integer({ min: 0, max: 2 })),
    });
    const isFrozen = (freezes: KeptFreeze[], at: number) =>
      freezes.some(
        ({ parsed: { freeze }, deletedAt }) =>
          freeze.startsAt.getTime() <= at &&
          !(freeze.endsAt && freeze.endsAt.getTime() <= at) &&
          !(deletedAt && deletedAt.getTime() <= at),
      );
    fc.assert(
      fc.property(fc.array(span, { maxLength: 8 }), instant, (spans, at) => {
        const sorted = spans.toSorted((one, other) => one.from - other.from);
        const asKept = ({ from, length, isOpen, deletedAt, plan }: (typeof spans)[number], index: number) =>
          kept(`${index}`, from, isOpen ? null : from + length, plan === null ? deletedAt : null);
        const freezes = sorted.map(asKept);
        const planned = [0, 1, 2].map((one) =>
          sorted
            .filter(({ plan }) => plan === one)
            .map(({ from, length, isOpen }) => ({ id: null, from, to: isOpen ? Infinity : from + length })),
        );
        const now = isFrozen(freezes, at);
        let next: number | null = at + 1;
        while (next <= 50 && isFrozen(freezes, next) === now) next += 1;
        if (next > 50) next = null;
        const made = freezes.filter((_, index) => sorted[index]!.plan === null);
        const [frozen, , nextTransitionAt] = stateAt(made, at, planned);
        expect([frozen, nextTransitionAt]).toEqual([now, next]);
      }),
      { numRuns: amount(1000) },
    );
  });
});
