import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Deps } from '../../src/deps.ts';
import { Metrics } from '../../src/metrics.ts';
import { type Job, jobs } from '../../src/database/queue/jobs.ts';
import { NotNow, defineTask } from '../../src/database/queue/define-task.ts';
import { TestClock } from '../support/test-clock.ts';

const clock = new TestClock('2026-03-01T09:00:00Z');
const seconds = (count: number) => new Date(clock.now() + count * 1000);

/** The jobs that are sent after work that throws. */
async function sentAfter(thrown: unknown, some: Job[]): Promise<{ sent: Job[]; logs: string[] }> {
  const sent: Job[] = [];
  const logs: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void logs.push(line) });
  const queue = { send: async (more: Job[]) => void sent.push(...more) };
  const run = async () => {
    if (thrown) throw thrown;
  };
  const task = defineTask(jobs.reconcilePullRequest, run, { together: () => 'all' });
  await task.run({ queue, clock, log, metrics: new Metrics() } as unknown as Deps, some);
  return { sent, logs };
}

const told = { number: 5, installationId: '7', changedAt: '2026-03-01T08:59:00Z' };
const pullRequest = jobs.reconcilePullRequest(1n, told);

test('a finished job is not sent again', async () => {
  expect(await sentAfter(null, [pullRequest])).toEqual({ sent: [], logs: [] });
});

test('NotNow: the same jobs at that instant, as one for each thing, and nothing logged', async () => {
  const at = seconds(90);
  const { sent, logs } = await sentAfter(new NotNow(at), [pullRequest, jobs.drainOutbox(7n, seconds(-1))]);
  const suffix = `@${at.toISOString()}`;
  expect(sent).toEqual([
    { ...pullRequest, key: `1#5/7${suffix}`, at },
    { ...jobs.drainOutbox(7n), key: `7${suffix}`, at },
  ]);
  expect(logs).toEqual([]);
});

test('NotNow without an instant: never', async () => {
  expect(await sentAfter(new NotNow(null), [pullRequest])).toEqual({ sent: [], logs: [] });
});

test('NotNow forgets how often it failed before', async () => {
  const { sent } = await sentAfter(new NotNow(seconds(5)), [{ ...pullRequest, attempt: 4 }]);
  expect(sent[0]).not.toHaveProperty('attempt');
});

test('a failed job comes back after pauses that grow to a minute, under one key for each thing', async () => {
  const later = jobs.reconcilePullRequest(1n, { ...told, changedAt: '2026-03-01T08:59:30Z', looks: 2 });
  const { sent, logs } = await sentAfter(new Error('GitHub is down'), [pullRequest, later]);
  expect(sent.map(({ key }) => key)).toEqual(['1#5/7!again', '1#5/7!again']);
  expect(logs.join('')).toContain('a job failed and will be tried again');
  const pauses: number[] = [];
  let job = sent[0]!;
  for (let count = 0; count < 7; count++) {
    pauses.push((job.at!.getTime() - clock.now()) / 1000);
    [job] = (await sentAfter(new Error('still down'), [job])).sent as [Job];
    expect(job.key).toBe('1#5/7!again');
  }
  expect(pauses).toEqual([2, 4, 8, 16, 32, 60, 60]);
  expect(job.data).toEqual(pullRequest.data);
});

test('a job of a lane comes back under its own key, and pauses the lane only if it says so', async () => {
  const at = seconds(90);
  const laned = { ...jobs.drainOutbox(7n), lane: 'drain-outbox 7', turn: 5n };
  for (const [thrown, notBefore] of [
    [new NotNow(at), undefined],
    [new NotNow(at, { pauses: true }), at],
  ] as const)
    expect((await sentAfter(thrown, [laned])).sent).toEqual([
      { ...laned, at, ...(notBefore && { notBefore }) },
    ]);
  const [failed] = (await sentAfter(new Error('GitHub is down'), [laned])).sent;
  expect(failed).toMatchObject({ key: '7', attempt: 1, at: seconds(2) });
});
