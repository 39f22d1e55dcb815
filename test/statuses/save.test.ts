import pino from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { readingOf, systemClock } from '../../src/time/clock.ts';
import type { Database } from '../../src/database/database.ts';
import type { Deps } from '../../src/deps.ts';
import type { LoadedPullRequest } from '../../src/github/pull-requests/load-pull-requests.ts';
import type { Job } from '../../src/database/queue/jobs.ts';
import type { Observed, PullRequestReading } from '../../src/statuses/observe.ts';
import { saveObservation, type Saved } from '../../src/statuses/save.ts';
import { freeText } from '../../src/statuses/status.ts';
import { openTestDatabase } from '../support/database.ts';

let database: Database;
let deps: Deps;
let observed: Observed;
const sent: Job[] = [];
const seenAt = new Date('2026-03-01T09:00:00Z');

const pullRequest = (number: number, headSha: string, more: Partial<LoadedPullRequest> = {}) =>
  ({
    isOpen: true,
    title: 'A change',
    status: null,
    testMerge: null,
    headMerges: null,
    queueBranch: null,
    headOwner: '',
    facts: { number, nodeId: `PR_${number}`, headSha, values: {}, whyNotKnown: {} },
    ...more,
  }) as LoadedPullRequest;
const told = (number: number) => ({ number, installationId: null });
const saved = (found: PullRequestReading) => saveObservation(deps, observed, found);
const numbersOf = async (found: PullRequestReading) =>
  (await saved(found)).unseen.map(({ number }) => number);
const shas = async () =>
  (await database.prisma.headStatus.findMany({ orderBy: { sha: 'asc' } })).map(({ sha }) => sha);

beforeAll(async () => {
  database = await openTestDatabase();
  const { prisma, sql } = database;
  const send = async (jobs: Job[]) => void sent.push(...jobs);
  deps = { sql, clock: systemClock, log: pino({ level: 'silent' }), queue: { send } } as unknown as Deps;
  await prisma.account.create({ data: { id: 1n, login: 'a', loginKey: 'a', type: 'User', seenAt } });
});
beforeEach(async () => {
  const { prisma } = database;
  await prisma.repository.deleteMany();
  for (const id of [1n, 2n]) {
    const name = `web${id}`;
    await prisma.repository.create({
      data: {
        id,
        accountId: 1n,
        name,
        nameKey: name,
        private: false,
        archived: false,
        seenAt,
        observations: 9n,
      },
    });
    // Another observation saw it, and maybe later.
    await prisma.openPullRequest.create({
      data: {
        repositoryId: id,
        number: 7,
        nodeId: 'PR_7',
        headSha: 'shared',
        mergeSha: 'merge',
        observation: 9n,
      },
    });
  }
  const repository = { id: 1n, name: 'web1', account: { login: 'a' }, installation: { id: 5n } };
  const from = { needs: { facts: new Set(), teams: new Set() }, stacks: [] };
  observed = {
    repository,
    observation: 8n,
    observedAt: seenAt,
    clockThen: readingOf(systemClock),
    freezes: [],
    exemptions: [],
    from,
  } as unknown as Observed;
  sent.length = 0;
});
afterAll(() => database.close());

test.each<[string, PullRequestReading, number[]]>([
  ['its head', { pullRequests: [pullRequest(8, 'shared')], events: [told(8)] }, [7]],
  ['its test merge commit', { pullRequests: [pullRequest(8, 'merge')], events: [told(8)] }, [7]],
  ['its head, with all that are open', { pullRequests: [pullRequest(8, 'shared')], events: null }, [7]],
  [
    'what a head merges',
    { pullRequests: [pullRequest(8, 'b', { headMerges: 'shared' })], events: [told(8)] },
    [7],
  ],
  [
    'the head of one that is closed',
    { pullRequests: [pullRequest(8, 'shared', { isOpen: false })], events: [told(8)] },
    [7],
  ],
  ['the head that one had', { pullRequests: [], events: [told(8)] }, [7]],
])(
  'a pull request that was not observed and shares %s is observed before anything is saved',
  async (_, found, unseen) => {
    if (found.pullRequests.length === 0)
      await database.prisma.openPullRequest.create({
        data: { repositoryId: 1n, number: 8, nodeId: 'PR_8', headSha: 'shared', observation: 1n },
      });
    expect(await numbersOf(found)).toEqual(unseen);
    expect([await shas(), sent]).toEqual([[], []]);
    const sharers = new Set([7]);
    expect(
      await numbersOf({ ...found, pullRequests: [...found.pullRequests, pullRequest(7, 'shared')], sharers }),
    ).toEqual([]);
    expect(await shas()).toContain('shared');
  },
);

