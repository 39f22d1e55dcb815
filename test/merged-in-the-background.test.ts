// GitHub's asynchronous merge API: single pull requests, queues, and past the rules. The stories of stacks use it as well.
import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';
import { passCiOn, queuedIn } from './support/queued.ts';

const acme = acmeForAll();
const tokens: Record<string, string> = {};

beforeAll(() => {
  acme.github.addUser('wes');
  for (const login of ['ada', 'wes']) tokens[login] = acme.github.addToken(login);
});

type Result = { status: string; details: Record<string, string> };
const ask = async (method: string, path: string, as: string, body?: object) => {
  const headers = { authorization: `Bearer ${tokens[as]}` };
  const answer = await fetch(`${acme.github.url}/repos/${path}`, {
    method,
    headers,
    body: body && JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as Result };
};

/** Requests a merge, and waits for what becomes of it. */
async function merge(repository: string, number: number, as: string, body: object = {}): Promise<Result> {
  const path = `${repository}/pulls/${number}/merge-async`;
  const requested = await ask('PUT', path, as, body);
  expect(requested.status).toBe(202);
  for (;;) {
    const { body: result } = await ask('GET', `${path}/${requested.body.details['uuid']}`, as);
    if (result.status !== 'pending') return result;
  }
}

const bypasses = async (repository: string) => {
  await acme.quiet();
  const events = await acme.events(repository, 'freeze.bypassed');
  return events.map((event: { pull_request: number; metadata: Record<string, unknown> }) => [
    event.pull_request,
    (event.metadata['bypassed_by'] as { name: string }).name,
  ]);
};

test('the answers have the form of GitHub’s description', async () => {
  const web = await acme.repository('web', [{}, { draft: true }]);
  const { headSha } = acme.github.pullRequest(web, 1);
  const path = `${web}/pulls/1/merge-async`;
  const wanted = { merge_method: 'squash', merge_action: 'direct_merge' };
  const answers = await Promise.all([1, 2].map(() => ask('PUT', path, 'ada', wanted)));
  const first = answers.find(({ status }) => status === 202)!;
  const second = answers.find((answer) => answer !== first)!;
  const details = {
    message: expect.any(String),
    uuid: expect.any(String),
    ...wanted,
    expected_head_sha: headSha,
  };
  expect(first.body).toEqual({ status: 'pending', details });
  // Whoever asks meanwhile gets the same request, and learns whether it is the one that they wanted.
  if (second.status === 409) expect(second.body.details).toEqual(first.body.details);
  else expect(second).toMatchObject({ status: 200, body: { status: 'merged' } });
  await acme.quiet();
  const done = await ask('GET', `${path}/${first.body.details['uuid']}`, 'ada');
  const sha = acme.github.merges(web)[0]!.sha;
  expect(done.body).toEqual({ status: 'merged', details: { message: expect.any(String), sha } });
  expect(await ask('PUT', path, 'ada')).toEqual({ status: 200, body: done.body });
  expect(await ask('PUT', `${web}/pulls/2/merge-async`, 'ada')).toMatchObject({
    status: 400,
    body: { status: 'failed', details: { message: expect.stringContaining('draft') } },
  });
  expect((await ask('PUT', path, 'ada', { merge_action: 'now' })).status).toBe(422);
});

test('a frozen pull request is refused, and merged by somebody who may bypass, which is told', async () => {
  const api = await acme.repository('api', [{}], {
    roles: { wes: 'write' },
    protect: { main: { checks: ['holdfast/freeze'], enforceAdmins: false } as never },
  });
  await acme.freeze(api);
  const refused = { status: 'failed', details: { message: expect.stringContaining('is pending') } };
  expect(await merge(api, 1, 'wes', { merge_action: 'direct_merge' })).toEqual(refused);
  expect(await merge(api, 1, 'ada')).toEqual(refused);
  expect(await bypasses(api)).toEqual([]);
  expect(await merge(api, 1, 'ada', { merge_action: 'direct_merge' })).toMatchObject({ status: 'merged' });
  expect(await bypasses(api)).toEqual([[1, 'ada']]);
});

test('a queue takes it, and its group is held; past the queue is told too', async () => {
  const queue = await queuedIn(acme, 'queue', [{}]);
  acme.github.dequeue(queue, 1);
  expect(await merge(queue, 1, 'ada')).toMatchObject({ status: 'enqueued' });
  await acme.quiet();
  expect(await ask('PUT', `${queue}/pulls/1/merge-async`, 'ada')).toMatchObject({
    status: 200,
    body: { status: 'enqueued' },
  });
  await acme.freeze(queue);
  const [group] = acme.github.mergeGroups(queue);
  if (group) passCiOn(acme, queue, group.headSha);
  await acme.quiet();
  expect(acme.github.merges(queue)).toEqual([]);
  const blocked = { status: 'failed', details: { message: expect.any(String) } };
  expect(await merge(queue, 1, 'ada', { merge_action: 'merge_queue' })).toEqual(blocked);
  expect(await merge(queue, 1, 'ada', { merge_action: 'direct_merge' })).toMatchObject({ status: 'merged' });
  expect(await bypasses(queue)).toEqual([[1, 'ada']]);
});
