// Facts that are not lists in the query: read by requests of their own, or whole with the pull request.
import { describe, expect, test } from 'vitest';
import { loadOpenPullRequests } from '../../../src/github/pull-requests/load-pull-requests.ts';
import { fail, fakeGitHub, load, Refused, shaOf } from './fake-github.ts';

const refused = (what: string) => `Holdfast cannot read ${what} here: accept its new permissions`;
/** The possible answers to a request about one fact, and their effect on the load. */
const refusals = [
  [404, (what: string) => `GitHub did not give its ${what}`],
  [422, (what: string) => `GitHub did not give its ${what}`],
  [403, refused],
] as const;
const limits = [
  new Refused(429, 'Slow down', { 'retry-after': '60' }),
  new Refused(403, 'You have exceeded a secondary rate limit.'),
];

describe('files', () => {
  const file = (path: string, changeType = 'MODIFIED') => ({ path, changeType });

  test('up to 100 come with the pull request', async () => {
    const github = fakeGitHub();
    const files = [
      file('a', 'ADDED'),
      file('d', 'DELETED'),
      file('m'),
      file('c', 'CHANGED'),
      file('k', 'COPIED'),
    ];
    const { values } = await load(github, { files }, 'files');
    expect(values).toMatchObject({
      files: ['a', 'd', 'm', 'c', 'k'],
      'added-files': ['a', 'k'],
      'removed-files': ['d'],
      'modified-files': ['m', 'c'],
      'mergify-configuration-changed': false,
    });
    expect(github.requests).toEqual(['PullRequest']);
  });

  test('more, and renames, are read by REST to the end', async () => {
    const github = fakeGitHub();
    const many = Array.from({ length: 250 }, (_, at) => ({ filename: `f${at}`, status: 'modified' }));
    github.files[1] = many;
    const { values } = await load(github, { files: many.map(({ filename }) => file(filename)) }, 'files');
    expect(values.files).toEqual(many.map(({ filename }) => filename));
    expect(github.requests.filter((request) => request.startsWith('GET')).length).toBe(3);

    github.files[1] = [{ filename: 'to', previous_filename: 'from', status: 'renamed' }];
    const renamed = await load(github, { files: [file('to', 'RENAMED')] }, 'files');
    expect(renamed.values).toMatchObject({
      files: ['to', 'from'],
      'added-files': ['to'],
      'removed-files': ['from'],
    });
  });

  test.each([
    ['it failed', { files: fail() }],
    ['one is missing', { files: [file('a'), fail()] }],
  ])('REST is asked where GraphQL did not give them: %s', async (_why, fixture) => {
    const github = fakeGitHub();
    github.files[1] = [{ filename: 'a', status: 'added' }];
    expect((await load(github, fixture, 'files')).values['added-files']).toEqual(['a']);
  });

  test('3,000 are more than GitHub lists, and are not asked for if that is known before', async () => {
    const github = fakeGitHub();
    const reason = 'GitHub lists only 3000 of its files';
    github.files[1] = Array.from({ length: 3_000 }, (_, at) => ({ filename: `f${at}`, status: 'modified' }));
    const files = Array.from({ length: 101 }, (_, at) => file(`f${at}`));
    expect((await load(github, { files }, 'files')).whyNotKnown['files']).toBe(reason);
    github.requests = [];
    const { whyNotKnown } = await load(github, { files, changedFiles: 3_000 }, 'files');
    expect(github.requests).toEqual(['PullRequest']);
    expect(whyNotKnown).toEqual({
      files: reason,
      'added-files': reason,
      'modified-files': reason,
      'removed-files': reason,
      'mergify-configuration-changed': reason,
    });
  });

  test.each(refusals)('that REST refuses with %s are not known', async (status, reason) => {
    const github = fakeGitHub();
    github.intercept = (request) => (request.endsWith('/files') ? new Refused(status) : undefined);
    expect((await load(github, { files: fail() }, 'files')).whyNotKnown['files']).toBe(reason('files'));
  });

  test.each(limits)('a limit stops the load', async (response) => {
    const github = fakeGitHub();
    github.intercept = (request) => (request.endsWith('/files') ? response : undefined);
    await expect(load(github, { files: fail() }, 'files')).rejects.toMatchObject({ status: response.status });
  });
});

