import { describe, expect, test } from 'vitest';
import type { ConditionFacts } from '../../../src/conditions/attributes.ts';
import type { Need } from '../../../src/conditions/needs.ts';
import type { Freeze } from '../../../src/freezes/freeze.ts';
import { isDecided, judgeFreeze, parseFreeze } from '../../../src/freezes/judge-freeze.ts';
import {
  loadOpenPullRequests,
  loadPullRequest,
} from '../../../src/github/pull-requests/load-pull-requests.ts';
import { fail, fakeGitHub, load, type Own, shaOf } from './fake-github.ts';

describe('what is known already is not read again', () => {
  const file = (path: string) => ({ path, changeType: 'MODIFIED' });
  const listed = (path: string) => ({ filename: path, status: 'modified' });
  const paths = Array.from({ length: 250 }, (_, at) => `docs/${at}`);
  const tip = (oid: string) => ({ baseRef: { target: { __typename: 'Commit', oid } } });
  const large = { files: paths.map(file), changedFiles: 250, ...tip('b1'), title: 'One' };
  const many = { commits: paths.slice(0, 150).map((message) => ({ message })), ...tip('b1') };

  /** The requests of a second load, after something changed. */
  async function second(need: Need, first: Own, changed: Own): Promise<string[]> {
    const github = fakeGitHub();
    github.files[1] = paths.map(listed);
    await load(github, first, need);
    github.requests = [];
    const { values } = await load(github, { ...first, ...changed }, need);
    expect(values[need as 'files']).toHaveLength(need === 'files' ? 250 : 150);
    return github.requests.filter((request) => request !== 'PullRequest');
  }
  const pages = Array(3).fill('GET /repos/acme/web/pulls/1/files');
  test.each<[what: string, changed: Own, requests: string[]]>([
    ['its title', { title: 'Two' }, []],
    ['its head', { headRefOid: shaOf(9) }, pages],
    ['the tip of its base', tip('b2'), pages],
    ['GitHub’s count of its files', { changedFiles: 251 }, pages],
    ['nothing, but the tip of its base is not known', { baseRef: fail() }, pages],
  ])('the files, after a change of %s', async (_, changed, requests) => {
    expect(await second('files', large, changed)).toEqual(requests);
  });

  test.each<[what: string, changed: Own, requests: string[]]>([
    ['its title', { title: 'Two' }, []],
    ['the tip of its base', tip('b2'), ['Commits', 'Commits']],
  ])('the commits, after a change of %s', async (_, changed, requests) => {
    expect(await second('commits', many, changed)).toEqual(requests);
  });

  test('by several looks at the same time', async () => {
    const github = fakeGitHub();
    github.files[1] = paths.map(listed);
    github.pullRequests = [{ number: 1, ...large }];
    await Promise.all([1, 2, 3].map(() => loadPullRequest(github.from('files'), 1)));
    expect(github.requests.filter((request) => request.startsWith('GET'))).toEqual(pages);
  });

  const freezes = (conditions: Pick<Freeze, 'matchingConditions' | 'excludeConditions'>) => [
    parseFreeze({ ...conditions, holds: ['merges'] } as unknown as Freeze),
  ];
  test.each<[what: string, matching: string[], exclude: string[], read: number, verdict: string]>([
    ['another condition excludes no more', [], ['label=hotfix', '-files~=^src/'], 0, 'frozen'],
    ['another condition does not select it', ['base=next', 'files~=^src/'], [], 0, 'not_matched'],
    ['its first files are enough', ['files~=^docs/1$'], [], 0, 'frozen'],
    ['the second page is enough', ['files=docs/120'], [], 2, 'frozen'],
    ['one of its first files keeps it in', [], ['-files=docs/3'], 0, 'frozen'],
    ['only all of them say it', [], ['-files~=^src/'], 3, 'excluded'],
    ['a count needs all of them', ['#modified-files>200'], [], 3, 'frozen'],
  ])('where %s', async (_, matchingConditions, excludeConditions, read, verdict) => {
    const github = fakeGitHub();
    github.files[1] = paths.map(listed);
    github.pullRequests = [{ number: 1, ...large }];
    const standards = freezes({ matchingConditions, excludeConditions });
    const isEnough = (facts: ConditionFacts) => isDecided(standards, facts, 0);
    const { facts } = (await loadPullRequest({ ...github.from('files', 'labels'), isDecided: isEnough }, 1))!;
    expect(github.requests.filter((request) => request.startsWith('GET'))).toHaveLength(read);
    expect(judgeFreeze(standards[0]!, facts, 0)).toBe(verdict);
  });

  const hourWith = (remaining: number) => ({
    'x-ratelimit-limit': 5_000,
    'x-ratelimit-remaining': remaining,
    'x-ratelimit-reset': Date.now() / 1000 + 600,
    'x-ratelimit-resource': 'core',
  });
  test('of the rest of an hour that is kept for freezes, events take nothing', async () => {
    const github = fakeGitHub();
    github.files[1] = paths.map(listed);
    github.pullRequests = [{ number: 1, ...large }];
    github.budgets.note(7n, hourWith(1_249));
    const from = github.from('files');
    const { facts } = (await loadPullRequest({ ...from, leavesReserve: true }, 1))!;
    expect(facts.whyNotKnown['files']).toContain('keeps the rest of this hour’s requests');
    expect(github.requests).toEqual(['PullRequest']);
    expect((await loadPullRequest(from, 1))!.facts.values.files).toHaveLength(250);
  });

  test('the shares of a fork’s owner count all of their pull requests', async () => {
    const github = fakeGitHub();
    github.budgets.note(7n, hourWith(5_000));
    const fork = { isCrossRepository: true, headRepository: { nameWithOwner: 'mallory/web' } };
    github.pullRequests = Array.from({ length: 100 }, (_, at) => ({ number: at + 1, ...large, ...fork }));
    for (const { number } of github.pullRequests) github.files[number] = paths.map(listed);
    const loaded = await loadOpenPullRequests(github.from('files'));
    const known = loaded.filter(({ facts }) => facts.values.files?.length === 250);
    // 5 % of 5,000 requests, three for each.
    expect(known).toHaveLength(83);
    expect(loaded.at(-1)!.facts.whyNotKnown['files']).toContain('pull requests of mallory used up');
  });
});
