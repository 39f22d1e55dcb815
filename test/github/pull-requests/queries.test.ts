import { parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { queryCost } from '../../../sandbox/graphql/query-cost.ts';
import { githubSchema } from '../../../sandbox/graphql/schema.ts';
import { needs, type Need } from '../../../src/conditions/needs.ts';
import { attributeGroups } from '../../../src/github/facts/attribute-groups.ts';
import { mergedQuery } from '../../../src/github/facts/description.ts';
import * as pullRequests from '../../../src/github/pull-requests/queries.ts';
import {
  mergeQueueQuery,
  queuedOneQuery,
  queuedQuery,
} from '../../../src/github/pull-requests/read-merge-queue.ts';
import { mergeStatesQuery } from '../../../src/github/pull-requests/load-pull-requests.ts';
import { teamMembersQuery } from '../../../src/github/pull-requests/read-teams.ts';

const others = {
  mergedQuery,
  mergeQueueQuery,
  mergeStatesQuery,
  queuedQuery,
  queuedOneQuery,
  teamMembersQuery,
};
const alone = attributeGroups
  .flatMap(({ fields }) => fields)
  .map(({ name, query }) => [`${name} alone`, query]);
const texts = Object.entries({ ...pullRequests, ...others, ...Object.fromEntries(alone) }).filter(
  (each): each is [string, string] => typeof each[1] === 'string',
);

test('there are queries to look at', () => {
  expect(texts.length).toBe(4 + 6 + 19);
});

test.each(texts)('GitHub accepts %s', (_name, text) => {
  expect(validate(githubSchema(), parse(text))).toEqual([]);
});

test.each(texts)('%s asks for no more than GitHub gives at once', (_name, text) => {
  const everything = pullRequests.variablesFor(new Set(Object.keys(needs) as Need[]));
  const { nodeCount, cost } = queryCost(parse(text), { first: 100, ...everything });
  expect(nodeCount).toBeLessThan(500_000);
  // Of 5,000 an hour: what a repository of a thousand pull requests costs with every fact there is.
  expect(cost * 10).toBeLessThan(1_000);
});

test('the page with everything reads what it says', () => {
  // 100 pull requests; of each 7 lists of 100, 20 threads and 20 commits with one thing each, and its head with
  // 100 checks, 100 deployments, and one check beside the counts of all.
  const { nodeCount } = queryCost(parse(pullRequests.openPullRequestsQuery), { first: 100 });
  expect(nodeCount).toBe(100 * (1 + 7 * 100 + 2 * (20 + 20) + (1 + 100 + 100 + 1)));
});

test('nodes by id are counted as GitHub counts them', () => {
  // `nodes(ids:)` has no number: a hundred ids cost the same as a page of a hundred.
  const [byId, page] = [pullRequests.pullRequestNodesQuery, pullRequests.openPullRequestsQuery].map(
    (text) => queryCost(parse(text), { first: 100 }).nodeCount,
  );
  // And they ask for the head once more, with two parents.
  expect((byId! - 3) * 100).toBe(page! - 100);
});

test('a need switches on what it reads, and nothing else', () => {
  const on = (...facts: Need[]) =>
    Object.entries(pullRequests.variablesFor(new Set(facts)))
      .filter(([, isOn]) => isOn)
      .map(([name]) => name);
  expect(on()).toEqual([]);
  expect(on('scopes', 'teams', 'conflict')).toEqual([]);
  expect(on('behind')).toEqual(['base']);
  expect(on('labels', 'dependencies')).toEqual(['body', 'labels']);
  expect(on('required-checks')).toEqual(['checks', 'baseRef']);
  expect(on('checks')).toEqual(['checks']);
});
