import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { jobs } from '../../src/database/queue/jobs.ts';
import { createJobQueue, type JobQueue, type TakenJob } from '../../src/database/queue/queue.ts';
import { openTestDatabase } from '../support/database.ts';
import { expectAtMost, statementsDuring } from '../support/statements.ts';
import { TestClock } from '../support/test-clock.ts';

const clock = new TestClock('2026-03-01T09:00:00Z');
const inSeconds = (seconds: number) => new Date(clock.now() + seconds * 1000);
const all = [
  { task: 'reconcile-repository', jobs: 1000 },
  { task: 'drain-outbox', jobs: 1000 },
] as const;
let database: Database;
let queue: JobQueue;

beforeAll(async () => {
  database = await clock.drive(await openTestDatabase());
  queue = createJobQueue(database, clock);
});
afterEach(() => database.prisma.job.deleteMany());
afterAll(() => database.close());

const take = () => queue.exchange([], [...all]);
const keysOf = (taken: TakenJob[]) => taken.map(({ job }) => `${job.task} ${job.key}`).toSorted();

describe('sending', () => {
  test('many jobs, of several tasks, with what they carry', async () => {
    await queue.send([
      jobs.drainOutbox(7n),
      jobs.reconcileRepository(1n),
      { ...jobs.reconcileRepository(2n), attempt: 3 },
    ]);
    const taken = await take();
    expect(keysOf(taken)).toEqual(['drain-outbox 7', 'reconcile-repository 1', 'reconcile-repository 2']);
    expect(taken.find(({ job }) => job.key === '2')!.job).toEqual({
      task: 'reconcile-repository',
      data: { repositoryId: '2' },
      about: '2',
      key: '2',
      attempt: 3,
    });
  });

  test('of jobs with one key, one waits, even if they are sent together; a running one does not count', async () => {
    await queue.send([jobs.drainOutbox(7n), jobs.drainOutbox(7n)]);
    await queue.send([jobs.drainOutbox(7n)]);
    expect(await take()).toHaveLength(1);
    await queue.send([jobs.drainOutbox(7n)]);
    expect(await take()).toHaveLength(1);
  });

  test('not before their instant, by the clock of the database', async () => {
    await queue.send([jobs.reconcileRepository(1n, inSeconds(60)), jobs.reconcileRepository(1n)]);
    const present = await take();
    expect(keysOf(present)).toEqual(['reconcile-repository 1']);
    await queue.exchange(present, []);
    await clock.setTime(inSeconds(60));
    expect(keysOf(await take())).toEqual([`reconcile-repository 1@${inSeconds(0).toISOString()}`]);
  });

  test('commits and rolls back with a transaction of the door, and of Prisma', async () => {
    const { sql, prisma } = database;
    await sql.transaction((tx) => queue.send([jobs.drainOutbox(1n)], tx));
    await prisma.$transaction((tx) => queue.send([jobs.drainOutbox(2n)], tx));
    const fail = async (sending: Promise<void>) => {
      await sending;
      throw new Error('no');
    };
    await expect(sql.transaction((tx) => fail(queue.send([jobs.drainOutbox(3n)], tx)))).rejects.toThrow('no');
    const inPrisma = prisma.$transaction((tx) => fail(queue.send([jobs.drainOutbox(4n)], tx)));
    await expect(inPrisma).rejects.toThrow('no');
    expect(keysOf(await take())).toEqual(['drain-outbox 1', 'drain-outbox 2']);
  });

  // The embedded database has one connection, on which nothing overlaps.
  test.skipIf(!inject('postgresUrl'))(
    'a job that waits serves a change only after the change is committed, and its workers hear of it then',
    async () => {
      await queue.send([jobs.drainOutbox(7n)]);
      const heard: string[] = [];
      const listener = await queue.listen(
        (sent) => void (sent && heard.push(sent.task)),
        () => expect.unreachable(),
      );
      await database.sql.transaction(async (tx) => {
        await queue.send([jobs.drainOutbox(7n)], tx);
        expect(await take()).toEqual([]);
        expect(heard).toEqual([]);
      });
      await expect.poll(() => heard).toEqual(['drain-outbox']);
      expect(await take()).toHaveLength(1);
      expect(await take()).toEqual([]);
      await listener.close();
    },
  );

  test('after a row that is new, and not after one that is there', async () => {
    const row = {
      name: 'test delivery',
      text: `INSERT INTO webhook_deliveries (guid, event, received_at) VALUES ($3, $4, $5)
        ON CONFLICT DO NOTHING RETURNING guid`,
      values: ['guid-1', 'push', new Date(clock.now())],
    };
    expect(await queue.sendAfter(row, [jobs.drainOutbox(1n), jobs.reconcileRepository(1n)])).toBe(true);
    expect(await queue.sendAfter(row, [jobs.drainOutbox(2n)])).toBe(false);
    expect(keysOf(await take())).toEqual(['drain-outbox 1', 'reconcile-repository 1']);
    expect(await database.prisma.webhookDelivery.count({ where: { guid: 'guid-1' } })).toBe(1);
  });

  test('two senders of the same jobs in different orders do not wait for each other', async () => {
    const some = Array.from({ length: 200 }, (_, index) => jobs.drainOutbox(BigInt(index)));
    const rounds = Array.from({ length: 10 }, (_, round) => queue.send(round % 2 ? some : some.toReversed()));
    await Promise.all(rounds);
    expect(await take()).toHaveLength(200);
  });
});

