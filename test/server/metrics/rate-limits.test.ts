import { expect, test } from 'vitest';
import { RateBudgets } from '../../../src/github/ask-github.ts';
import { gaugesOf } from '../../../src/server/metrics/figures.ts';
import { samplesIn } from '../../support/samples.ts';
import { TestClock } from '../../support/test-clock.ts';

const clock = new TestClock('2026-03-01T09:00:00Z');
const name = 'holdfast_github_rate_limit_remaining_ratio';
const headers = (resource: string, remaining: number, resetAt = clock.now() + 1_800_000) => ({
  'x-ratelimit-resource': resource,
  'x-ratelimit-limit': '5000',
  'x-ratelimit-remaining': String(remaining),
  'x-ratelimit-reset': String(resetAt / 1000),
});
const shown = async (budgets: RateBudgets) => {
  const samples = samplesIn(await gaugesOf(null, budgets.known(), clock.now()).metrics());
  return [...samples].filter(([sample]) => sample.startsWith(name));
};

test('what GitHub last said of this hour is shown, of the budgets that we use', async () => {
  const budgets = new RateBudgets(clock);
  budgets.note(7n, headers('core', 4000));
  budgets.note(7n, headers('core', 1000));
  budgets.note(7n, headers('graphql', 5000));
  budgets.note(7n, headers('search', 1));
  budgets.note(8n, headers('core', 1, clock.now()));
  expect(await shown(budgets)).toEqual([
    [`${name}{installation="7",resource="core"}`, 0.2],
    [`${name}{installation="7",resource="graphql"}`, 1],
  ]);
});

test('of very many installations, those with the least left are shown', async () => {
  const budgets = new RateBudgets(clock);
  for (let id = 1; id <= 1000; id++) budgets.note(BigInt(id), headers('core', 5000 - id));
  const samples = await shown(budgets);
  expect(samples).toHaveLength(100);
  expect(samples[0]).toEqual([`${name}{installation="1000",resource="core"}`, 0.8]);
});
