import { expect, test } from 'vitest';
import { attributeNames, attributeOf } from '../../../src/conditions/attributes.ts';
import {
  loadOpenPullRequests,
  loadPullRequest,
  loadPullRequestNodes,
} from '../../../src/github/pull-requests/load-pull-requests.ts';
import { NotOurRepository } from '../../../src/github/github-error.ts';
import { fail, fakeGitHub, type Fixture, shaOf, Refused } from './fake-github.ts';

const many = (count: number): Fixture[] => Array.from({ length: count }, (_, at) => ({ number: at + 1 }));
const numbersOf = (loaded: { facts: { number: number } }[]) => loaded.map(({ facts }) => facts.number);
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

test('it loads every open pull request, in pages of 100, and nothing else', async () => {
  const github = fakeGitHub();
  github.pullRequests = many(201);
  expect(numbersOf(await loadOpenPullRequests(github.from()))).toEqual(upTo(201));
  expect(github.requests).toEqual(['OpenPullRequests', 'OpenPullRequests', 'OpenPullRequests']);
});

test('values that need no query come with every pull request', async () => {
  const github = fakeGitHub();
  github.pullRequests = [{ number: 7 }];
  const [loaded] = await loadOpenPullRequests(github.from());
  const free = attributeNames.filter(
    (name) => attributeOf(name).needs === null && attributeOf(name).type !== 'now',
  );
  const names = free.filter((name) => attributeOf(name).type !== 'schedule');
  expect(Object.keys(loaded!.facts.values).sort()).toEqual(['#commits', '#files', ...names].sort());
  expect(loaded!.facts.whyNotKnown).toEqual({});
});

test('the values are those of GitHub, timestamps as instants', async () => {
  const github = fakeGitHub();
  github.pullRequests = [
    {
      number: 7,
      state: 'MERGED',
      isDraft: true,
      locked: true,
      author: { __typename: 'Bot', login: 'renovate' },
      headRepository: { nameWithOwner: 'bob/web' },
      isCrossRepository: true,
      closedAt: '2026-02-03T04:05:06Z',
      mergedAt: '2026-02-03T04:05:07Z',
      changedFiles: 4_000,
      commits: [{}, {}, {}],
      autoMergeRequest: { enabledAt: null },
    },
  ];
  const loaded = await loadPullRequest(github.from(), 7);
  expect(loaded).toMatchObject({
    isOpen: false,
    isDraft: true,
    title: 'Change 7',
    author: 'renovate[bot]',
    status: null,
    isAutoMerging: true,
    queueBranch: null,
    isMergeable: true,
    facts: { number: 7, nodeId: 'PR_7', headSha: shaOf(7), hasEveryScope: false },
  });
  expect(loaded!.facts.values).toEqual({
    number: 7,
    title: 'Change 7',
    author: 'renovate[bot]',
    base: 'main',
    head: 'change-7',
    'head-repo-full-name': 'bob/web',
    'from-fork': true,
    'repository-name': 'web',
    'repository-full-name': 'acme/web',
    draft: true,
    locked: true,
    closed: true,
    merged: true,
    'created-at': Date.UTC(2026, 0, 1),
    'updated-at': Date.UTC(2026, 0, 2),
    'closed-at': Date.UTC(2026, 1, 3, 4, 5, 6),
    'merged-at': Date.UTC(2026, 1, 3, 4, 5, 7),
    'added-lines': 5,
    'deleted-lines': 2,
    'modified-lines': 7,
    '#files': 4_000,
    '#commits': 3,
  });
});

test('a deleted head repository was a fork, and a deleted author has no login', async () => {
  const github = fakeGitHub();
  github.pullRequests = [{ number: 1, headRepository: null, author: null }];
  const [loaded] = await loadOpenPullRequests(github.from());
  expect(loaded!.facts.values).toMatchObject({
    'from-fork': true,
    'head-repo-full-name': null,
    author: null,
  });
  expect(loaded!.author).toBeNull();
});

test('our current status is that of the head commit', async () => {
  const github = fakeGitHub();
  const at = '2026-03-01T09:00:00Z';
  const status = { context: { state: 'PENDING', description: 'Frozen', createdAt: at } };
  github.pullRequests = [
    { number: 1, commits: [{ status: { context: null } }, { status }] },
    { number: 2, commits: [{ status, oid: shaOf(9) }] },
    { number: 3, commits: [{ status: { context: null } }] },
  ];
  const loaded = await loadOpenPullRequests(github.from());
  expect(loaded.map((each) => each.status)).toEqual([
    { state: 'pending', description: 'Frozen', at: new Date(at) },
    null,
    null,
  ]);
});

test('a missing one is null, and is left out among nodes', async () => {
  const github = fakeGitHub();
  github.pullRequests = many(2);
  expect(await loadPullRequest(github.from(), 3)).toBeNull();
  expect(numbersOf(await loadPullRequestNodes(github.from(), ['PR_3', 'PR_2', 'PR_4', 'PR_1']))).toEqual([
    2, 1,
  ]);
});