test('a pull request that shares nothing is not observed', async () => {
  for (const events of [[told(8)], null])
    expect(await numbersOf({ pullRequests: [pullRequest(8, 'other')], events })).toEqual([]);
  expect(await shas()).toEqual(['other']);
  expect(sent.map(({ task }) => task)).toEqual(['drain-outbox']);
});

test('of all that are open, one that only an earlier observation saw is not open any more', async () => {
  observed = { ...observed, observation: 10n };
  expect(await numbersOf({ pullRequests: [pullRequest(8, 'shared')], events: null })).toEqual([]);
  const known = await database.prisma.openPullRequest.findMany({ where: { repositoryId: 1n } });
  expect(known.map(({ number }) => number)).toEqual([8]);
  expect(sent.map(({ task }) => task).toSorted()).toEqual([
    'drain-outbox',
    'find-bypass',
    'reconcile-pull-request',
  ]);
});

test('an observation that knew other stacks saves nothing, and the whole repository is observed', async () => {
  const stacks = [{ number: 1, base: 'main', size: 2, places: [{ pullRequest: 8, position: 2 }] }];
  await database.prisma.repository.update({ where: { id: 1n }, data: { stacks } });
  expect(await saved({ pullRequests: [pullRequest(8, 'other')], events: [told(8)] })).toMatchObject({
    isOutdated: true,
  });
  expect([await shas(), sent.map(({ task }) => task)]).toEqual([[], ['reconcile-repository']]);
  await saved({ pullRequests: [pullRequest(8, 'other')], events: null, stacks: [] });
  expect(await shas()).toEqual(['other']);
});

// The embedded database has one connection: no two transactions meet there.
test.skipIf(!process.env.TEST_DATABASE_URL)(
  'an observation sees what the one before it saved, and its status that was written meanwhile',
  async () => {
    const reading = { pullRequests: [pullRequest(8, 'other')], events: [told(8)] };
    const { prisma, sql } = database;
    const isWaitingForLock = async () =>
      (
        await prisma.$queryRaw<object[]>`SELECT 1 FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`
      ).length > 0;
    let later: Promise<Saved> | undefined;
    await sql.transaction(async (tx) => {
      await tx.query('lock', 'SELECT 1 FROM repositories WHERE id = 1 FOR NO KEY UPDATE');
      later = saved(reading);
      await vi.waitFor(async () => expect(await isWaitingForLock()).toBe(true));
      await tx.query(
        'written',
        `INSERT INTO head_statuses (repository_id, sha, state, description, observation, is_waiting, urgency,
          not_before, written_state, written_description, written_at)
        SELECT 1, 'other', 'success', '${freeText}', 7, false, 0, $1, 'success', '${freeText}', now()`,
        [seenAt],
      );
    });
    expect(await later).toMatchObject({ differing: 0 });
    expect(sent).toEqual([]);
  },
);

test('what a later observation decided stays', async () => {
  await saved({ pullRequests: [pullRequest(8, 'other')], events: [told(8)] });
  await database.prisma.headStatus.updateMany({ data: { observation: 9n, description: 'Later' } });
  await saved({ pullRequests: [pullRequest(8, 'other')], events: [told(8)] });
  const [status] = await database.prisma.headStatus.findMany();
  expect(status).toMatchObject({ description: 'Later', observation: 9n });
});

test('a pull request that comes to a head which a later observation judged without it is observed anew', async () => {
  const both = { pullRequests: [pullRequest(8, 'shared'), pullRequest(7, 'shared')], events: [told(8)] };
  // The later one, which saved first, knew only of 7.
  await database.prisma.headStatus.create({
    data: {
      repositoryId: 1n,
      sha: 'shared',
      state: 'success',
      description: 'Later',
      observation: 9n,
      isWaiting: false,
      urgency: 0,
      notBefore: seenAt,
    },
  });
  expect(await numbersOf({ ...both, sharers: new Set([7]) })).toEqual([]);
  expect(await database.prisma.headStatus.findMany()).toMatchObject([{ description: 'Later' }]);
  const again = () => sent.filter(({ task }) => task === 'reconcile-pull-request').map(({ about }) => about);
  expect(again()).toEqual(['1#8/null']);
  // Once it was, it is known.
  sent.length = 0;
  observed = { ...observed, observation: 10n };
  await saved({ ...both, sharers: new Set([7]) });
  expect(again()).toEqual([]);
});

test('nothing is saved that was seen before the clock was set or corrected', async () => {
  const { now, elapsed } = observed.clockThen;
  observed.clockThen = { now: now + 8 * 3_600_000, elapsed };
  const reading = { pullRequests: [pullRequest(8, 'a')], events: [told(8)] };
  await expect(saved(reading)).rejects.toMatchObject({ until: expect.any(Date) });
  expect(await shas()).toEqual([]);
});
