import { expect, test } from 'vitest';
import { loadOpenPullRequests } from '../../../src/github/pull-requests/load-pull-requests.ts';
import { fail, fakeGitHub, Refused } from './fake-github.ts';

async function load(github: ReturnType<typeof fakeGitHub>, teams: string[], account = {}) {
  const from = github.from();
  Object.assign(from.repository.account, account);
  return loadOpenPullRequests({ ...from, needs: { facts: new Set(['teams']), teams: new Set(teams) } });
}

const refused = 'Holdfast cannot read teams here: accept its new permissions';

test('members are read once for all pull requests, to the last, as GitHub spells them', async () => {
  const github = fakeGitHub();
  github.pullRequests = [{ number: 1 }, { number: 2 }];
  const crowd = Array.from({ length: 250 }, (_, at) => `User-${at}`);
  github.teams = { core: ['Ada', 'bob'], crowd, empty: [] };
  const [one, other] = await load(github, ['@core', '@acme/crowd', '@empty']);
  expect(one!.facts.teams).toEqual(
    new Map([
      ['@core', new Set(['Ada', 'bob'])],
      ['@acme/crowd', new Set(crowd)],
      ['@empty', new Set()],
    ]),
  );
  expect(other!.facts.teams).toBe(one!.facts.teams);
  expect(one!.facts.whyNotKnown).toEqual({});
  expect(github.requests).toEqual(['OpenPullRequests', ...Array(5).fill('TeamMembers')]);
});

test('the owner’s name is compared without case, and asked for as GitHub spells it', async () => {
  const github = fakeGitHub();
  github.pullRequests = [{ number: 1 }];
  github.teams = { core: ['ada'] };
  const asked: unknown[] = [];
  github.intercept = (request, { organization }) =>
    void (request === 'TeamMembers' && asked.push(organization));
  const [loaded] = await load(github, ['@acme/core'], { login: 'Acme' });
  expect(loaded!.facts.teams.get('@acme/core')).toEqual(new Set(['ada']));
  expect(asked).toEqual(['Acme']);
});

test('a team that cannot be read says why, and the others are known', async () => {
  const github = fakeGitHub();
  github.pullRequests = [{ number: 1 }];
  github.teams = { core: ['ada'], hidden: fail('FORBIDDEN'), broken: fail(), gone: fail('NOT_FOUND') };
  const [loaded] = await load(github, ['@globex/core', '@core', '@none', '@hidden', '@broken', '@acme/gone']);
  expect(loaded!.facts.whyNotKnown).toEqual({
    '@globex/core': '@globex/core is not a team of acme',
    '@none': 'there is no team @none',
    '@hidden': refused,
    '@broken': 'GitHub did not give the members of @broken',
    '@acme/gone': 'there is no team @acme/gone',
  });
  expect([...loaded!.facts.teams.keys()]).toEqual(['@core']);
});

test('a person has no teams', async () => {
  const github = fakeGitHub();
  github.pullRequests = [{ number: 1 }];
  const [loaded] = await load(github, ['@core'], { type: 'User' });
  expect(loaded!.facts.whyNotKnown).toEqual({
    '@core': 'there is no team @core: acme is not an organization',
  });
  expect(github.requests).toEqual(['OpenPullRequests']);
});

test('a missing member, or pages that lead nowhere, leave the team unknown', async () => {
  const github = fakeGitHub();
  github.pullRequests = [{ number: 1 }];
  const pages = [
    { nodes: [{ login: 'ada' }, null], pageInfo: { hasNextPage: false, endCursor: null } },
    { nodes: null, pageInfo: { hasNextPage: false, endCursor: null } },
    { nodes: [], pageInfo: { hasNextPage: true, endCursor: 'still' } },
  ];
  for (const members of pages) {
    github.intercept = (request) =>
      request === 'TeamMembers' ? { data: { organization: { team: { members } } } } : undefined;
    const [loaded] = await load(github, ['@core']);
    expect(loaded!.facts.whyNotKnown).toEqual({ '@core': 'GitHub did not give the members of @core' });
  }
});

test('a limit stops the load, and an answer that GitHub fails on does not', async () => {
  const github = fakeGitHub();
  github.pullRequests = [{ number: 1 }];
  let answer: object = { errors: [{ type: 'RATE_LIMITED', message: 'Slow down' }] };
  github.intercept = (request) => (request === 'TeamMembers' ? answer : undefined);
  await expect(load(github, ['@core'])).rejects.toThrow('Slow down');
  answer = new Refused(502);
  const [loaded] = await load(github, ['@core']);
  expect(loaded!.facts.whyNotKnown).toEqual({ '@core': 'GitHub did not give the members of @core' });
});