test('scopes are those that CI pushed', async () => {
  const github = fakeGitHub();
  github.pullRequests = many(3);
  github.scopes = [
    { number: 1, scopes: ['api'], allScopes: false },
    { number: 2, scopes: ['web'], allScopes: true },
  ];
  const scopesOf = (loaded: Awaited<ReturnType<typeof loadOpenPullRequests>>) =>
    loaded.map(({ facts }) => [facts.values.scope, facts.hasEveryScope]);
  expect(scopesOf(await loadOpenPullRequests(github.from('scopes')))).toEqual([
    [['api'], false],
    [['web'], true],
    [[], false],
  ]);
  expect(scopesOf(await loadOpenPullRequests(github.from('labels')))[1]).toEqual([undefined, false]);
});

test('only what is needed is read', async () => {
  const github = fakeGitHub();
  github.pullRequests = [
    { number: 1, body: 'Hi <!-- there -->', mergeable: 'CONFLICTING', milestone: { title: 'M1' } },
  ];
  const added = async (...needs: Parameters<typeof github.from>) => {
    const without = (await loadPullRequest(github.from(), 1))!.facts.values;
    const { values } = (await loadPullRequest(github.from(...needs), 1))!.facts;
    return Object.fromEntries(Object.entries(values).filter(([name]) => !(name in without)));
  };
  expect(await added('body')).toEqual({ body: 'Hi ', 'body-raw': 'Hi <!-- there -->' });
  expect(await added('conflict')).toEqual({ conflict: true });
  expect(await added('milestone')).toEqual({ milestone: 'M1' });
  expect(await added('review-decision')).toEqual({ 'github-review-decision': null });
  expect(await added('merger')).toEqual({ 'merged-by': null, 'merge-commit-sha': null });
  expect(await added('dependencies')).toEqual({ 'depends-on': [] });
});

test('an unknown mergeability is not a conflict', async () => {
  const github = fakeGitHub();
  github.pullRequests = [{ number: 1, mergeable: 'UNKNOWN' }];
  const [loaded] = await loadOpenPullRequests(github.from('conflict'));
  expect(loaded!.facts.values.conflict).toBe(false);
  expect(loaded!.isMergeable).toBe(false);
});

const limitsExceeded = {
  data: null,
  errors: [{ type: 'RESOURCE_LIMITS_EXCEEDED', message: 'Resource limits for this query exceeded.' }],
};

test.each([
  ['says so', () => limitsExceeded],
  ['runs out of time', () => new Refused(502)],
  ['is ended', () => ({ data: null, errors: [{ message: 'Something went wrong. This may be a timeout' }] })],
])('a page that is too big for GitHub is asked for in smaller ones: it %s', async (_how, answer) => {
  const github = fakeGitHub();
  github.pullRequests = many(50);
  const sizes: unknown[] = [];
  github.intercept = (_request, { first }) => {
    sizes.push(first);
    return Number(first) > 20 ? answer() : undefined;
  };
  expect(numbersOf(await loadOpenPullRequests(github.from()))).toEqual(upTo(50));
  expect(sizes).toEqual([100, 20, 20, 20]);
});

test('a page with a part that is too big is not used in part, except for the smallest', async () => {
  const github = fakeGitHub();
  const tired = fail('RESOURCE_LIMITS_EXCEEDED' as 'FORBIDDEN');
  github.pullRequests = [{ number: 1 }, { number: 2, labels: tired }, { number: 3, labels: tired }];
  github.intercept = (_request, { first }) => {
    if (first === 20) github.pullRequests[1]!['labels'] = [];
    return undefined;
  };
  const loaded = await loadOpenPullRequests(github.from('labels'));
  expect(github.requests.length).toBe(2);
  expect(loaded.map(({ facts }) => facts.values.label)).toEqual([[], [], undefined]);
});

test('nodes that are too many for GitHub are asked for in smaller groups', async () => {
  const github = fakeGitHub();
  github.pullRequests = many(50);
  github.intercept = (_request, { ids }) => ((ids as string[]).length > 20 ? limitsExceeded : undefined);
  const ids = upTo(50).map((number) => `PR_${number}`);
  expect(numbersOf(await loadPullRequestNodes(github.from(), ids))).toEqual(upTo(50));
  expect(github.requests.length).toBe(4);
});

test('an outage is thrown after one more try', async () => {
  const github = fakeGitHub();
  github.intercept = () => new Refused(502);
  await expect(loadOpenPullRequests(github.from())).rejects.toMatchObject({ status: 502 });
  expect(github.requests.length).toBe(2);
});

