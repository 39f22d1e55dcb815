import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ask, installationToken } from './acme.ts';
import { queued, web } from './queued.ts';

let world: Awaited<ReturnType<typeof queued>>;
beforeEach(async () => {
  world = await queued();
});
afterEach(() => world.github.close());

describe('GraphQL', () => {
  const entry = `id position state enqueuedAt jump solo enqueuer { login } mergeQueue { id }
    pullRequest { number } baseCommit { oid }
    headCommit { oid message status { context(name: "holdfast/freeze") { state description createdAt } } }`;
  const configuration = `checkResponseTimeout mergingStrategy mergeMethod maximumEntriesToBuild
    maximumEntriesToMerge minimumEntriesToMerge minimumEntriesToMergeWaitTime`;
  const about = (fields: string, name = 'web') =>
    `{ repository(owner: "acme", name: "${name}") { ${fields} } }`;

  test('the queue, its configuration and its entries', async () => {
    const { github, installationId } = world;
    const [first, second] = world.queue(2, { mergingStrategy: 'HEADGREEN', maxEntriesToBuild: 1 }) as [
      number,
      number,
    ];
    world.judge(first, 'pending');
    const app = await installationToken(github, installationId);
    const { data, errors } = await ask(
      github,
      app,
      about(`mergeQueue(branch: "main") { id url configuration { ${configuration} }
        entries(first: 10) { totalCount nodes { ${entry} } } }
        pullRequest(number: ${second}) { isInMergeQueue mergeQueue { id } mergeQueueEntry { ${entry} } }`),
    );
    expect(errors).toBeUndefined();
    const { mergeQueue, pullRequest } = data.repository;
    expect(mergeQueue).toMatchObject({
      id: expect.stringMatching(/^MQ_/),
      url: 'https://github.com/acme/web/queue/main',
      configuration: {
        checkResponseTimeout: 60,
        mergingStrategy: 'HEADGREEN',
        mergeMethod: 'MERGE',
        maximumEntriesToBuild: 1,
        maximumEntriesToMerge: 5,
        minimumEntriesToMerge: 1,
        minimumEntriesToMergeWaitTime: 5,
      },
    });
    const { headSha, baseSha } = world.group(first);
    expect(mergeQueue.entries).toMatchObject({
      totalCount: 2,
      nodes: [
        {
          position: 1,
          state: 'AWAITING_CHECKS',
          jump: false,
          enqueuer: { login: 'bob' },
          mergeQueue: { id: mergeQueue.id },
          pullRequest: { number: first },
          baseCommit: { oid: baseSha },
          headCommit: { oid: headSha, status: { context: { state: 'PENDING', description: null } } },
        },
        { position: 2, state: 'QUEUED', headCommit: null, baseCommit: null },
      ],
    });
    expect(pullRequest).toMatchObject({ isInMergeQueue: true, mergeQueue: { id: mergeQueue.id } });
    expect(pullRequest.mergeQueueEntry).toEqual(mergeQueue.entries.nodes[1]);
    github.assertNoUnknownRoutes();
  });

  test('the default branch when none is named, null without a queue, and branches by exact name', async () => {
    const { github, installationId } = world;
    world.queue(0);
    const app = await installationToken(github, installationId);
    const named = 'one: mergeQueue { id } two: mergeQueue(branch: null) { id }';
    const missing = 'three: mergeQueue(branch: "Main") { id } four: mergeQueue(branch: "release") { id }';
    const { data } = await ask(github, app, about(`${named} ${missing}`));
    const { id } = data.repository.one;
    expect(data.repository).toEqual({ one: { id }, two: { id }, three: null, four: null });
  });

  test('pages neither repeat nor lose an entry, after a jump and while one leaves', async () => {
    const { github, installationId } = world;
    const [first, second, third, fourth] = world.queue(4) as [number, number, number, number];
    github.jump(web, fourth);
    const app = await installationToken(github, installationId);
    const page = async (after: string | null) => {
      const args = `first: 2, after: ${JSON.stringify(after)}`;
      const fields = 'pageInfo { endCursor hasNextPage } nodes { pullRequest { number } }';
      const answer = await ask(github, app, about(`mergeQueue { entries(${args}) { ${fields} } }`));
      const { pageInfo, nodes } = answer.data.repository.mergeQueue.entries;
      return {
        pageInfo,
        numbers: nodes.map((node: { pullRequest: { number: number } }) => node.pullRequest.number),
      };
    };
    const one = await page(null);
    github.dequeue(web, first);
    const two = await page(one.pageInfo.endCursor);
    expect([one.numbers, two.numbers]).toEqual([
      [fourth, first],
      [second, third],
    ]);
    expect(two.pageInfo.hasNextPage).toBe(false);
  });

  test('every repository demands merge_queues: read', async () => {
    const { github, installationId } = world;
    const [number] = world.queue(1) as [number];
    const permissions = { metadata: 'read', pull_requests: 'read', contents: 'read' };
    const token = await installationToken(github, installationId, { permissions });
    const fields = `mergeQueue { id } pullRequest(number: ${number}) { mergeQueue { id } mergeQueueEntry { id } }`;
    for (const change of [github.privatize, github.publicize]) {
      change(web);
      const { data, errors } = await ask(github, token, about(fields));
      expect(data.repository).toEqual({
        mergeQueue: null,
        pullRequest: { mergeQueue: null, mergeQueueEntry: null },
      });
      expect(errors.map(({ type }: { type: string }) => type)).toEqual(Array(3).fill('FORBIDDEN'));
    }
  });
});
