// Judging thousands of pull requests by many conditions takes its time, and lets others work meanwhile.
import { setImmediate as turn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type ParsedFreeze, parseFreeze, releasingLabels } from '../../src/freezes/judge-freeze.ts';
import type { LoadedPullRequest } from '../../src/github/pull-requests/load-pull-requests.ts';
import type { PullRequestFacts } from '../../src/github/pull-requests/pull-request.ts';
import { judge, judgeClosed, nextChangeAmong, type Standards } from '../../src/statuses/judge.ts';
import { amount } from '../support/amounts.ts';
import { loopDelayOf } from '../support/loop-delay.ts';
import { selectedAmong } from '../../src/statuses/time-until-held.ts';

/** Milliseconds. */
const most = 100;
const observedAt = new Date('2026-03-01T10:00:00Z');
const many = <Item>(count: number, of: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => of(at));

/** Nothing matches, so each condition is looked at. */
const conditions = (index: number): unknown[] => [
  { or: ['schedule=Mon-Fri 22:00-06:00[America/New_York]', ...many(498, (at) => `label=${index} ${at}`)] },
];
const freezes: ParsedFreeze[] = many(20, (index) =>
  parseFreeze({
    ...{
      id: String(index),
      repositoryId: 1n,
      planId: null,
      reason: 'Books',
      startsAt: observedAt,
      endsAt: null,
    },
    ...{
      start: '',
      end: null,
      timezone: 'UTC',
      matchingConditions: [],
      excludeConditions: conditions(index),
    },
  } as never),
);
const labels = many(20, (at) => `label ${at}`);
const facts = (index: number): PullRequestFacts => ({
  number: index + 1,
  nodeId: `PR_${index}`,
  headSha: index.toString(16).padStart(40, '0'),
  values: { base: 'main', title: 'A', label: labels, closed: true, 'closed-at': observedAt.getTime() },
  whyNotKnown: {},
  hasEveryScope: false,
  teams: new Map(),
});
const loaded = (index: number, isOpen: boolean): LoadedPullRequest =>
  ({
    ...{ facts: facts(index), isOpen, status: { state: 'success', description: '', at: observedAt } },
    ...{ testMerge: null, headOwner: '', isMergeable: true },
  }) as LoadedPullRequest;

const standards: Standards = { freezes, exemptions: [], hiding: [], observedAt };
const count = amount(3000);
const all = many(count, (index) => loaded(index, true));
const closed = many(count, (index) => loaded(index, false));
const allFacts = all.map((each) => each.facts);

test.each<[string, () => Promise<unknown>, (result: never) => unknown, unknown]>([
  [
    'open pull requests',
    () => judge(standards, all),
    ({ verdicts }: Awaited<ReturnType<typeof judge>>) => verdicts.length,
    count,
  ],
  ['closed ones', () => judgeClosed(standards, closed), (verdicts: unknown[]) => verdicts.length, count],
  [
    'the next change',
    () => nextChangeAmong(freezes, allFacts, observedAt),
    (next: Date) => next.toISOString(),
    '2026-03-03T03:00:00.000Z',
  ],
  [
    'how many a freeze selects, for each',
    async () => {
      const selected = [];
      for (const freeze of freezes) selected.push(await selectedAmong(freeze, allFacts, observedAt));
      return selected;
    },
    (selected: unknown[]) => selected.at(-1),
    { selected: count, open: count },
  ],
  [
    'labels that release, of each freeze',
    async () => {
      const found = [];
      for (const freeze of freezes)
        found.push(await releasingLabels(freeze, allFacts[0]!, Number(observedAt)));
      return found;
    },
    (found: { putOn: string[] }[]) => found.map(({ putOn }) => putOn.length),
    many(20, () => 498),
  ],
])(
  '%s',
  async (_, work, shownOf, shown) => {
    const [delay, result] = await loopDelayOf(work);
    expect(shownOf(result as never)).toEqual(shown);
    expect(delay).toBeLessThanOrEqual(most);
  },
  60_000,
);

test('what is short is done at once', async () => {
  await turn();
  // On a clock that stands still, so that it is short on every machine.
  vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  onTestFinished(() => void vi.restoreAllMocks());
  let turns = 0;
  const counting = setImmediate(() => (turns += 1));
  await judge(standards, all.slice(0, 1));
  expect(turns).toBe(0);
  clearImmediate(counting);
});
