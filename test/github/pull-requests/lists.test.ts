// The lists of a pull request: read to their ends, and whole or not at all.
import { describe, expect, test } from 'vitest';
import type { ValueName } from '../../../src/conditions/attributes.ts';
import type { Need } from '../../../src/conditions/needs.ts';
import {
  loadOpenPullRequests,
  loadPullRequest,
} from '../../../src/github/pull-requests/load-pull-requests.ts';
import { fail, fakeGitHub, type Fixture, shaOf, Refused } from './fake-github.ts';

type Case = {
  need: Need;
  /** The field of the fixture, and the operation that reads it on. */
  field: string;
  operation: string;
  what: string;
  attribute: ValueName;
  item: (at: number) => object;
  /** The value of that item for conditions. */
  value: (at: number) => unknown;
};

const person = (at: number) => ({ __typename: 'User', login: `user-${at}` });
const review = (state: string) => (at: number) => ({
  state,
  authorCanPushToRepository: true,
  author: person(at),
});

const cases: Case[] = [
  {
    need: 'labels',
    field: 'labels',
    operation: 'Labels',
    what: 'labels',
    attribute: 'label',
    item: (at) => ({ name: `label-${at}` }),
    value: (at) => `label-${at}`,
  },
  {
    need: 'assignees',
    field: 'assignees',
    operation: 'Assignees',
    what: 'assignees',
    attribute: 'assignee',
    item: person,
    value: (at) => `user-${at}`,
  },
  {
    need: 'review-requests',
    field: 'reviewRequests',
    operation: 'ReviewRequests',
    what: 'review requests',
    attribute: 'review-requested',
    item: (at) => ({ requestedReviewer: person(at) }),
    value: (at) => `user-${at}`,
  },
  {
    need: 'reviews',
    field: 'latestOpinionatedReviews',
    operation: 'Reviews',
    what: 'reviews',
    attribute: 'approved-reviews-by',
    item: review('APPROVED'),
    value: (at) => `user-${at}`,
  },
  {
    need: 'comments',
    field: 'reviews',
    operation: 'Comments',
    what: 'reviewing comments',
    attribute: 'commented-reviews-by',
    item: review('COMMENTED'),
    value: (at) => `user-${at}`,
  },
  {
    need: 'review-threads',
    field: 'reviewThreads',
    operation: 'ReviewThreads',
    what: 'review threads',
    attribute: 'review-threads-unresolved',
    item: (at) => ({
      isResolved: false,
      comments: { nodes: [{ body: `comment-${at}` }] },
    }),
    value: (at) => `comment-${at}`,
  },
  {
    need: 'commits',
    field: 'commits',
    operation: 'Commits',
    what: 'commits',
    attribute: 'commits-unverified',
    item: (at) => ({ message: `commit-${at}` }),
    value: (at) => `commit-${at}`,
  },
  {
    need: 'checks',
    field: 'statusCheckRollup',
    operation: 'Checks',
    what: 'checks',
    attribute: 'check-success',
    item: (at) => ({
      __typename: 'StatusContext',
      context: `check-${at}`,
      state: 'SUCCESS',
      createdAt: '2026-01-01T00:00:00Z',
    }),
    value: (at) => `check-${at}`,
  },
  {
    need: 'deployments',
    field: 'deployments',
    operation: 'Deployments',
    what: 'deployments',
    attribute: 'deployment-success',
    item: (at) => ({
      environment: `place-${at}`,
      createdAt: '2026-01-01T00:00:00Z',
      latestStatus: { state: 'SUCCESS' },
    }),
    value: (at) => `place-${at}`,
  },
];

const some = <Item>(count: number, item: (at: number) => Item) =>
  Array.from({ length: count }, (_, at) => item(at));
const load = async (fixture: Omit<Fixture, 'number'>, { need }: Case, github = fakeGitHub()) => {
  github.pullRequests = [{ number: 1 }, { number: 2, ...fixture }, { number: 3 }];
  const loaded = await loadOpenPullRequests(github.from(need));
  return { github, values: loaded[1]!.facts.values, facts: loaded.map(({ facts }) => facts) };
};

