import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ConditionInput } from '../../src/conditions/ast.ts';
import { judge, judgeClosed } from '../../src/statuses/judge.ts';
import { rankOf, tiers } from '../../src/statuses/plan-write.ts';
import { parseFreeze } from '../../src/freezes/judge-freeze.ts';
import type { LoadedPullRequest } from '../../src/github/pull-requests/load-pull-requests.ts';
import { loadedPullRequest } from '../support/loaded-pull-request.ts';
import type { PresentStatus } from '../../src/github/pull-requests/pull-request.ts';

const observedAt = new Date('2026-03-01T10:00:00Z');
const freeze = parseFreeze({
  id: 'freeze',
  repositoryId: 1n,
  reason: 'Release',
  matchingConditions: ['base=main'] as ConditionInput[],
  excludeConditions: [],
  start: '2026-03-01T09:00:00',
  end: null,
  timezone: 'UTC',
  startsAt: observedAt,
  endsAt: null,
});
const observed = { freezes: [freeze], exemptions: [], hiding: [], observedAt };
const green: PresentStatus = { state: 'success', description: 'Before', at: observedAt };

type Given = {
  number: number;
  head: string;
  isHeld: boolean;
  merge: string | null;
  mergeStatus?: PresentStatus;
};
const pullRequest = (
  { number, head, isHeld, merge, mergeStatus = null }: Given,
  more: Partial<LoadedPullRequest> = {},
) =>
  loadedPullRequest(
    { number, head, base: isHeld ? 'main' : 'release' },
    { status: green, testMerge: merge === null ? null : { sha: merge, status: mergeStatus }, ...more },
  );

const sha = fc.constantFrom('a', 'b', 'c', 'd');
const mergeStatus: fc.Arbitrary<PresentStatus> = fc.constantFrom(null, green);
const some = fc.array(
  fc.record({
    number: fc.integer({ min: 1, max: 99 }),
    head: sha,
    isHeld: fc.boolean(),
    merge: fc.option(sha),
    mergeStatus,
  }),
  { maxLength: 6 },
);

test('the status of each SHA is the strictest of all whose head or test merge commit it is', async () => {
  await fc.assert(
    fc.asyncProperty(some, async (given) => {
      const { verdicts } = await judge(
        observed,
        given.map((each) => pullRequest(each)),
      );
      const heads = new Set(given.map(({ head }) => head));
      const withStatus = given.filter((each) => each.mergeStatus).flatMap(({ merge }) => merge ?? []);
      expect(new Set(verdicts.map((verdict) => verdict.sha))).toEqual(new Set([...heads, ...withStatus]));
      for (const verdict of verdicts) {
        const sharing = given.filter(({ head, merge }) => head === verdict.sha || merge === verdict.sha);
        const isHeld = sharing.some((each) => each.isHeld);
        expect(verdict.status.state).toBe(isHeld ? 'pending' : 'success');
      }
    }),
  );
});

describe('heads of closed pull requests', () => {
  const closed = (given: Partial<Given>, closedAt: string, more: Partial<LoadedPullRequest> = {}) => {
    const one = pullRequest(
      { number: 1, head: 'a', isHeld: true, merge: null, ...given },
      { isOpen: false, ...more },
    );
    Object.assign(one.facts.values, { 'closed-at': Date.parse(closedAt), closed: true, merged: false });
    return one;
  };
  const recently = '2026-02-20T00:00:00Z';

  test('are held as if they were open, behind everything else', async () => {
    const both = [closed({ isHeld: false }, recently), closed({ number: 2 }, recently)];
    const [verdict, ...others] = await judgeClosed(observed, both);
    expect(others).toEqual([]);
    expect(verdict).toMatchObject({ sha: 'a', status: { state: 'pending' }, closedNumber: 2 });
    const asUsual = { isUnanswered: false, isOfEvent: false };
    expect(rankOf(verdict!, green, asUsual).tier).toBe(Math.max(...Object.values(tiers)));
  });

  test('that show pending already are not written for another text', async () => {
    const status = { state: 'pending', description: 'Frozen until yesterday', at: observedAt };
    const [verdict] = await judgeClosed(observed, [closed({}, recently, { status })]);
    expect(verdict!.status).toEqual({ state: 'pending', description: 'Frozen until yesterday' });
  });

  test('are left alone if they were closed long ago, are open, merged, not held or without a status', async () => {
    const merged = closed({}, recently);
    merged.facts.values.merged = true;
    const others = [
      closed({}, '2026-01-30T09:59:59Z'),
      closed({}, recently, { isOpen: true }),
      closed({ isHeld: false }, recently),
      closed({}, recently, { status: null }),
      merged,
    ];
    for (const other of others) expect(await judgeClosed(observed, [other])).toEqual([]);
    expect(await judgeClosed(observed, [closed({}, '2026-01-30T10:00:00Z')])).toHaveLength(1);
  });
});
