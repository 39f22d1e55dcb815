import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';

let github: Sandbox;
const web = 'acme/web';
beforeAll(async () => {
  github = await startSandbox();
  github.addUser('ada');
  github.addOrganization('acme', { admins: ['ada'] });
  github.addRepository(web, { protect: { main: ['holdfast/freeze'] } });
});
afterAll(() => github.close());

const open = (more: object = {}) => github.openPullRequest(web, { author: 'ada', ...more });
const post = (numberOrSha: number | string, state: 'success' | 'pending') =>
  github.postStatus(web, numberOrSha, { by: 'ada', state });

test('a status on the test merge commit counts before the one on the head', () => {
  const { number } = open();
  const testMerge = github.testMergeCommit(web, number)!;
  post(number, 'success');
  expect(github.mergeable(web, number)).toBe('clean');
  post(testMerge, 'pending');
  expect(github.mergeable(web, number)).toBe('blocked');
  post(number, 'pending');
  post(testMerge, 'success');
  expect(github.mergeable(web, number)).toBe('clean');
});

test('it is another one when the head or the base moves, and then the head counts again', () => {
  const { number } = open();
  const first = github.testMergeCommit(web, number)!;
  post(number, 'pending');
  post(first, 'success');
  github.pushToBranch(web, 'main');
  const second = github.testMergeCommit(web, number);
  expect(second).not.toBe(first);
  expect(github.mergeable(web, number)).toBe('blocked');
  github.push(web, number);
  expect(github.testMergeCommit(web, number)).not.toBe(second);
});

test('one that conflicts or is closed has none', () => {
  const { number } = open();
  github.pushToBranch(web, 'main', { conflictsWith: [number] });
  expect(github.testMergeCommit(web, number)).toBeNull();
  const other = open().number;
  github.closePullRequest(web, other);
  expect(github.testMergeCommit(web, other)).toBeNull();
});

test('it can be the head of another pull request, and its parent stays the first one’s head', () => {
  const one = open();
  const headSha = github.testMergeCommit(web, one.number)!;
  const other = open({ base: 'develop', headSha });
  expect(github.pullRequest(web, other.number).headSha).toBe(headSha);
  github.postStatus(web, other.number, { by: 'ada', state: 'success' });
  expect(github.mergeable(web, one.number)).toBe('clean');
});
