import { beforeEach, expect, test } from 'vitest';
import { RateBudgets } from '../../../src/github/ask-github.ts';
import { TestClock } from '../../support/test-clock.ts';

const clock = new TestClock('2026-03-01T09:00:00Z');
const soon = clock.now() + 600_000;
const later = clock.now() + 1_800_000;
let budgets: RateBudgets;
beforeEach(() => {
  budgets = new RateBudgets(clock);
});

const headers = (resource: string, remaining: number, resetAt = later) => ({
  'x-ratelimit-limit': 5_000,
  'x-ratelimit-remaining': remaining,
  'x-ratelimit-reset': resetAt / 1000,
  'x-ratelimit-resource': resource,
});

test.each<[what: string, notes: ReturnType<typeof headers>[], refusals: number[], until: number | null]>([
  ['while nothing is known', [], [], null],
  ['while something is left', [headers('core', 1)], [], null],
  ['with nothing left of REST', [headers('core', 0)], [], later],
  ['with nothing left of GraphQL', [headers('core', 5_000), headers('graphql', 0, soon)], [], soon],
  ['after a refusal', [headers('core', 5_000)], [soon], soon],
  ['after the longer one of two refusals', [], [later, soon], later],
  ['after a refusal, until more is there', [headers('graphql', 0)], [soon], later],
  ['after a refusal that is over', [], [clock.now()], null],
])('the hour is used up %s', (_, notes, refusals, until) => {
  for (const note of notes) budgets.note(7n, note);
  for (const refusal of refusals) budgets.noteRefusal(7n, refusal);
  expect(budgets.usedUpUntil(7n)).toBe(until);
  expect(budgets.usedUpUntil(8n)).toBeNull();
});