describe('commits behind', () => {
  test('are compared by the head SHA, also where the base has a slash', async () => {
    const github = fakeGitHub();
    github.behind = { [`main...${shaOf(1)}`]: 0, [`release/1.0...${shaOf(2)}`]: 3 };
    github.pullRequests = [{ number: 1 }, { number: 2, baseRefName: 'release/1.0' }, { number: 3 }];
    const loaded = await loadOpenPullRequests(github.from('behind'));
    expect(loaded.map(({ facts }) => facts.values['commits-behind'])).toEqual([0, 3, undefined]);
    expect(loaded[2]!.facts.whyNotKnown).toEqual({
      'commits-behind': 'GitHub did not give its distance from its base',
    });
    expect(github.requests).toContain(`GET /repos/acme/web/compare/release%2F1.0...${shaOf(2)}`);
  });

  test('are asked for again only where the head or the base has moved', async () => {
    const github = fakeGitHub();
    const at = (oid: string) => ({ baseRef: { target: { __typename: 'Commit', oid } } });
    const behind = async (...oids: string[]) => {
      github.pullRequests = oids.map((oid, index) => ({ number: index + 1, ...at(oid) }));
      const loaded = await loadOpenPullRequests(github.from('behind'));
      return loaded.map(({ facts }) => facts.values['commits-behind']);
    };
    github.behind = { [`b1...${shaOf(1)}`]: 0, [`b1...${shaOf(2)}`]: 3, [`b2...${shaOf(1)}`]: 5 };
    const compared = () => github.requests.filter((request) => request.includes('/compare/')).length;
    expect([await behind('b1', 'b1'), compared()]).toEqual([[0, 3], 2]);
    expect([await behind('b1', 'b1'), compared()]).toEqual([[0, 3], 2]);
    expect([await behind('b2', 'b1'), compared()]).toEqual([[5, 3], 3]);
    // A refused request is sent again.
    expect([await behind('b3', 'b1'), compared()]).toEqual([[undefined, 3], 4]);
    expect([await behind('b3', 'b1'), compared()]).toEqual([[undefined, 3], 5]);
  });

  test.each(refusals)('that GitHub refuses with %s are not known', async (status, reason) => {
    const github = fakeGitHub();
    github.intercept = (request) => (request.includes('/compare/') ? new Refused(status) : undefined);
    const { whyNotKnown } = await load(github, {}, 'behind');
    expect(whyNotKnown['commits-behind']).toBe(reason('distance from its base'));
  });

  test.each(limits)('a limit stops the load', async (response) => {
    const github = fakeGitHub();
    github.intercept = (request) => (request.includes('/compare/') ? response : undefined);
    await expect(load(github, {}, 'behind')).rejects.toMatchObject({ status: response.status });
  });
});

