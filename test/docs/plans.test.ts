import { expect, test } from 'vitest';
import { checkPlan } from '../../src/plans/check-plan.ts';
import { occurrencesFrom, type Recurrence } from '../../src/plans/occurrences.ts';
import { documentAt } from './documents.ts';

type Recipe = {
  start: string;
  end: string;
  timezone: string;
  recurrence: Partial<Recurrence> & { rule: string };
};

const recipes = new Map(
  documentAt('docs/plans.md')
    .split('\n## Recipes\n')[1]!
    .split('\n### ')
    .slice(1)
    .map((part) => [part.split('\n')[0]!, JSON.parse(/```json\n([\s\S]*?)```/.exec(part)![1]!) as Recipe]),
);

/** By title: an instant, and when the recipe begins from then on. */
const cases: Record<string, { from: string; begins: string[] }> = {
  'Year ends': {
    from: '2026-12-25T00:00:00Z',
    begins: ['2026-12-24T17:00:00Z', '2027-12-24T17:00:00Z', '2029-12-24T17:00:00Z'],
  },
  'Third Saturdays': {
    from: '2026-02-01T00:00:00Z',
    begins: ['2026-02-21T11:00:00Z', '2026-03-21T10:00:00Z', '2026-04-18T10:00:00Z'],
  },
  'The last business day of the quarter': {
    from: '2026-01-01T00:00:00Z',
    begins: ['2026-03-31T11:00:00Z', '2026-06-30T11:00:00Z', '2026-09-30T11:00:00Z', '2026-12-31T12:00:00Z'],
  },
  'A release every second Thursday': {
    from: '2026-12-04T00:00:00Z',
    begins: ['2026-12-03T07:00:00Z', '2026-12-17T07:00:00Z', '2027-01-14T07:00:00Z'],
  },
};

test('every recipe has its case', () => {
  expect([...recipes.keys()]).toEqual(Object.keys(cases));
});

test.each([...recipes])('%s', (title, { recurrence: { rule, except = [], until = null }, ...window }) => {
  const { from, begins } = cases[title]!;
  const plan = checkPlan(
    {
      name: title,
      reason: title,
      publicReason: null,
      repositories: { include: ['*'], exclude: [] },
      matchingConditions: [],
      excludeConditions: [],
      holds: ['merges'],
      environments: ['*'],
      onDeployment: 'wait',
      ...window,
      recurrence: { rule, except, until },
      source: null,
    },
    new Date(from),
  );
  const found = occurrencesFrom(plan, new Date(from)).take(begins.length).toArray();
  expect(found.map(({ startsAt }) => startsAt)).toEqual(begins.map((begin) => new Date(begin)));
});
