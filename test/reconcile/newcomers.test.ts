import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Deps } from '../../src/deps.ts';
import { judgeNewcomers } from '../../src/reconcile/newcomers.ts';
import type { Observed } from '../../src/reconcile/observe.ts';
import type { Job } from '../../src/queue/jobs.ts';
import type { LoadedPullRequest } from '../../src/github/pull-requests/load-pull-requests.ts';
import type { Database } from '../../src/database/database.ts';
import { openTestDatabase } from '../support/database.ts';

let database: Database;
const sent: Job[] = [];
const observed = { repository: { id: 1n, installation: { id: 5n } } } as unknown as Observed;
const deps = { queue: { send: async (jobs: Job[]) => void sent.push(...jobs) } } as unknown as Deps;
const judged = (number: number, headSha: string) => ({ facts: { number, headSha } }) as LoadedPullRequest;

beforeAll(async () => {
  database = await openTestDatabase();
  const { prisma } = database;
  const seenAt = new Date('2026-03-01T09:00:00Z');
  await prisma.account.create({ data: { id: 1n, login: 'a', loginKey: 'a', type: 'User', seenAt } });
  for (const id of [1n, 2n]) {
    const name = `web${id}`;
    await prisma.repository.create({
      data: { id, accountId: 1n, name, nameKey: name, private: false, archived: false, seenAt },
    });
    await prisma.openPullRequest.create({
      data: { repositoryId: id, number: 7, nodeId: 'PR_7', headSha: 'shared', observation: 9n },
    });
  }
});
afterAll(() => database.close());

test('a pull request that came to a judged head meanwhile is looked at', async () => {
  await judgeNewcomers(deps, database.prisma, observed, [judged(8, 'shared'), judged(9, 'other')]);
  expect(sent.splice(0)).toMatchObject([
    { task: 'reconcile-pull-request', data: { repositoryId: '1', number: 7, installationId: '5' } },
  ]);
});

test('where every pull request of the heads was seen, nobody is', async () => {
  await judgeNewcomers(deps, database.prisma, observed, [judged(7, 'shared'), judged(8, 'shared')]);
  await judgeNewcomers(deps, database.prisma, observed, [judged(8, 'other')]);
  await judgeNewcomers(deps, database.prisma, observed, []);
  expect(sent).toEqual([]);
});
