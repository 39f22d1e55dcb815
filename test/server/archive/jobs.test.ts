// Jobs that wait while a database moves.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { carriedTasks } from '../../../src/server/archive/contents.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { connectDatabase } from '../../../src/database/connect.ts';
import { createJobQueue, type JobQueue, waitingJobs } from '../../../src/database/queue/queue.ts';
import { jobs, taskNames } from '../../../src/database/queue/jobs.ts';
import {
  another,
  embedded,
  exportTo,
  made,
  makeArchive,
  newKey,
  odd,
  on,
  removeArchive,
  take,
  type Where,
  withSums,
  written,
} from './made-archive.ts';

beforeAll(makeArchive);
afterAll(removeArchive);

describe('jobs that wait', () => {
  let there: Where;
  const keys = { secretKey: newKey, secretKeyPrevious: null };
  const inHours = (hours: number) => new Date(systemClock.now() + hours * 3_600_000);
  const command = jobs.answerComment(2n, {
    commentId: '7',
    number: 5,
    person: { id: 1, login: 'ada' },
    at: made.madeAt,
    text: `/holdfast freeze ${odd[0]!.slice(0, 30)}`,
    installationId: null,
  });
  const later = jobs.reconcileClosedHeads(3n, inHours(2));

  async function withQueue<Result>(where: Where, work: (queue: JobQueue) => Promise<Result>) {
    const database = await connectDatabase(where);
    const queue = createJobQueue(database, systemClock);
    try {
      return await work(queue);
    } finally {
      await database.close();
    }
  }
  const waitingIn = (where: Where) =>
    on(where, async (connection) => (await connection.query(waitingJobs(), [taskNames])).rows);

  beforeAll(async () => {
    const where = embedded();
    await take(where);
    await withQueue(where, async (queue) => {
      await queue.send([command]);
      await queue.exchange([], [{ task: 'answer-comment', jobs: 1 }]);
      await queue.send([
        jobs.reconcileMergeQueue(2n, 'main'),
        jobs.reconcileRepository(3n, inHours(1)),
        jobs.sweep(),
        later,
        { ...jobs.readDelivery('9', 'guid'), attempt: 3, at: inHours(0) },
        jobs.findBypass(3n, 5),
        jobs.tellRenamed(3n, 'master', null, inHours(0)),
        jobs.noteRules({ repositoryId: 3n }),
        jobs.endSessions(1),
        jobs.announceRequest(3n, 'c0ffee00-0000-4000-8000-000000000001'),
        jobs.answerSlack('request'),
        jobs.replyInSlack('request'),
        jobs.writeComment(2n, { commentId: '7', number: 5, since: made.madeAt }),
        jobs.fillActorKeys({ after: '0', isAgain: false }, inHours(0)),
        jobs.tellAuthors('c0ffee00-0000-4000-8000-000000000002', [1n], inHours(0)),
        jobs.correctStatus(2n, 'sha', { id: '1', state: 'success', description: '', by: 'eve', byId: 2 }),
      ]);
    });
    there = await another();
    await take(there, { file: await exportTo(where, 'with-jobs'), keys });
  });

  test('go along where nothing sends them again, also one that a process has taken', async () => {
    const waiting = await waitingIn(there);
    expect(waiting.map(({ task }) => task as string).toSorted()).toEqual(carriedTasks.toSorted());
    const comment = waiting.find(({ task }) => task === 'write-comment');
    expect(comment).toMatchObject({ key: '7', lane: 'write-comment 7' });
    const due = new Map(waiting.map(({ task, due }) => [task, due as Date]));
    expect(due.get('reconcile-closed-heads')).toEqual(later.at);
    const rooms = carriedTasks.map((task) => ({ task, jobs: 9 }));
    const taken = await withQueue(there, (queue) => queue.exchange([], rooms));
    const found = new Map(taken.map(({ job }) => [job.task, job]));
    expect(found.get('answer-comment')).toEqual({ ...command, attempt: 0, owner: expect.any(String) });
    expect(found.get('read-delivery')).toEqual({ ...jobs.readDelivery('9', 'guid'), attempt: 3 });
    expect(found.size).toBe(carriedTasks.length - 1);
  });

  test('are replaced where they stay behind: their repositories are asked for again', async () => {
    const { rows } = await on(there, (connection) =>
      connection.query(
        `SELECT id::int AS id, reconcile_requested_at AS at FROM repositories
         WHERE reconcile_requested_at IS NOT NULL ORDER BY id`,
      ),
    );
    const at = new Date(made.madeAt);
    expect(rows).toEqual([
      { id: 2, at },
      { id: 3, at },
    ]);
  });

  test('are none in a file of the first version, which had none', async () => {
    const path = await written('without-jobs', ([header, ...lines]) => {
      const { jobs: _, ...rest } = JSON.parse(header!) as { jobs: unknown };
      return withSums([JSON.stringify(rest), ...lines]);
    });
    const target = embedded();
    await take(target, { file: path });
    expect(await waitingIn(target)).toEqual([]);
  });
});