test('an error that is not about one fact is thrown', async () => {
  const github = fakeGitHub();
  for (const field of ['author', 'createdAt', 'title', 'commits']) {
    github.pullRequests = [{ number: 1 }, { number: 2, [field]: fail() }];
    if (field === 'commits') github.pullRequests[1] = { number: 2, commits: fail() };
    await expect(loadOpenPullRequests(github.from('labels')), field).rejects.toThrow(
      'No: SERVICE_UNAVAILABLE',
    );
    await expect(loadPullRequest(github.from('labels'), 2), field).rejects.toThrow('No: SERVICE_UNAVAILABLE');
    await expect(loadPullRequestNodes(github.from(), ['PR_1', 'PR_2']), field).rejects.toThrow('No:');
  }
  github.pullRequests = [{ number: 1, author: fail('NOT_FOUND') }];
  await expect(loadPullRequestNodes(github.from(), ['PR_1'])).rejects.toThrow('No: NOT_FOUND');
  await expect(loadPullRequest(github.from(), 1)).rejects.toThrow('No: NOT_FOUND');
  github.pullRequests = [{ number: 1, labels: fail('RATE_LIMITED') }];
  await expect(loadPullRequest(github.from('labels'), 1)).rejects.toThrow('No: RATE_LIMITED');
});

test('the urgency can fail to load, without other effects', async () => {
  const github = fakeGitHub();
  github.pullRequests = [{ number: 1, mergeQueueEntry: fail('FORBIDDEN'), autoMergeRequest: fail() }];
  const [loaded] = await loadOpenPullRequests(github.from());
  expect(loaded).toMatchObject({
    isAutoMerging: false,
    queueBranch: null,
    isOpen: true,
    facts: { number: 1, whyNotKnown: {} },
  });
});

test('a refusal is thrown at once', async () => {
  const github = fakeGitHub();
  const errors = [{ type: 'FORBIDDEN', message: 'Not accessible', path: ['repository'] }];
  github.intercept = () => ({ data: { repository: null }, errors });
  await expect(loadOpenPullRequests(github.from())).rejects.toThrow('Not accessible');
  expect(github.requests.length).toBe(1);
});

test('after a failure, no more pull requests are read on', async () => {
  const github = fakeGitHub();
  const labels = Array.from({ length: 150 }, (_, at) => ({ name: `l${at}` }));
  github.pullRequests = many(20).map((one) => ({ ...one, labels }));
  const asked = new Set<unknown>();
  github.intercept = (request, { id }) => {
    if (request === 'OpenPullRequests') return undefined;
    asked.add(id);
    return { errors: [{ type: 'RATE_LIMITED', message: 'Slow down' }] };
  };
  const read = () => expect(loadOpenPullRequests(github.from('labels'))).rejects.toThrow('Slow down');
  await read();
  // Meanwhile, the first could go on.
  await read();
  expect([...asked].sort()).toEqual(upTo(5).map((number) => `PR_${number}`));
});

test('in the merge queue, or with auto-merge, it says so', async () => {
  const github = fakeGitHub();
  github.pullRequests = [
    { number: 1, mergeQueueEntry: { position: 1 } },
    { number: 2, autoMergeRequest: { enabledAt: null } },
    { number: 3 },
  ];
  const loaded = await loadOpenPullRequests(github.from());
  expect(loaded.map(({ queueBranch }) => queueBranch)).toEqual(['main', null, null]);
  expect(loaded.map(({ isAutoMerging }) => isAutoMerging)).toEqual([false, true, false]);
});

test('an answer about another repository, or under another name, is thrown', async () => {
  const github = fakeGitHub();
  github.pullRequests = [
    { number: 1 },
    { number: 2, repository: { databaseId: 2, name: 'web', nameWithOwner: 'acme/web' } },
  ];
  const other = { ...github.from().repository, id: 2n };
  const asOther = { ...github.from(), repository: other };
  await expect(loadOpenPullRequests(asOther)).rejects.toThrow(NotOurRepository);
  await expect(loadPullRequest(asOther, 1)).rejects.toThrow(NotOurRepository);
  const nodes = (more: object, ...ids: string[]) => loadPullRequestNodes({ ...github.from(), ...more }, ids);
  await expect(nodes({}, 'PR_1', 'PR_2')).rejects.toThrow(NotOurRepository);
  // Facts that are read alone are read under the name that we know.
  const renamed = { ...other, id: 1n, account: { login: 'newacme', type: 'Organization' } };
  await expect(nodes({ repository: renamed }, 'PR_1')).rejects.toThrow(NotOurRepository);
  await expect(nodes({ repository: { ...other, id: 1n, name: 'WEB' } }, 'PR_1')).resolves.toHaveLength(1);
});

test('a page without its list, or that leads nowhere, is thrown', async () => {
  const github = fakeGitHub();
  const page = (pullRequests: unknown) => ({
    data: { repository: { databaseId: 1, pullRequests } },
  });
  github.intercept = () => page({ nodes: null, pageInfo: {} });
  await expect(loadOpenPullRequests(github.from())).rejects.toThrow('lacks a page');
  github.intercept = () => page({ nodes: [null], pageInfo: { hasNextPage: false, endCursor: null } });
  await expect(loadOpenPullRequests(github.from())).rejects.toThrow('lacks a pull request');
  github.intercept = () => page({ nodes: [], pageInfo: { hasNextPage: true, endCursor: null } });
  await expect(loadOpenPullRequests(github.from())).rejects.toThrow('lacks the next page');
});