describe.each(cases)('$need', (each) => {
  const { need, field, operation, attribute, what, item, value } = each;

  /** Pull request 2, with this page of the list. */
  const nodeWith = (page: object) => ({
    [need === 'review-requests' || need === 'review-threads' ? field : need]: page,
    head: { nodes: [{ commit: { oid: shaOf(2), deployments: page, checks: { contexts: page } } }] },
  });

  test('are read to the end', async () => {
    const { github, values } = await load({ [field]: some(305, item) }, each);
    expect(values[attribute]).toEqual(some(305, value));
    expect(new Set(github.requests)).toEqual(new Set(['OpenPullRequests', operation]));
  });

  test('that come with the pull request need no request', async () => {
    const { github, values, facts } = await load({ [field]: some(3, item) }, each);
    expect(values[attribute]).toEqual(some(3, value));
    expect(github.requests).toEqual(['OpenPullRequests']);
    expect(facts[1]!.whyNotKnown).toEqual({});
  });

  test.each([
    ['SERVICE_UNAVAILABLE', `GitHub did not give its ${what}`],
    ['FORBIDDEN', `Holdfast cannot read ${what} here: accept its new permissions`],
  ] as const)('that GitHub does not give (%s) are not known, those of others are', async (type, reason) => {
    const failing = { [field === 'commits' ? 'allCommits' : field]: fail(type) };
    const { values, facts } = await load(failing, each);
    expect(values[attribute]).toBeUndefined();
    expect(facts[1]!.whyNotKnown[attribute]).toBe(reason);
    for (const other of [facts[0]!, facts[2]!]) {
      expect(other.values[attribute]).toBeDefined();
      expect(other.whyNotKnown).toEqual({});
    }
  });

  test('of which one is missing are not known', async () => {
    const { values, facts } = await load({ [field]: [item(0), fail(), item(2)] }, each);
    expect(values[attribute]).toBeUndefined();
    expect(facts[1]!.whyNotKnown[attribute]).toBe(`GitHub did not give its ${what}`);
  });

  test('of which one is null without an error are not known', async () => {
    const github = fakeGitHub();
    const page = { nodes: [item(1), null], pageInfo: { hasNextPage: false, endCursor: null } };
    github.intercept = (request) => (request === operation ? { data: { node: nodeWith(page) } } : undefined);
    const { facts } = await load({ [field]: some(105, item) }, each, github);
    expect(facts[1]!.whyNotKnown[attribute]).toBe(`GitHub did not give its ${what}`);
  });

  test('of which one is missing on a later page are not known', async () => {
    const { values, facts } = await load({ [field]: [...some(250, item), fail(), item(2)] }, each);
    expect(values[attribute]).toBeUndefined();
    expect(facts[1]!.whyNotKnown[attribute]).toBe(`GitHub did not give its ${what}`);
  });

  test('whose next page GitHub refuses or fails on are not known; a limit stops the load', async () => {
    const github = fakeGitHub();
    let answer: () => object = () => ({
      data: { node: null },
      errors: [{ type: 'FORBIDDEN', message: 'No', path: ['node'] }],
    });
    github.intercept = (request) => (request === operation ? answer() : undefined);
    const fixture = { [field]: some(105, item) };
    const { facts } = await load(fixture, each, github);
    expect(facts[1]!.whyNotKnown[attribute]).toBe(
      `Holdfast cannot read ${what} here: accept its new permissions`,
    );
    answer = () => ({ data: { node: null } });
    const gone = await load(fixture, each, github);
    expect(gone.facts[1]!.whyNotKnown[attribute]).toBe(`GitHub did not give its ${what}`);

    answer = () => ({ errors: [{ type: 'RATE_LIMITED', message: 'Slow down' }] });
    await expect(load(fixture, each, github)).rejects.toThrow('Slow down');
    answer = () => new Refused(502);
    const failed = await load(fixture, each, github);
    expect(failed.facts[1]!.whyNotKnown[attribute]).toBe(`GitHub did not give its ${what}`);
  });

  test('whose pages lead nowhere are not known', async () => {
    const github = fakeGitHub();
    const still = { nodes: [], pageInfo: { hasNextPage: true, endCursor: 'still' } };
    github.intercept = (request) => (request === operation ? { data: { node: nodeWith(still) } } : undefined);
    const { facts } = await load({ [field]: some(105, item) }, each, github);
    expect(facts[1]!.whyNotKnown[attribute]).toBe(`GitHub did not give its ${what}`);
    expect(github.requests).toEqual(['OpenPullRequests', operation, operation]);
  });
});