describe('taking', () => {
  test('no more than there is room for, the oldest first, and none twice', async () => {
    for (const id of [1n, 2n, 3n]) {
      await queue.send([jobs.drainOutbox(id)]);
      await clock.setTime(inSeconds(1));
    }
    const room = [{ task: 'drain-outbox', jobs: 2 } as const];
    expect(keysOf(await queue.exchange([], room))).toEqual(['drain-outbox 1', 'drain-outbox 2']);
    expect(keysOf(await queue.exchange([], room))).toEqual(['drain-outbox 3']);
    expect(await queue.exchange([], room)).toEqual([]);
  });

  test('some of those that became due last, each once', async () => {
    for (const id of [1n, 2n, 3n, 4n, 5n]) {
      await queue.send([jobs.drainOutbox(id)]);
      await clock.setTime(inSeconds(1));
    }
    const room = (count: number, newest: number) => [{ task: 'drain-outbox', jobs: count, newest } as const];
    expect(keysOf(await queue.exchange([], room(2, 1)))).toEqual(['drain-outbox 1', 'drain-outbox 5']);
    expect(keysOf(await queue.exchange([], room(1, 1)))).toEqual(['drain-outbox 4']);
    expect(keysOf(await queue.exchange([], room(4, 2)))).toEqual(['drain-outbox 2', 'drain-outbox 3']);
  });

  test('two workers that take at once share the jobs', async () => {
    await queue.send(Array.from({ length: 100 }, (_, index) => jobs.drainOutbox(BigInt(index))));
    const room = [{ task: 'drain-outbox', jobs: 60 } as const];
    const [one, other] = await Promise.all([queue.exchange([], room), queue.exchange([], room)]);
    expect(new Set([...one!, ...other!].map(({ id }) => id)).size).toBe(one!.length + other!.length);
    const rest = await queue.exchange([], room);
    expect(one!.length + other!.length + rest.length).toBe(100);
  });

  test('deletes finished jobs', async () => {
    await queue.send([jobs.drainOutbox(1n), jobs.drainOutbox(2n)]);
    const [one] = await take();
    await queue.exchange([one!], []);
    expect(await database.prisma.job.findMany()).toEqual([expect.objectContaining({ isTaken: true })]);
  });
});