describe('the last push', () => {
  const activity = 'GET /repos/acme/web/activity';
  const pushed = (sha: string, login: string | null = 'dependabot[bot]') => [
    { after: sha, actor: login === null ? null : { login } },
  ];
  const why = 'GitHub did not give its last push';

  test('is asked for by the name of the branch, and again only after a push', async () => {
    const github = fakeGitHub();
    const asked: unknown[] = [];
    github.intercept = (request, variables) => {
      if (request === activity) asked.push(variables);
      return undefined;
    };
    github.activities = { 'refs/heads/fix/1': pushed(shaOf(1)) };
    const at = async (headRefName: string) =>
      (await load(github, { headRefName }, 'last-push')).values['last-pushed-by'];
    expect([await at('fix/1'), await at('fix/1')]).toEqual(['dependabot[bot]', 'dependabot[bot]']);
    expect(asked).toEqual([{ ref: 'refs/heads/fix/1', per_page: '1' }]);
    expect(await at('fix/2')).toBeUndefined();
    github.activities['refs/heads/fix/2'] = pushed(shaOf(1), 'mona');
    expect(await at('fix/2')).toBe('mona');
  });

  test.each([
    ['it is of another commit', pushed(shaOf(9))],
    ['its account is deleted', pushed(shaOf(1), null)],
    ['there is none', []],
  ])('is not known if %s', async (_what, activities) => {
    const github = fakeGitHub();
    github.activities = { 'refs/heads/change-1': activities };
    const { values, whyNotKnown } = await load(github, {}, 'last-push');
    expect(values).not.toHaveProperty('last-pushed-by');
    expect(whyNotKnown).toEqual({ 'last-pushed-by': why });
  });

  test.each([{ isCrossRepository: true }, { headRepository: null }])(
    'to a fork is not known: %j',
    async (fork) => {
      const github = fakeGitHub();
      const { whyNotKnown } = await load(github, fork, 'last-push');
      expect(whyNotKnown).toEqual({ 'last-pushed-by': 'Holdfast cannot read who pushes to a fork' });
      expect(github.requests).not.toContain(activity);
    },
  );

  test('is not asked for without need', async () => {
    const github = fakeGitHub();
    await load(github, {}, 'commits', 'reviews');
    expect(github.requests).toEqual(['PullRequest']);
  });

  test.each(refusals)('that GitHub refuses with %s is not known', async (status, reason) => {
    const github = fakeGitHub();
    github.intercept = (request) => (request === activity ? new Refused(status) : undefined);
    expect((await load(github, {}, 'last-push')).whyNotKnown['last-pushed-by']).toBe(reason('last push'));
  });

  test('that GitHub refuses for a permission is not known, and the reason names it', async () => {
    const github = fakeGitHub();
    const headers = { 'x-accepted-github-permissions': 'contents=read' };
    const response = new Refused(403, 'Resource not accessible by integration', headers);
    github.intercept = (request) => (request === activity ? response : undefined);
    const { whyNotKnown } = await load(github, {}, 'last-push');
    expect(whyNotKnown['last-pushed-by']).toBe(`${refused('last push')} (contents: read)`);
  });

  test.each(limits)('a limit stops the load', async (response) => {
    const github = fakeGitHub();
    github.intercept = (request) => (request === activity ? response : undefined);
    await expect(load(github, {}, 'last-push')).rejects.toMatchObject({ status: response.status });
  });
});