test.each([
  ['assignees', 'assignee'],
  ['review-threads', 'review-threads-unresolved'],
] as const)(
  'a failure of %s, which takes the pull request along, is not taken for its absence',
  async (need, name) => {
    const github = fakeGitHub();
    const field = need === 'assignees' ? 'assignees' : 'reviewThreads';
    github.pullRequests = [{ number: 1, [field]: fail() }];
    const loaded = await loadPullRequest(github.from(need, 'labels'), 1);
    expect(loaded!.facts.values.label).toEqual([]);
    expect(loaded!.facts.values[name]).toBeUndefined();
  },
);

test('without its head commit neither checks nor deployments are known, and our status is none', async () => {
  const github = fakeGitHub();
  github.pullRequests = [{ number: 1, commits: [fail()], statusCheckRollup: [] }];
  const [loaded] = await loadOpenPullRequests(github.from('checks', 'deployments', 'labels'));
  expect(loaded!.status).toBeNull();
  expect(loaded!.facts.values.label).toEqual([]);
  expect(loaded!.facts.whyNotKnown).toMatchObject({
    'check-success': 'GitHub did not give its checks',
    'deployment-success': 'GitHub did not give its deployments',
  });
  github.pullRequests = [{ number: 1, commits: [fail('FORBIDDEN')] }];
  const [refused] = await loadOpenPullRequests(github.from('checks', 'deployments'));
  expect(refused!.facts.whyNotKnown).toMatchObject({
    'check-success': 'Holdfast cannot read checks here: accept its new permissions',
    'deployment-success': 'Holdfast cannot read deployments here: accept its new permissions',
  });
});

test('checks and deployments of another commit than the head are not its own', async () => {
  const github = fakeGitHub();
  github.pullRequests = [{ number: 1, commits: [{ oid: shaOf(9) }], statusCheckRollup: [] }];
  const [loaded] = await loadOpenPullRequests(github.from('checks', 'deployments'));
  expect(Object.keys(loaded!.facts.whyNotKnown)).toEqual(
    expect.arrayContaining(['check-success', 'check-failure', 'deployment-success']),
  );
});

test('a head that moves while its checks are read leaves them unknown', async () => {
  const github = fakeGitHub();
  const each = cases.find(({ need }) => need === 'checks')!;
  github.pullRequests = [{ number: 1, statusCheckRollup: some(105, each.item) }];
  github.intercept = (request) => {
    if (request === 'Checks') github.pullRequests[0]!['commits'] = [{ oid: shaOf(9) }];
    return undefined;
  };
  const loaded = await loadPullRequest(github.from('checks'), 1);
  expect(loaded!.facts.whyNotKnown['check-success']).toBe('GitHub did not give its checks');
});

test('no rollup is no checks', async () => {
  const github = fakeGitHub();
  github.pullRequests = [{ number: 1, statusCheckRollup: null }];
  const [loaded] = await loadOpenPullRequests(github.from('checks'));
  expect(loaded!.facts.values).toMatchObject({
    'check-success': [],
    'check-failure': [],
    '@check-success': [],
  });
  expect(loaded!.facts.values['check-pending']).toBeUndefined();
});

test('commits of which GitHub lists fewer than it counts are not known', async () => {
  const github = fakeGitHub();
  github.pullRequests = [{ number: 1, commits: some(25, () => ({})) }];
  github.intercept = (request) =>
    request === 'Commits'
      ? { data: { node: { commits: { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } } } } }
      : undefined;
  const [loaded] = await loadOpenPullRequests(github.from('commits'));
  expect(loaded!.facts.values).not.toHaveProperty('commits');
  expect(loaded!.facts.whyNotKnown['linear-history']).toBe('GitHub lists only 20 of its 25 commits');
  expect(loaded!.facts.values['#commits']).toBe(25);
  expect(loaded!.facts.values['dependabot-update-type']).toEqual([]);
});

test('at most five pull requests are read on at a time', async () => {
  const github = fakeGitHub();
  github.pullRequests = some(20, (at) => ({
    number: at + 1,
    labels: some(150, (each) => ({ name: `l${each}` })),
  }));
  const loaded = await loadOpenPullRequests(github.from('labels'));
  expect(loaded.map(({ facts }) => [facts.number, facts.values.label!.length])).toEqual(
    some(20, (at) => [at + 1, 150]),
  );
  expect(github.mostAtOnce).toBe(5);
});