describe('keeping', () => {
  test('a job that its process no longer keeps is taken again after 10 s; a kept one is not', async () => {
    await queue.send([jobs.drainOutbox(1n), jobs.drainOutbox(2n)]);
    const taken = await take();
    const mine = taken.filter(({ job }) => job.key === '1');
    for (let second = 0; second < 12; second += 3) {
      expect(await take()).toEqual([]);
      await clock.setTime(inSeconds(3));
      await queue.renew(mine);
    }
    expect(keysOf(await take())).toEqual(['drain-outbox 2']);
  });

  test('says when the next job is due', async () => {
    expect(await queue.renew([])).toBeNull();
    await queue.send([
      jobs.drainOutbox(1n, inSeconds(90)),
      jobs.drainOutbox(1n, inSeconds(30)),
      jobs.drainOutbox(2n),
    ]);
    expect(await queue.renew([])).toBe(30_000);
  });

  test('says when a job of another process can be taken, unless that process keeps it', async () => {
    await queue.send([jobs.drainOutbox(1n)]);
    const taken = await take();
    await clock.setTime(inSeconds(4));
    expect(await queue.renew([])).toBe(6000);
    expect(await queue.renew(taken)).toBeNull();
    expect(await queue.renew([])).toBe(10_000);
    await clock.setTime(inSeconds(10));
    expect(await queue.renew([])).toBeNull();
    expect(await take()).toHaveLength(1);
  });

  test('a job that nobody keeps is taken again although another with its key waits', async () => {
    await queue.send([jobs.drainOutbox(1n)]);
    const [one] = await take();
    await queue.send([jobs.drainOutbox(1n, inSeconds(60))]);
    await queue.send([jobs.drainOutbox(1n)]);
    await clock.setTime(inSeconds(10));
    const again = await take();
    expect(keysOf(again)).toEqual(['drain-outbox 1', 'drain-outbox 1']);
    expect(again.map(({ id }) => id)).toContain(one!.id);
  });

  test('a job that is handed back is taken at once, and no other', async () => {
    await queue.send([jobs.drainOutbox(1n), jobs.drainOutbox(2n)]);
    const [back] = await take();
    await queue.release([back!]);
    expect(keysOf(await take())).toEqual(keysOf([back!]));
  });
});

test('a listener hears when jobs are due: at once, and at each instant', async () => {
  const heard: (string | null)[] = [];
  const listener = await queue.listen(
    (sent) => void heard.push(sent && `${sent.task} ${sent.due}`),
    () => expect.unreachable(),
  );
  expect(heard).toEqual([null]);
  const at = inSeconds(60);
  await queue.send([jobs.drainOutbox(1n), jobs.drainOutbox(1n, at), jobs.reconcileRepository(1n, at)]);
  await expect.poll(() => heard.length).toBe(4);
  expect(heard.slice(1).toSorted()).toEqual([
    `drain-outbox ${clock.now() - 60_000}`,
    `drain-outbox ${at.getTime()}`,
    `reconcile-repository ${at.getTime()}`,
  ]);
  await listener.close();
});

test.skipIf(!inject('postgresUrl'))('a listener whose connection breaks listens again', async () => {
  const heard: (string | null)[] = [];
  const failures: unknown[] = [];
  const listener = await queue.listen(
    (sent) => void heard.push(sent && sent.task),
    (error) => void failures.push(error),
  );
  await database.prisma.$executeRaw`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND query LIKE 'LISTEN %'`;
  await expect.poll(() => heard).toEqual([null, null]);
  expect(failures).toHaveLength(1);
  await queue.send([jobs.drainOutbox(1n)]);
  await expect.poll(() => heard).toEqual([null, null, 'drain-outbox']);
  await listener.close();
});

test.skipIf(!inject('postgresUrl'))(
  'each of these is one statement, whatever the number of jobs',
  async () => {
    const many = Array.from({ length: 50 }, (_, index) => [
      jobs.drainOutbox(BigInt(index)),
      jobs.reconcileRepository(BigInt(index)),
    ]).flat();
    expectAtMost(1, await statementsDuring(() => queue.send(many)));
    let taken: TakenJob[] = [];
    expectAtMost(1, await statementsDuring(async () => void (taken = await take())));
    expect(taken).toHaveLength(100);
    expectAtMost(1, await statementsDuring(() => queue.renew(taken)));
    expectAtMost(1, await statementsDuring(() => queue.exchange(taken, [...all])));
  },
);
