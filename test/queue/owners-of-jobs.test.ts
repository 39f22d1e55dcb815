import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { type Job, jobs, type TaskName, taskNames } from '../../src/database/queue/jobs.ts';
import { createJobQueue, type JobQueue } from '../../src/database/queue/queue.ts';
import { tasks } from '../../src/server/worker.ts';
import { openTestDatabase } from '../support/database.ts';
import { TestClock } from '../support/test-clock.ts';

const clock = new TestClock('2026-03-01T09:00:00Z');
const now = new Date(clock.now());
const [account, installation, repository, event] = [8n, 7n, 5n, 3n];
const plan = '00000000-0000-4000-8000-000000000001';
let database: Database;
let queue: JobQueue;

beforeAll(async () => {
  database = await clock.drive(await openTestDatabase());
  queue = createJobQueue(database, clock);
  const { prisma } = database;
  const acme = { id: account, login: 'Acme', loginKey: 'acme', type: 'Organization', seenAt: now };
  await prisma.account.create({ data: acme });
  await prisma.installation.create({ data: { id: installation, accountId: account, permissions: {} } });
  const web = {
    id: repository,
    accountId: account,
    installationId: installation,
    name: 'web',
    nameKey: 'web',
  };
  await prisma.repository.create({ data: { ...web, private: false, archived: false, seenAt: now } });
  await prisma.freezePlan.create({
    data: {
      ...{ id: plan, accountId: account, name: 'P', reason: 'P', include: ['*'], exclude: [], holds: [] },
      ...{ start: '2026-03-01T09:00:00', timezone: 'UTC', except: [], environments: [], keptAt: now },
      ...{ matchingConditions: [], excludeConditions: [], createdAt: now, createdBy: {} },
      ...{ updatedAt: now, updatedBy: {} },
    },
  });
  const told = { type: 'freeze.started', outcome: 'success', trigger: 'clock', metadata: {} };
  await prisma.auditEvent.create({ data: { ...told, id: event, accountId: account, receivedAt: now } });
  await prisma.slackRequest.create({
    data: { id: 'one', app: 'A1', teamId: 'T1', userId: 'U1', asked: {}, receivedAt: now },
  });
});
afterAll(() => database.close());

const ofRepository = '7';
const comment = { commentId: '1', number: 1, person: { id: 1, login: 'bob' }, at: '', text: '' };

/** A job of each task, and for whom it is. */
const owners: [Job, string][] = [
  [jobs.reconcileRepository(repository), ofRepository],
  [jobs.reconcilePullRequest(repository, { number: 1, installationId: null }), ofRepository],
  // Through the installation of the event: the repository may have moved.
  [jobs.reconcilePullRequest(repository, { number: 2, installationId: '9' }), '9'],
  [jobs.reconcileClosedHeads(repository), ofRepository],
  [jobs.reconcileMergeQueue(repository, 'main'), ofRepository],
  [jobs.askMergeStates(repository, now), ofRepository],
  [jobs.correctStatus(repository, 'a', { id: '1', state: '', description: '', by: '', byId: 1 }), '7'],
  [jobs.findBypass(repository, 1), ofRepository],
  [jobs.tellRenamed(repository, 'main', null, now), ofRepository],
  [jobs.endExemptions(repository), ofRepository],
  [jobs.decideDeployments(repository), ofRepository],
  [jobs.reviewDeployments(repository), ofRepository],
  [jobs.lookAtRun(repository, '1', { environment: null, installationId: null }), ofRepository],
  [jobs.noteRules({ repositoryId: repository }), ofRepository],
  [jobs.findDeployments(repository), ofRepository],
  [jobs.answerComment(repository, { ...comment, installationId: null }), ofRepository],
  [jobs.announceRequest(repository, 'r'), ofRepository],
  [jobs.writeComment(repository, { requestId: 'r' }), ofRepository],
  [jobs.drainOutbox(installation), ofRepository],
  [jobs.syncInstallation(installation), ofRepository],
  [jobs.syncRepository(repository, null), ofRepository],
  [jobs.settleInstantHold(repository), ofRepository],
  [jobs.noteRules({ accountId: account }), 'account 8'],
  [jobs.keepPlans(account), 'account 8'],
  [jobs.keepTeams(account), 'account 8'],
  [jobs.keepPlan(plan), 'account 8'],
  [jobs.followSource(plan), 'account 8'],
  [jobs.sendMessages(account, 'w'), 'account 8'],
  [jobs.tellAuthors('d', [event], now), 'account 8'],
  [jobs.answerSlack('one'), 'Slack T1'],
  [jobs.replyInSlack('one'), 'Slack T1'],
];

/** For all owners at once, or without asking anybody. */
const ofNobody: TaskName[] = [
  ...(['sync-installations', 'recover-deliveries', 'read-delivery', 'sweep'] as const),
  ...(['record-boundaries', 'remind-of-freezes', 'fill-actor-keys'] as const),
  // They ask only the database.
  ...(['send-notices', 'end-sessions'] as const),
];

test('every task is for one owner, or for nobody', () => {
  expect(new Set([...owners.map(([{ task }]) => task), ...ofNobody])).toEqual(new Set(taskNames));
});

test.each(owners.map(([job, owner]) => [job.task, job.about, job, owner] as const))(
  'a job of %s about %s is for its owner when it is taken',
  async (task, _about, job, owner) => {
    await queue.send([{ ...job, at: now }]);
    const inLanes = tasks.find((each) => each.task === task)!.inLanes ?? false;
    const taken = await queue.exchange([], [{ task, jobs: 10, inLanes }]);
    expect(taken.map((each) => each.job.owner)).toEqual([owner]);
    await queue.exchange(taken, []);
  },
);

test('a job about a repository that is not known, or without an installation, is for nobody', async () => {
  await queue.send([jobs.reconcileRepository(404n)]);
  const [taken] = await queue.exchange([], [{ task: 'reconcile-repository', jobs: 10 }]);
  expect(taken!.job).not.toHaveProperty('owner');
});

test('of every task an owner keeps at most half of the workers, or as many as it can have itself', () => {
  const more = tasks.flatMap(({ task, takers, ofOwner = takers / 2 }) => (ofOwner > takers / 2 ? task : []));
  // Of the calendars of an owner, one is read at a time: the others wait in its line.
  expect(more).toEqual(['follow-source']);
});
