import { describe, expect, test } from 'vitest';
import { answerLine } from '../../src/cli/test-conditions.ts';
import { documentAt } from './documents.ts';

const section = documentAt('docs/conditions.md').split('\n## Recipes\n')[1]!;

type Recipe = { matching_conditions: unknown[]; exclude_conditions?: unknown[] };

const recipes = new Map(
  section
    .split('\n### ')
    .slice(1)
    .map((part) => {
      const title = part.split('\n')[0]!;
      const json = /```json\n([\s\S]*?)```/.exec(part)?.[1];
      if (!json) throw new Error(`The recipe "${title}" has no JSON.`);
      return [title, JSON.parse(json) as Recipe] as const;
    }),
);

/** A pull request, and at need an instant and who is in which team. */
type Given = { pull_request?: object; now?: string; teams?: object };

function isHeld(
  { matching_conditions: matching, exclude_conditions: exclude = [] }: Recipe,
  given: Given,
): boolean {
  const all = (conditions: unknown[]) =>
    conditions.every((condition) => {
      const answer = answerLine(JSON.stringify({ condition, now: '2026-03-04T12:00:00Z', ...given }));
      if ('error' in answer) throw new Error(answer.error.message);
      return answer.match;
    });
  return all(matching) && !(exclude.length > 0 && all(exclude));
}

const of = (pull_request: object): Given => ({ pull_request });
const at = (now: string): Given => ({ now });
const byOnCall = { teams: { '@acme/on-call': ['ada'] } };
const managers = { teams: { '@acme/release-managers': ['rene'] } };
const byDependabot = { author: 'dependabot[bot]', 'last-pushed-by': 'dependabot[bot]' };
const bump = (...types: string[]) =>
  of({
    ...byDependabot,
    'dependabot-update-type': types.map((type) => `version-update:semver-${type}`),
  });

