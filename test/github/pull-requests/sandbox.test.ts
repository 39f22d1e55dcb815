import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from '@octokit/rest';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../sandbox/github.ts';
import { RateBudgets } from '../../../src/github/ask-github.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { attributeNames, attributeOf } from '../../../src/conditions/attributes.ts';
import { type Need, needs } from '../../../src/conditions/needs.ts';
import { type LoadFrom, loadOpenPullRequests } from '../../../src/github/pull-requests/load-pull-requests.ts';

// Everything at once, as an installation, from a GitHub that another hand wrote.

let github: Sandbox;
let from: LoadFrom;
beforeAll(async () => {
  github = await startSandbox({ now: () => new Date('2026-03-01T09:00:00Z') });
  for (const login of ['ada', 'bob']) github.addUser(login);
  github.addOrganization('acme', { admins: ['ada'], members: ['bob'] });
  github.addRepository('acme/web', {
    roles: { bob: 'write' },
    protect: { main: ['holdfast/freeze', 'deploy'] },
  });
  github.addTeam('acme', 'core', ['bob']);
  const { id: appId, privateKey } = github.app;
  const auth = { appId, privateKey, installationId: github.install('acme').id };
  from = {
    client: new Octokit({ baseUrl: github.url, authStrategy: createAppAuth, auth }),
    deps: {
      db: { pullRequestScopes: { findMany: async () => [] } },
      github: { budgets: new RateBudgets(systemClock) },
      config: { statusContext: 'holdfast/freeze' },
      log: pino({ level: 'silent' }),
      clock: systemClock,
    },
    repository: {
      id: BigInt(github.repository('acme/web').id),
      name: 'web',
      account: { login: 'acme', type: 'Organization' },
      installation: { id: BigInt(auth.installationId) },
    },
    needs: { facts: new Set(Object.keys(needs) as Need[]), teams: new Set(['@core']) },
    stacks: [],
  } as unknown as LoadFrom;
});
afterAll(() => github.close());

test('every attribute of every pull request is known', async () => {
  github.openPullRequest('acme/web', {
    author: 'ada',
    body: 'Depends-On: #2',
    labels: ['risky'],
    assignees: ['bob'],
    reviewRequests: ['bob'],
    milestone: '1.0',
    files: ['src/roof.ts', { path: 'new.ts', status: 'renamed', previousPath: 'old.ts' }],
    commits: [{ message: 'First', verified: false }, { message: 'Second' }],
  });
  github.openPullRequest('acme/web', { author: 'bob' });
  github.requestTeamReview('acme/web', 1, 'core');
  github.review('acme/web', 1, { by: 'bob', state: 'APPROVED' });
  github.startThread('acme/web', 1, { by: 'bob', body: 'Why?' });
  github.reportCheck('acme/web', 1, { name: 'lint', conclusion: 'success' });
  github.deploy('acme/web', 1, 'staging', 'failure');

  const [first, second] = await loadOpenPullRequests(from);
  const clock = ['schedule', 'current-datetime'];
  for (const { facts } of [first!, second!]) {
    expect(facts.whyNotKnown).toEqual({});
    const known = Object.keys(facts.values).filter((name) => !/^[@#]/.test(name));
    expect(known.sort()).toEqual(attributeNames.filter((name) => !clock.includes(name)));
    expect(facts.teams).toEqual(new Map([['@core', new Set(['bob'])]]));
  }
  expect(first!.facts.values).toMatchObject({
    author: 'ada',
    label: ['risky'],
    assignee: ['bob'],
    'review-requested': expect.arrayContaining(['@core', '@acme/core']),
    milestone: '1.0',
    files: ['src/roof.ts', 'new.ts', 'old.ts'],
    'approved-reviews-by': ['bob'],
    'review-threads-unresolved': ['Why?'],
    'check-success': ['lint'],
    '@check-success': ['@github-actions/lint'],
    'check-pending': ['deploy'],
    'deployment-failure': ['staging'],
    'commits-unverified': ['First'],
    commits: [{ commit_message: 'First' }, { commit_message: 'Second' }],
    'linear-history': true,
    'commits-behind': 0,
    'depends-on': [],
  });
  github.assertNoUnknownRoutes();
});

test('every need of an attribute is read somewhere', () => {
  const used = new Set(attributeNames.map((name) => attributeOf(name).needs).filter((need) => need !== null));
  // Teams belong to no attribute, and counts of checks to people who decide.
  expect([...used, 'teams', 'check-counts'].sort()).toEqual(Object.keys(needs).sort());
});
