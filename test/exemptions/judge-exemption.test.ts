import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Exemption, exemptionFrom, leftBehind, wasExemptAt } from '../../src/exemptions/exemption.ts';
import { judge } from '../../src/statuses/judge.ts';
import { rankOf } from '../../src/statuses/plan-write.ts';
import { parseFreeze } from '../../src/freezes/judge-freeze.ts';
import { loadedPullRequest } from '../support/loaded-pull-request.ts';

const at = (minute: number) => new Date(Date.parse('2026-03-01T10:00:00Z') + minute * 60_000);
const subject = { number: 1, headSha: 'a', baseRef: 'main' };
const exemption: Exemption = {
  id: 'e',
  pullRequest: 1,
  headSha: 'a',
  headSeenAt: at(0),
  anyHead: false,
  freezeIds: null,
  baseRef: 'main',
  reason: 'A fix',
  publicReason: null,
  state: 'approved',
  requestedAt: at(0),
  approvedAt: at(1),
  expiresAt: at(60),
  endedAt: null,
};
const from = (more: Partial<Exemption>, freezeId = 'f', minute = 5) =>
  exemptionFrom([{ ...exemption, ...more }], subject, freezeId, at(minute)) !== null;

describe('an exemption covers', () => {
  test.each<[string, Partial<Exemption>, boolean]>([
    ['its head', {}, true],
    ['no other head', { headSha: 'b' }, false],
    ['any head where it says so', { headSha: 'b', anyHead: true }, true],
    ['into no other base branch', { baseRef: 'release' }, false],
    ['nor any head into another base branch', { baseRef: 'release', anyHead: true }, false],
    ['no other pull request', { pullRequest: 2, anyHead: true }, false],
    ['a freeze that it names', { freezeIds: ['e', 'f'] }, true],
    ['no freeze that it does not name', { freezeIds: ['e'] }, false],
    ...(['requested', 'denied', 'revoked', 'expired', 'used'] as const).map(
      (state) => [`nothing when it is ${state}`, { state }, false] as [string, Partial<Exemption>, boolean],
    ),
  ])('%s', (_what, more, expected) => expect(from(more)).toBe(expected));

  test('until its instant, whether or not somebody ended it', () => {
    expect([59, 60].map((minute) => from({}, 'f', minute))).toEqual([true, false]);
  });
});

test('a push is distinguished from an answer from before the request', () => {
  const pushed = (headSha: string, minute: number, observed = minute) =>
    leftBehind([exemption], [{ ...subject, headSha, changedAt: at(minute) }], at(observed)).length === 1;
  expect(pushed('a', 1)).toBe(false);
  expect(pushed('b', 1)).toBe(true);
  expect(pushed('b', 0)).toBe(true);
  expect(pushed('b', -1, 1)).toBe(false);
  expect(pushed('b', -1, 6)).toBe(true);
});

test('a merge counts as exempt from the second of the approval to the end', () => {
  const merged = (instant: Date, more: Partial<Exemption> = {}) =>
    wasExemptAt(
      [{ ...exemption, approvedAt: new Date(at(1).getTime() + 900), ...more }],
      subject,
      'f',
      instant,
    );
  expect([at(0), at(1), at(59), at(60)].map((instant) => merged(instant))).toEqual([
    false,
    true,
    true,
    false,
  ]);
  expect([at(2), at(4)].map((instant) => merged(instant, { state: 'revoked', endedAt: at(3) }))).toEqual([
    true,
    false,
  ]);
});

test('another base branch ends it, also for any head', () => {
  const seen = [{ ...subject, baseRef: 'release', changedAt: at(1) }];
  expect(leftBehind([{ ...exemption, anyHead: true }], seen, at(1))).toMatchObject([{ by: 'retargeted' }]);
});

const freeze = (id: string) =>
  parseFreeze({
    id,
    repositoryId: 1n,
    reason: 'Release',
    matchingConditions: [],
    excludeConditions: [],
    start: '2026-03-01T09:00:00',
    end: null,
    timezone: 'UTC',
    startsAt: at(-60),
    endsAt: null,
  });
const green = { state: 'success', description: 'Before', at: at(0) };
const pullRequest = (number: number, head: string, status = green) =>
  loadedPullRequest({ number, head, base: 'main' }, { status });

test('a pull request that is no longer exempt is held before everything else', async () => {
  const verdictOf = async (exemptions: Exemption[]) => {
    const standards = { freezes: [freeze('f')], exemptions, hiding: [], observedAt: at(5) };
    return (await judge(standards, [pullRequest(1, 'a')])).verdicts[0]!;
  };
  const rank = (verdict: Parameters<typeof rankOf>[0]) =>
    rankOf(verdict, green, { isUnanswered: false, isOfEvent: false });
  const group = rank({ ...(await verdictOf([])), subject: 'group', urgency: 1 });
  expect((await verdictOf([exemption])).status.state).toBe('success');
  for (const over of [{ state: 'revoked', endedAt: at(4) }, { expiresAt: at(5) }] as const) {
    const verdict = await verdictOf([{ ...exemption, ...over }]);
    expect(verdict.status.state).toBe('pending');
    expect(rank(verdict).tier).toBe(group.tier);
    expect(rank(verdict).urgency).toBeLessThan(group.urgency);
  }
  const never = await verdictOf([{ ...exemption, state: 'denied', approvedAt: null }]);
  expect(rank(never).tier).toBeGreaterThan(group.tier);
});

const ids = ['f', 'g', 'h'];
const heads = ['a', 'b'];
const someExemption = fc.record({
  pullRequest: fc.integer({ min: 1, max: 3 }),
  headSha: fc.constantFrom(...heads),
  anyHead: fc.boolean(),
  freezeIds: fc.option(fc.subarray(ids, { minLength: 1 })),
  state: fc.constantFrom('approved', 'approved', 'requested', 'revoked', 'expired') as fc.Arbitrary<
    Exemption['state']
  >,
  expiresAt: fc.integer({ min: 0, max: 10 }).map(at),
});

test('a commit is free exactly if each pull request on it is free of each freeze, by its own exemption', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.subarray(ids),
      fc.uniqueArray(fc.record({ number: fc.integer({ min: 1, max: 3 }), head: fc.constantFrom(...heads) }), {
        selector: ({ number }) => number,
        minLength: 1,
      }),
      fc.array(someExemption, { maxLength: 5 }),
      async (frozenBy, open, given) => {
        const exemptions = given.map((each) => ({ ...exemption, ...each }));
        const { verdicts } = await judge(
          { freezes: frozenBy.map(freeze), exemptions, hiding: [], observedAt: at(5) },
          open.map(({ number, head }) => pullRequest(number, head)),
        );
        for (const { sha, status } of verdicts) {
          const isFree = open
            .filter(({ head }) => head === sha)
            .every(({ number }) =>
              frozenBy.every((id) =>
                given.some(
                  (each) =>
                    each.state === 'approved' &&
                    each.expiresAt > at(5) &&
                    each.pullRequest === number &&
                    (each.anyHead || each.headSha === sha) &&
                    (each.freezeIds === null || each.freezeIds.includes(id)),
                ),
              ),
            );
          expect(status.state).toBe(isFree ? 'success' : 'pending');
        }
      },
    ),
  );
});