describe('dependencies', () => {
  const on = (...names: string[]) => ({ body: names.map((name) => `Depends-On: ${name}`).join('\n') });

  test('are those that are merged, each asked about once in a load', async () => {
    const github = fakeGitHub();
    github.merged = ['globex/core#3', 'acme/web#9'];
    github.pullRequests = [
      { number: 1, ...on('#9', '#2', 'globex/core#3', 'globex/core#4', '#404') },
      { number: 2, ...on('acme/web#9', 'GLOBEX/core#4') },
      { number: 3, body: 'None' },
    ];
    const loaded = await loadOpenPullRequests(github.from('dependencies'));
    expect(loaded.map(({ facts }) => facts.values['depends-on'])).toEqual([
      ['acme/web#9', 'globex/core#3'],
      ['acme/web#9'],
      [],
    ]);
    expect(github.requests.filter((request) => request === 'Merged').length).toBe(5);
  });

  test('carry the name that their repository has now', async () => {
    const github = fakeGitHub();
    github.merged = ['acme/Old#3', 'acme/new#3'];
    const { values } = await load(github, on('acme/Old#3', 'acme/new#3'), 'dependencies');
    expect(values['depends-on']).toEqual(['acme/new#3']);
  });

  test('in a repository that we may not see are not known', async () => {
    const github = fakeGitHub();
    expect((await load(github, on('nobody/none#1'), 'dependencies')).whyNotKnown).toEqual({
      'depends-on': 'GitHub did not give its dependencies',
    });
  });

  test('with a number beyond GitHub’s are not there', async () => {
    const github = fakeGitHub();
    expect((await load(github, on('#2147483648'), 'dependencies')).values['depends-on']).toEqual([]);
    expect(github.requests).toEqual(['PullRequest']);
  });

  test('that cannot be read make all of them not known', async () => {
    const github = fakeGitHub();
    github.merged = ['acme/web#9'];
    const { whyNotKnown, values } = await load(github, on('#9', 'secret/core#3'), 'dependencies');
    expect(values['depends-on']).toBeUndefined();
    expect(whyNotKnown).toEqual({ 'depends-on': refused('dependencies') });
    github.intercept = (request) => {
      const errors = [{ message: 'No', path: ['repository', 'pullRequest'] }];
      return request === 'Merged' ? { data: { repository: { pullRequest: null } }, errors } : undefined;
    };
    expect((await load(github, on('#9'), 'dependencies')).whyNotKnown).toEqual({
      'depends-on': 'GitHub did not give its dependencies',
    });
  });

  test('beyond 50 are not asked about', async () => {
    const github = fakeGitHub();
    const names = Array.from({ length: 51 }, (_, at) => `globex/core#${at}`);
    const { whyNotKnown } = await load(github, on(...names), 'dependencies');
    expect(whyNotKnown).toEqual({ 'depends-on': 'it depends on more than 50 pull requests' });
    expect(github.requests).toEqual(['PullRequest']);
    expect((await load(github, on(...names.slice(1)), 'dependencies')).values['depends-on']).toEqual([]);
  });

  test('a limit stops the load, and an answer that GitHub fails on does not', async () => {
    const github = fakeGitHub();
    let answer: object = { errors: [{ type: 'RATE_LIMITED', message: 'Slow down' }] };
    github.intercept = (request) => (request === 'Merged' ? answer : undefined);
    await expect(load(github, on('#9'), 'dependencies')).rejects.toThrow('Slow down');
    answer = new Refused(502);
    expect((await load(github, on('#9'), 'dependencies')).whyNotKnown).toEqual({
      'depends-on': 'GitHub did not give its dependencies',
    });
  });
});

describe('required checks', () => {
  const failing = {
    type: 'REQUIRED_STATUS_CHECKS',
    parameters: { __typename: 'RequiredStatusChecksParameters', requiredStatusChecks: [{ context: 'e2e' }] },
  };

  test('that have not begun are pending; our own is not', async () => {
    const github = fakeGitHub();
    const refUpdateRule = { requiredStatusCheckContexts: ['build', 'holdfast/freeze'] };
    const { values } = await load(
      github,
      { baseRef: { refUpdateRule, rules: [failing] } },
      'required-checks',
    );
    expect(values['check-pending']).toEqual(['build', 'e2e']);
    expect(values['check-success']).toEqual([]);
  });

  test.each([
    [fail(), 'GitHub did not give its required checks'],
    [fail('FORBIDDEN'), refused('required checks')],
    [null, 'GitHub did not give its required checks'],
    [{ rules: fail() }, 'GitHub did not give its required checks'],
  ])('without them only what is pending is not known', async (baseRef, reason) => {
    const { values, whyNotKnown } = await load(fakeGitHub(), { baseRef }, 'required-checks', 'checks');
    expect(whyNotKnown).toEqual({ 'check-pending': reason });
    expect(values['check-failure']).toEqual([]);
  });

  test('do not help if the checks are missing', async () => {
    const { values, whyNotKnown } = await load(
      fakeGitHub(),
      { statusCheckRollup: fail('FORBIDDEN') },
      'required-checks',
    );
    expect(values['check-pending']).toBeUndefined();
    expect(whyNotKnown['check-pending']).toBe(refused('checks'));
    expect(whyNotKnown['check-success-or-neutral']).toBe(refused('checks'));
  });
});

