// The sandbox's `mergeStateStatus`: as GitHub documents it, and as late as GitHub is.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';

let github: Sandbox;
let token: string;
let now = new Date('2026-03-01T09:00:00Z');
beforeAll(async () => {
  github = await startSandbox({ now: () => now });
  github.addUser('eve');
  github.addRepository('eve/web', {
    protect: { main: ['ci'], strict: { checks: ['ci'], strict: true } },
  });
  github.addRepository('eve/hooks', { preReceiveHooks: true });
  token = github.addToken('eve');
});
afterAll(() => github.close());

const pass = (seconds: number) => (now = new Date(now.getTime() + seconds * 1000));
const post = (repository: string, number: number, state: 'success' | 'pending' | 'failure', context = 'ci') =>
  github.postStatus(repository, number, { by: 'eve', state, context });

async function ask(repository: string, number: number): Promise<string> {
  const { nodeId } = github.pullRequest(repository, number);
  const response = await fetch(`${github.url}/graphql`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      query: 'query($id: ID!) { node(id: $id) { ... on PullRequest { mergeStateStatus } } }',
      variables: { id: nodeId },
    }),
  });
  return ((await response.json()) as { data: { node: { mergeStateStatus: string } } }).data.node
    .mergeStateStatus;
}

test('UNKNOWN once after a push or a retarget, then the true state', async () => {
  const { number } = github.openPullRequest('eve/web', { author: 'eve' });
  expect(await ask('eve/web', number)).toBe('UNKNOWN');
  expect(await ask('eve/web', number)).toBe('BLOCKED');
  github.push('eve/web', number);
  expect(await ask('eve/web', number)).toBe('UNKNOWN');
  github.retarget('eve/web', number, 'next');
  expect(await ask('eve/web', number)).toBe('UNKNOWN');
  expect(await ask('eve/web', number)).toBe('CLEAN');
});

test('some seconds behind a status', async () => {
  const { number } = github.openPullRequest('eve/web', { author: 'eve' });
  await ask('eve/web', number);
  post('eve/web', number, 'success');
  expect(await ask('eve/web', number)).toBe('BLOCKED');
  pass(2);
  expect(await ask('eve/web', number)).toBe('CLEAN');
  expect(github.mergeable('eve/web', number)).toBe('clean');
});

test.each<[string, string, (number: number) => void]>([
  ['a required check that fails', 'BLOCKED', (number) => post('eve/web', number, 'failure')],
  [
    'one that is not required and waits',
    'UNSTABLE',
    (number) => {
      post('eve/web', number, 'success');
      post('eve/web', number, 'pending', 'holdfast/freeze');
    },
  ],
  [
    'a draft',
    'DRAFT',
    (number) => {
      post('eve/web', number, 'success');
      github.markDraft('eve/web', number);
    },
  ],
  ['a conflict', 'DIRTY', (number) => github.pushToBranch('eve/web', 'main', { conflictsWith: [number] })],
  [
    'a base that requires to be up to date',
    'BEHIND',
    (number) => {
      github.retarget('eve/web', number, 'strict');
      post('eve/web', number, 'success');
      github.pushToBranch('eve/web', 'strict');
    },
  ],
])('%s: %s', async (_name, state, change) => {
  const { number } = github.openPullRequest('eve/web', { author: 'eve' });
  change(number);
  pass(2);
  await ask('eve/web', number);
  expect(await ask('eve/web', number)).toBe(state);
});

test('pre-receive hooks: HAS_HOOKS', async () => {
  const { number } = github.openPullRequest('eve/hooks', { author: 'eve' });
  await ask('eve/hooks', number);
  expect(await ask('eve/hooks', number)).toBe('HAS_HOOKS');
});
