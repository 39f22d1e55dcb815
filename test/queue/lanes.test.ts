// Jobs with a lane: one of each runs at a time, whoever takes, and what is asked for meanwhile runs once more.
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { inLanes, jobs } from '../../src/database/queue/jobs.ts';
import { createJobQueue, isOurTurn, type JobQueue, type TakenJob } from '../../src/database/queue/queue.ts';
import { openTestDatabase } from '../support/database.ts';
import { TestClock } from '../support/test-clock.ts';

const clock = new TestClock('2026-03-01T09:00:00Z');
const inSeconds = (seconds: number) => new Date(clock.now() + seconds * 1000);
const pass = async (seconds: number) => void (await clock.setTime(inSeconds(seconds)));
/** A task whose jobs have lanes. */
const laned = inLanes('drain-outbox', null, (id: number, at?: Date) => ({
  ...{ about: id, at },
  data: { installationId: String(id) },
}));
let database: Database;
let queue: JobQueue;

beforeAll(async () => {
  database = await clock.drive(await openTestDatabase());
  queue = createJobQueue(database, clock);
});
afterEach(() => database.prisma.job.deleteMany());
afterAll(() => database.close());

const take = (done: TakenJob[] = [], kept: TakenJob[] = []) =>
  queue.exchange(done, [{ task: 'drain-outbox', jobs: 10, inLanes: true }], kept);
const lanesOf = (taken: TakenJob[]) => taken.map(({ job }) => job.lane).toSorted();
const send = (...ids: number[]) => queue.send(ids.map((id) => laned(id)));
const hasTurn = async ({ job }: TakenJob) => {
  const [row] = await database.sql.query<{ is: boolean }>('is our turn', `SELECT ${isOurTurn('$1')} AS is`, [
    job.turn,
  ]);
  return row!.is;
};

test('one of each lane is taken; what is asked for while it runs, however often, runs once more', async () => {
  await send(1, 2);
  const first = await take();
  expect(lanesOf(first)).toEqual(['drain-outbox 1', 'drain-outbox 2']);
  await send(1);
  await send(1, 1);
  expect(await take()).toEqual([]);
  // The finished job is deleted and the next one taken by one statement.
  const second = await take(first);
  expect(lanesOf(second)).toEqual(['drain-outbox 1']);
  expect(await take(second)).toEqual([]);
  expect(await database.prisma.job.count()).toBe(0);
});

test('one waits for a lane, at the earliest instant that was asked for', async () => {
  await queue.send([laned(1, inSeconds(60))]);
  await queue.send([laned(1, inSeconds(30))]);
  await queue.send([laned(1, inSeconds(90))]);
  await pass(29);
  expect(await take()).toEqual([]);
  await pass(1);
  const taken = await take();
  expect(lanesOf(taken)).toEqual(['drain-outbox 1']);
  await pass(60);
  expect(await take(taken)).toEqual([]);
});

test('a lane that pauses is left in peace, whoever asks earlier, before or after', async () => {
  await send(1);
  const running = await take();
  await send(1);
  await queue.send([{ ...laned(1, inSeconds(30)), notBefore: inSeconds(30) }]);
  await send(1);
  expect(await take(running)).toEqual([]);
  await pass(29);
  await send(1);
  expect(await take()).toEqual([]);
  await pass(1);
  const after = await take();
  expect(lanesOf(after)).toEqual(['drain-outbox 1']);
  await send(1);
  expect(lanesOf(await take(after))).toEqual(['drain-outbox 1']);
});

test('a process that stood still lost its turn: it changes nothing, and another one has the lane', async () => {
  await send(1);
  const [before] = await take();
  expect(await hasTurn(before!)).toBe(true);
  await pass(9);
  expect(await take()).toEqual([]);
  await pass(1);
  const [after] = await take();
  expect(after!.job).toMatchObject({ lane: 'drain-outbox 1', key: '1' });
  expect([await hasTurn(before!), await hasTurn(after!)]).toEqual([false, true]);
  // It comes to life, keeps and ends what it had, and the lane still is the other's.
  await pass(5);
  await queue.renew([before!]);
  await send(1);
  expect(await take([before!])).toEqual([]);
  await queue.release([before!]);
  expect(await take()).toEqual([]);
  await pass(5);
  expect(lanesOf(await take())).toEqual(['drain-outbox 1']);
});

test('a process keeps what it works on, however long it stood still, unless another one was faster', async () => {
  await send(1);
  const mine = await take();
  await pass(20);
  expect(await take([], mine)).toEqual([]);
  expect(await hasTurn(mine[0]!)).toBe(true);
  await queue.renew(mine);
  expect(await take()).toEqual([]);
});

test('what is handed back is taken at once, before what was asked for meanwhile', async () => {
  await send(1);
  const back = await take();
  await send(1);
  await queue.release(back);
  const again = await take();
  expect(lanesOf(again)).toEqual(['drain-outbox 1']);
  expect(lanesOf(await take(again))).toEqual(['drain-outbox 1']);
});

test('a version that knows no lanes takes its own tasks beside them, and the lanes of no others', async () => {
  await send(1);
  await queue.send([jobs.reconcileRepository(1n)]);
  const [mine] = await take();
  await send(1);
  const theirs = await queue.exchange([], [{ task: 'reconcile-repository', jobs: 10 }]);
  expect(theirs.map(({ job }) => job)).toEqual([expect.not.objectContaining({ lane: expect.anything() })]);
  expect(await queue.exchange(theirs, [{ task: 'reconcile-repository', jobs: 10 }])).toEqual([]);
  expect(lanesOf(await take([mine!]))).toEqual(['drain-outbox 1']);
});

test('PostgreSQL itself refuses two of one lane', async () => {
  await send(1);
  await take();
  await send(1);
  await expect(database.prisma.job.updateMany({ data: { isTaken: true } })).rejects.toThrow(/unique/i);
});

const workers = 6;
const program = fc.array(
  fc.record({
    lanes: fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 4 }),
    pause: fc.nat({ max: 3 }),
  }),
  { minLength: 1, maxLength: 30 },
);

test('whatever is sent and taken at once: never two of a lane, no error, and each asking is followed by a run', async () => {
  await fc.assert(
    fc.asyncProperty(program, async (steps) => {
      const running = new Set<string>();
      const begun = new Map<string, number>();
      const asked = new Map<string, number>();
      let time = 0;
      let isOver = false;
      const work = async () => {
        let done: TakenJob[] = [];
        for (let idle = 0; !isOver || idle < 2;) {
          // What was asked before the last one was sent may have seen nothing.
          const isAfter = isOver;
          const taken = await queue.exchange(done, [{ task: 'drain-outbox', jobs: 2, inLanes: true }]);
          idle = isAfter && taken.length === 0 && done.length === 0 ? idle + 1 : 0;
          for (const { job } of taken) {
            expect(running).not.toContain(job.key);
            running.add(job.key);
            begun.set(job.key, ++time);
          }
          await turn();
          for (const { job } of taken) running.delete(job.key);
          done = taken;
        }
      };
      const all = Array.from({ length: workers }, work);
      for (const { lanes, pause } of steps) {
        for (const lane of lanes) asked.set(String(lane), ++time);
        await send(...lanes);
        for (let count = 0; count < pause; count++) await turn();
      }
      isOver = true;
      await Promise.all(all);
      expect(await database.prisma.job.count()).toBe(0);
      for (const [lane, at] of asked) expect(begun.get(lane)).toBeGreaterThan(at);
    }),
    { numRuns: 15 },
  );
});