test.each([
  ['milestone', 'milestone', ['milestone'], 'milestone'],
  ['review-decision', 'reviewDecision', ['github-review-decision'], 'review decision'],
  ['merger', 'mergedBy', ['merged-by'], 'merger'],
  ['merger', 'mergeCommit', ['merge-commit-sha'], 'merge commit'],
  ['labels', 'headRepository', ['from-fork', 'head-repo-full-name'], 'head repository'],
] as const)('of %s a failing %s makes %o not known, and nothing else', async (need, field, names, what) => {
  for (const [type, reason] of [
    ['SERVICE_UNAVAILABLE', `GitHub did not give its ${what}`],
    ['FORBIDDEN', refused(what)],
  ] as const) {
    const { values, whyNotKnown } = await load(fakeGitHub(), { [field]: fail(type) }, need);
    expect(whyNotKnown).toEqual(Object.fromEntries(names.map((name) => [name, reason])));
    for (const name of names) expect(values).not.toHaveProperty(name);
  }
});

describe('a description', () => {
  test('that GitHub does not give does not affect other pull requests', async () => {
    const github = fakeGitHub();
    github.pullRequests = [
      { number: 1, body: 'One' },
      { number: 2, body: fail() },
      { number: 3, body: '' },
    ];
    const loaded = await loadOpenPullRequests(github.from('body', 'dependencies'));
    expect(loaded.map(({ facts }) => facts.values.body)).toEqual(['One', undefined, '']);
    const reason = 'GitHub did not give its description';
    expect(loaded[1]!.facts.whyNotKnown).toEqual({ body: reason, 'body-raw': reason, 'depends-on': reason });
  });

  test('can be refused, or fail', async () => {
    const github = fakeGitHub();
    expect((await load(github, { body: fail('FORBIDDEN') }, 'body')).whyNotKnown['body']).toBe(
      refused('description'),
    );
    github.intercept = (request) => (request === 'Body' ? { data: { node: null } } : undefined);
    expect((await load(github, { body: fail() }, 'body')).whyNotKnown['body']).toBe(
      'GitHub did not give its description',
    );
    github.intercept = (request) => (request === 'Body' ? new Refused(502) : undefined);
    expect((await load(github, { body: fail() }, 'body')).whyNotKnown['body']).toBe(
      'GitHub did not give its description',
    );
  });
});

test('who merged it, and with which commit', async () => {
  const merger = { mergedBy: { __typename: 'Bot', login: 'mergebot' }, mergeCommit: { oid: shaOf(5) } };
  const { values } = await load(
    fakeGitHub(),
    { state: 'MERGED', reviewDecision: 'APPROVED', ...merger },
    'merger',
    'review-decision',
  );
  expect(values).toMatchObject({
    'merged-by': 'mergebot[bot]',
    'merge-commit-sha': shaOf(5),
    'github-review-decision': 'APPROVED',
  });
});

test('what Dependabot updates is in its commits', async () => {
  const message =
    'Bump\n\n---\nupdated-dependencies:\n- dependency-name: roof\n  update-type: version-update:semver-patch\n...';
  const author = { __typename: 'Bot', login: 'dependabot' };
  const commits = [
    {
      message,
      author: { name: 'Dependabot', user: { login: 'dependabot[bot]' } },
      signature: { __typename: 'GpgSignature', isValid: true, wasSignedByGitHub: true },
    },
  ];
  const { values } = await load(fakeGitHub(), { author, commits }, 'commits');
  expect(values).toMatchObject({
    'dependabot-dependency-name': ['roof'],
    'dependabot-dependency-type': [],
    'dependabot-update-type': ['version-update:semver-patch'],
  });
  const without = [{ ...commits[0], message: 'Bump' }];
  const { whyNotKnown } = await load(fakeGitHub(), { author, commits: without }, 'commits');
  expect(whyNotKnown['dependabot-update-type']).toBe('no commit of it says what Dependabot updates');
  expect(whyNotKnown).not.toHaveProperty('commits');
});
