import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { beforeEach, expect, test, vi } from 'vitest';
import { type Job, jobs } from '../../src/database/queue/jobs.ts';
import type { Capacity, SentJob, TakenJob } from '../../src/database/queue/queue.ts';
import { Fetcher } from '../../src/database/queue/fetcher.ts';
import { TestClock } from '../support/test-clock.ts';

/** A queue in memory, by the test's clock. */
class FakeQueue {
  readonly waiting: { id: bigint; job: Job; due: number }[] = [];
  readonly done: string[] = [];
  readonly returned: string[] = [];
  exchanges = 0;
  isDown = false;
  /** Real milliseconds. */
  takesFor = 0;
  told: (sent: SentJob | null) => void = () => {};
  readonly #clock: TestClock;
  #ids = 0n;

  constructor(clock: TestClock) {
    this.#clock = clock;
  }

  /** @param isHeard false: the notification was lost. */
  put(job: Job, isHeard = true): void {
    const due = job.at?.getTime() ?? this.#clock.now() - 60_000;
    this.waiting.push({ id: ++this.#ids, job, due });
    if (isHeard) this.told({ task: job.task, due });
  }

  async listen(told: (sent: SentJob | null) => void) {
    this.told = told;
    return { close: async () => {} };
  }

  async exchange(done: TakenJob[], capacities: Capacity[]): Promise<TakenJob[]> {
    if (this.isDown) throw new Error('the database is down');
    if (capacities.length > 0) this.exchanges++;
    const taken = capacities.flatMap(({ task, jobs: most, newest = 0 }) => {
      const all = this.waiting.filter((row) => row.job.task === task && row.due <= this.#clock.now());
      const oldest = all.slice(0, most - newest);
      const due = newest > 0 ? [...oldest, ...all.slice(oldest.length).slice(-newest)] : oldest;
      for (const row of due) this.waiting.splice(this.waiting.indexOf(row), 1);
      return due.map(({ id, job }) => ({ id, job }));
    });
    if (this.takesFor > 0) await sleep(this.takesFor);
    this.done.push(...done.map(({ job }) => job.key));
    return taken;
  }

  async renew(): Promise<number | null> {
    if (this.isDown) throw new Error('the database is down');
    const waits = this.waiting.map(({ due }) => due - this.#clock.now()).filter((wait) => wait > 0);
    return waits.length > 0 ? Math.min(...waits) : null;
  }

  async release(taken: TakenJob[]) {
    this.returned.push(...taken.map(({ job }) => job.key));
  }
}

let clock: TestClock;
let queue: FakeQueue;
const worked: string[][] = [];
const log = pino({ level: 'silent' });
const takers = new Map([
  ['drain-outbox', { takers: 2, jobs: 1 }],
  ['reconcile-repository', { takers: 1, jobs: 3 }],
] as const);

beforeEach(() => {
  clock = new TestClock('2026-03-01T09:00:00Z');
  queue = new FakeQueue(clock);
  worked.length = 0;
});

const note = async (_task: string, some: Job[]) => void worked.push(some.map(({ key }) => key));

async function start(
  work: (task: string, some: Job[]) => Promise<void> = note,
  those: ConstructorParameters<typeof Fetcher>[3] = takers,
): Promise<Fetcher> {
  const fetcher = new Fetcher(queue, clock, log, those, work);
  await fetcher.start();
  return fetcher;
}
/** Not `settled`, which would take what nothing woke for. */
const haveWorked = (batches: number) => vi.waitFor(() => expect(worked).toHaveLength(batches));
const seconds = (count: number) => new Date(clock.now() + count * 1000);

test('a due job is taken when its message comes, and deleted when it is done', async () => {
  const fetcher = await start();
  queue.put(jobs.drainOutbox(1n));
  await haveWorked(1);
  await fetcher.settled();
  expect(queue.done).toEqual(['1']);
});

test('a job for later is taken at its instant, and no later than 50 ms behind it', async () => {
  await start();
  const at = seconds(600);
  queue.put(jobs.drainOutbox(1n, at));
  await clock.tick(600_000 - 1);
  expect(worked).toEqual([]);
  await clock.tick(50);
  await haveWorked(1);
});

test('a job that is sent for an instant before the next look is taken at that instant', async () => {
  await start();
  queue.put(jobs.drainOutbox(1n, seconds(5)));
  await clock.tick(5050);
  await haveWorked(1);
});

test('each of many instants is kept, also those that were planned before it began', async () => {
  queue.put(jobs.drainOutbox(1n, seconds(3)), false);
  await start();
  for (const after of [7, 5, 9]) queue.put(jobs.drainOutbox(1n, seconds(after)));
  for (const [index, after] of [3, 5, 7, 9].entries()) {
    await clock.tick((after - [0, 3, 5, 7][index]!) * 1000 + (index === 0 ? 10 : 0));
    await haveWorked(index + 1);
  }
});

test('a job without a message is found within 15 s', async () => {
  await start();
  queue.put(jobs.drainOutbox(1n), false);
  await clock.tick(15_000);
  await haveWorked(1);
});

test('it takes no more at once than there are takers, and the rest as soon as one is free', async () => {
  const gates: (() => void)[] = [];
  const fetcher = await start(async (task, some) => {
    await note(task, some);
    await new Promise<void>((resolve) => void gates.push(resolve));
  });
  for (const id of [1n, 2n, 3n]) queue.put(jobs.drainOutbox(id));
  for (const id of [4n, 5n, 6n, 7n]) queue.put(jobs.reconcileRepository(id));
  await haveWorked(3);
  expect(worked).toEqual(expect.arrayContaining([['1'], ['2'], expect.arrayContaining(['4'])]));
  gates.shift()!();
  await vi.waitFor(() => expect(worked.flat()).toContain('3'));
  while (queue.done.length < 7) {
    for (const open of gates.splice(0)) open();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await fetcher.settled();
  expect(worked.flat().toSorted()).toEqual(['1', '2', '3', '4', '5', '6', '7']);
});

test('if many wait, a quarter of the takers ask together; those that hang delay nobody', async () => {
  const many = new Map([['drain-outbox', { takers: 16, jobs: 1 }]] as const);
  const gates: (() => void)[] = [];
  const fetcher = await start(async (task, some) => {
    await note(task, some);
    await new Promise<void>((resolve) => void gates.push(resolve));
  }, many);
  for (let id = 0n; id < 80n; id++) queue.put(jobs.drainOutbox(id));
  await haveWorked(16);
  const before = queue.exchanges;
  // All end together, again and again, but for 13 that hang.
  const hanging = gates.splice(0, 13);
  while (worked.length < 80) {
    for (const open of gates.splice(0)) open();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  expect(queue.exchanges - before).toBeLessThan(64 / 2);
  for (let each = gates.shift(); each; each = gates.shift()) each();
  for (const each of hanging) each();
  await fetcher.settled();
  expect(queue.done).toHaveLength(80);
});

test('idle it looks once in 15 s', async () => {
  await start();
  const before = queue.exchanges;
  await clock.tick(60_000);
  expect(queue.exchanges - before).toBe(4);
});

test('when the database is back, it goes on, and deletes jobs that were done meanwhile', async () => {
  const fetcher = await start(async (task, some) => {
    await note(task, some);
    queue.isDown = true;
  });
  queue.put(jobs.drainOutbox(1n));
  await haveWorked(1);
  queue.put(jobs.drainOutbox(2n));
  await clock.tick(3000);
  expect(queue.done).toEqual([]);
  queue.isDown = false;
  await clock.tick(1000);
  await haveWorked(2);
  queue.isDown = false;
  await clock.tick(1000);
  await fetcher.settled();
  expect(queue.done).toEqual(['1', '2']);
});

test('a job whose work could not be saved is not deleted', async () => {
  const fetcher = await start(async () => {
    throw new Error('the database is down');
  });
  queue.put(jobs.drainOutbox(1n));
  await fetcher.settled();
  expect(queue.done).toEqual([]);
});

test('a stopping fetcher takes nothing more, and hands back jobs that do not end in time', async () => {
  const fetcher = await start(async (task, some) => {
    await note(task, some);
    if (some[0]!.key === '2') await new Promise(() => {});
  });
  queue.put(jobs.drainOutbox(1n));
  queue.put(jobs.drainOutbox(2n));
  await haveWorked(2);
  const stopping = fetcher.stop(50);
  queue.put(jobs.drainOutbox(3n));
  await stopping;
  expect(worked).toHaveLength(2);
  expect([queue.done, queue.returned]).toEqual([['1'], ['2']]);
});

test('after a take that lasted, what is heard is taken together', async () => {
  const fetcher = await start(note, new Map([['reconcile-repository', { takers: 4, jobs: 10 }]]));
  await fetcher.settled();
  queue.takesFor = 20;
  const before = queue.exchanges;
  queue.put(jobs.reconcileRepository(1n));
  // In the same turn: the rest is of real time.
  while (queue.done.length === 0) await new Promise((resolve) => setImmediate(resolve));
  for (let id = 2n; id <= 6n; id++) queue.put(jobs.reconcileRepository(id));
  await haveWorked(2);
  expect(worked).toEqual([['1'], ['2', '3', '4', '5', '6']]);
  expect(queue.exchanges).toBe(before + 2);
});

test('a task that yields takes its jobs when no other task works', async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<null>();
  const work = async (task: string, some: Job[]) => {
    await note(task, some);
    if (task === 'drain-outbox') await gate;
  };
  const yielding = new Map([
    ['drain-outbox', { takers: 5, jobs: 1 }],
    ['reconcile-closed-heads', { takers: 1, jobs: 1, yields: true }],
  ] as const);
  await start(work, yielding);
  queue.put(jobs.drainOutbox(1n));
  await haveWorked(1);
  queue.put(jobs.reconcileClosedHeads(7n));
  queue.put(jobs.drainOutbox(2n));
  await haveWorked(2);
  expect(worked).toEqual([['1'], ['2']]);
  open(null);
  await haveWorked(3);
  expect(worked[2]).toEqual(['7']);
});

test('a task yields for 5 s', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  const yielding = new Map([
    ['drain-outbox', { takers: 5, jobs: 1 }],
    ['reconcile-closed-heads', { takers: 1, jobs: 1, yields: true }],
  ] as const);
  const hang = async (task: string, some: Job[]) => {
    await note(task, some);
    if (task === 'drain-outbox') await new Promise(() => {});
  };
  await start(hang, yielding);
  queue.put(jobs.drainOutbox(1n));
  await haveWorked(1);
  queue.put(jobs.reconcileClosedHeads(7n));
  // Nothing else asks again.
  now.mockReturnValue(5001);
  await haveWorked(2);
  expect(worked).toEqual([['1'], ['7']]);
  now.mockRestore();
});

test('work for one repository or owner that does not end keeps no worker from another one', async () => {
  type Told = { repositoryId: string; installationId: string };
  const told = (job: Job) => job.data as Told;
  const rules = {
    takers: 8,
    jobs: 2,
    together: (job: Job) => told(job).repositoryId,
  };
  const ends = Promise.withResolvers();
  const fetcher = await start(
    async (_task, some) => {
      worked.push(some.map((job) => told(job).repositoryId));
      if (told(some[0]!).installationId === 'slow') await ends.promise;
    },
    new Map([['reconcile-pull-request', rules]]),
  );
  const put = (installationId: string, repository: number, number: number) =>
    queue.put({
      ...jobs.reconcilePullRequest(BigInt(repository), { number, installationId }),
      owner: installationId,
    });
  for (let number = 1; number <= 40; number++) put('slow', 1, number);
  await haveWorked(3);
  for (let repository = 2; repository <= 20; repository++) put('slow', repository, 1);
  await haveWorked(4);
  put('quick', 99, 1);
  await haveWorked(5);
  expect(worked.at(-1)).toEqual(['99']);
  // All of it is done at last, each job once.
  ends.resolve(null);
  await fetcher.settled();
  expect(queue.done).toHaveLength(60);
  expect(new Set(queue.done).size).toBe(60);
});

test('while 16 jobs for each worker wait for their turn, the others are left to other processes', async () => {
  const ends = Promise.withResolvers();
  const fetcher = await start(
    async (_task, some) => {
      worked.push(some.map(({ key }) => key));
      await ends.promise;
    },
    new Map([['drain-outbox', { takers: 4, jobs: 1, together: () => 'one' }]]),
  );
  const [working, inTurn, left] = [3, 4 * 16, 20];
  for (let id = 1; id <= working + inTurn + left; id++) queue.put(jobs.drainOutbox(BigInt(id)));
  await vi.waitFor(() => expect(queue.waiting).toHaveLength(left));
  const { exchanges } = queue;
  queue.put(jobs.drainOutbox(999n));
  await clock.tick(15_000);
  expect([queue.waiting.length, queue.exchanges]).toEqual([left + 1, exchanges]);
  ends.resolve(null);
  await fetcher.settled();
  expect(queue.done).toHaveLength(working + inTurn + left + 1);
});

test('where the newest have their turn too, a backlog of one owner keeps no worker from another one', async () => {
  const ends = Promise.withResolvers();
  const fetcher = await start(
    async (_task, some) => {
      worked.push(some.map(({ key }) => key));
      if (some[0]!.owner === 'slow') await ends.promise;
    },
    new Map([['reconcile-repository', { takers: 4, jobs: 1, newestToo: true }]]),
  );
  const [working, inTurn, left] = [2, 4 * 16, 50];
  for (let id = 1; id <= working + inTurn + left; id++)
    queue.put({ ...jobs.reconcileRepository(BigInt(id)), owner: 'slow' }, false);
  await clock.tick(15_000);
  await vi.waitFor(() => expect(queue.waiting.length).toBeLessThanOrEqual(left), { timeout: 60_000 });
  queue.put({ ...jobs.reconcileRepository(999n), owner: 'quick' });
  await haveWorked(working + 1);
  expect(worked.at(-1)).toEqual(['999']);
  // It did not take all of the backlog for that.
  expect(queue.waiting.length).toBeGreaterThan(left / 2);
  ends.resolve(null);
  await fetcher.settled();
  expect(new Set(queue.done).size).toBe(working + inTurn + left + 1);
  expect(queue.done).toHaveLength(working + inTurn + left + 1);
});

test('a process that stops hands back what waits for its turn', async () => {
  const rules = { takers: 8, jobs: 1, together: () => 'one' };
  const ends = Promise.withResolvers();
  const fetcher = await start(
    async (_task, some) => {
      worked.push(some.map(({ key }) => key));
      await ends.promise;
    },
    new Map([['drain-outbox', rules]]),
  );
  for (let id = 1n; id <= 5n; id++) queue.put(jobs.drainOutbox(id));
  await haveWorked(3);
  const stopping = fetcher.stop(60_000);
  ends.resolve(null);
  await stopping;
  expect([queue.done.length, queue.returned.length, worked.length]).toEqual([3, 2, 3]);
});