/** By title: pull requests that the recipe holds, and those that it does not hold. */
const cases: Record<string, { held: Given[]; free: Given[] }> = {
  'Freeze all but hotfixes': {
    held: [of({ base: 'main' }), of({ base: 'main', label: ['docs'] })],
    free: [of({ base: 'main', label: ['hotfix'] }), of({ base: 'next' })],
  },
  'Hotfixes, and one pull request besides': {
    held: [of({ base: 'main' }), of({ base: 'main', number: 4 })],
    free: [of({ base: 'main', label: ['hotfix'] }), of({ base: 'main', number: 3 }), of({ base: 'next' })],
  },
  'Only one scope': { held: [of({ scope: ['payments', 'web'] })], free: [of({ scope: ['web'] }), of({})] },
  'Everything but one scope': {
    held: [of({ scope: ['docs', 'web'] }), of({ scope: ['web'] }), of({})],
    free: [of({ scope: ['docs'] })],
  },
  'Only large changes': {
    held: [of({ 'modified-lines': 501 }), of({ '#files': 51 })],
    free: [of({ 'modified-lines': 500, '#files': 50 })],
  },
  'All but bots': { held: [of({ author: 'mona' })], free: [of({ author: 'renovate[bot]' })] },
  'Let Dependabot’s updates through, and nothing that somebody added': {
    held: [
      of({ ...byDependabot, 'dependabot-dependency-name': ['roof'], author: 'mona' }),
      of({ ...byDependabot, 'dependabot-dependency-name': ['roof'], 'last-pushed-by': 'mona' }),
      of(byDependabot),
    ],
    free: [of({ ...byDependabot, 'dependabot-dependency-name': ['roof'] })],
  },
  'All but Dependabot’s patch updates': {
    held: [bump('minor'), bump('patch', 'major'), of({ author: 'mona' })],
    free: [bump('patch'), bump('patch', 'patch')],
  },
  'Only at weekends': {
    held: [at('2026-03-07T12:00:00Z'), at('2026-03-06T23:00:00Z')],
    free: [at('2026-03-06T22:59:59Z'), at('2026-03-08T23:00:00Z')],
  },
  'Outside of office hours': {
    held: [at('2026-03-04T13:59:59Z'), at('2026-03-04T22:00:01Z'), at('2026-03-07T16:00:00Z')],
    free: [at('2026-03-04T14:00:00Z'), at('2026-03-04T22:00:00Z')],
  },
  'Every night, over midnight': {
    held: [at('2026-03-04T13:00:00Z'), at('2026-03-04T20:59:00Z')],
    free: [at('2026-03-04T12:59:59Z'), at('2026-03-04T21:00:01Z')],
  },
  'Friday afternoon until Monday morning': {
    held: [
      at('2026-03-06T14:00:00Z'),
      at('2026-03-06T23:30:00Z'),
      at('2026-03-08T10:00:00Z'),
      at('2026-03-09T06:59:00Z'),
    ],
    free: [at('2026-03-06T13:59:00Z'), at('2026-03-09T07:01:00Z')],
  },
  'The year’s end, each year': {
    held: [
      at('2026-12-19T23:00:00Z'),
      at('2026-12-31T22:59:58Z'),
      at('2027-01-01T12:00:00Z'),
      at('2031-12-24T12:00:00Z'),
    ],
    free: [at('2026-12-19T22:59:00Z'), at('2027-01-02T08:01:00Z')],
  },
  'Until approved twice': {
    held: [of({ base: 'main' }), of({ base: 'main', 'approved-reviews-by': ['ada'] })],
    free: [of({ base: 'main', 'approved-reviews-by': ['ada', 'bob'] }), of({ base: 'next' })],
  },
  'Until the release managers approve': {
    held: [
      { ...managers, ...of({ base: 'release/1', 'approved-reviews-by': ['ada'] }) },
      of({ base: 'release/1' }),
    ],
    free: [
      { ...managers, ...of({ base: 'release/1', 'approved-reviews-by': ['rene'] }) },
      of({ base: 'main' }),
    ],
  },
  'Only database migrations': {
    held: [of({ files: ['db/migrations/1.sql'] }), of({ files: ['a', 'db/migrations/2026/03/2.sql'] })],
    free: [of({ files: ['db/migrations/README.md', 'x/db/migrations/1.sql'] })],
  },
  'Infrastructure, unless the on-call team wrote it': {
    held: [
      { ...byOnCall, ...of({ files: ['infra/a'], author: 'bob' }) },
      of({ files: ['ops/a'], author: 'ada' }),
    ],
    free: [{ ...byOnCall, ...of({ files: ['infra/a'], author: 'ada' }) }, of({ files: ['web/infra/a'] })],
  },
  'Release branches, but not cherry-picks that a bot made': {
    held: [
      of({
        base: 'release/1',
        author: 'mona',
        commits: [{ commit_message: `x\n(cherry picked from commit ${'a'.repeat(40)})` }],
      }),
      of({ base: 'release/1', author: 'backport-bot[bot]', commits: [{ commit_message: 'x' }] }),
    ],
    free: [
      of({
        base: 'release/1',
        author: 'backport-bot[bot]',
        commits: [{ commit_message: `x\n(cherry picked from commit ${'a'.repeat(40)})` }],
      }),
      of({ base: 'release/1/x' }),
    ],
  },
  'Old pull requests must be looked at again': {
    held: [of({ 'created-at': '2026-02-02T11:59:59Z' })],
    free: [
      of({ 'created-at': '2026-02-02T12:00:00Z' }),
      of({ 'created-at': '2026-01-01', label: ['reviewed-again'] }),
    ],
  },
  'While a check is red or missing': {
    held: [of({ base: 'main' }), of({ base: 'main', 'check-failure': ['e2e'] })],
    free: [of({ base: 'main', 'check-success': ['@ci/e2e'] })],
  },
  'Pull requests from forks, and authors without a signature': {
    held: [of({ 'from-fork': true }), of({ 'commits-unverified': ['x'] })],
    free: [of({})],
  },
  'A milestone’s work only': { held: [of({}), of({ milestone: '3.0' })], free: [of({ milestone: '2.0' })] },
};

test('there are twenty recipes or more, each with cases', () => {
  expect(recipes.size).toBeGreaterThanOrEqual(20);
  expect([...recipes.keys()]).toEqual(Object.keys(cases));
});

describe.each([...recipes])('%s', (title, recipe) => {
  const { held, free } = cases[title]!;
  test.each(held)('holds %j', (given) => expect(isHeld(recipe, given)).toBe(true));
  test.each(free)('does not hold %j', (given) => expect(isHeld(recipe, given)).toBe(false));
});
