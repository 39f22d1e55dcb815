import type { Logger } from 'pino';
import { type Clock, within } from '../../time/clock.ts';
import { withPatience } from '../patience.ts';
import type { Takers } from './define-task.ts';
import type { Job, TaskName } from './jobs.ts';
import type { JobQueue, SentJob, TakenJob } from './queue.ts';
import { type Batch, Turns } from './turns.ts';

type Queue = Pick<JobQueue, 'exchange' | 'renew' | 'release' | 'listen'>;
/** Runs jobs of a task. If it throws, they could not even be sent again. */
type Work = (task: TaskName, jobs: Job[]) => Promise<void>;

/** Milliseconds, like all times here. How often it checks for jobs without a notification. */
const lookForJobsEvery = 15_000;
/** How often it reports that the process is alive, well within the lifetime that the queue allows. */
const renewEvery = 3000;
/** How long it waits after the database failed. */
const pause = 1000;
/** Finished jobs are deleted with the next take, or after this time. */
const gatherFor = 10;
/**
 * After a take, it rests this many times as long as the take lasted, unless workers wait for more jobs. So a single event
 * is served at once, and under load one take serves many.
 */
const restFactor = 5;
const longestRest = 100;
/** How long a task yields to others. */
const longestYield = 5000;
/** If more jobs may wait, this share of a task's workers must be free before the next take, to save statements. */
const roomyShare = 1 / 4;
/** For the database to hear at the end what is done and what is not. */
const lastPatience = 500;
/** Work that takes longer hangs. Its jobs are given up and taken again. */
const longestWork = 15 * 60_000;

/**
 * - `waiting`: it knows of no job. A message, a worker that ends, or the alarm wakes it: it then polls, or gathers first.
 * - `gathering`: a job is due or done, but one take will serve several. In real time, because it depends on how long
 *   takes last.
 * - `polling`: a take is under way. Who asks meanwhile is served by one more (`again`), or after gathering (`soon`).
 * - `stopping`: it takes nothing more, whatever happens.
 */
type State =
  | { name: 'waiting'; restsUntil: number }
  | { name: 'gathering'; restsUntil: number; timer: NodeJS.Timeout }
  | Polling
  | { name: 'stopping' };
type Polling = { name: 'polling'; again: boolean; soon: number | null; ended: Promise<void> };

/**
 * Of a task: how many of its workers are free, whether jobs may be waiting for them, since when it yields, and the jobs
 * that this process took and that wait for their turn.
 */
type Worked = Takers & { free: number; mayWait: boolean; yieldsSince: number | null; turns: Turns };

/** A job that this process took, and its end. */
type Working = { taken: TakenJob; ended: Promise<unknown>; end: (value?: unknown) => void };

/**
 * Takes jobs of all tasks for this process's takers. It hears when jobs are sent and when they are due, sets one alarm
 * for the earliest, and looks now and then for jobs that it did not hear of.
 */
export class Fetcher {
  readonly #queue: Queue;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #work: Work;
  readonly #tasks: Map<TaskName, Worked>;
  #state: State = { name: 'waiting', restsUntil: -Infinity };
  /** The jobs that workers have, by their ids, each with the promise of its end. */
  readonly #working = new Map<bigint, Working>();
  #done: TakenJob[] = [];
  #takenSoFar = 0;
  #isLarger = false;
  #alarm: { at: number; timer: unknown } = { at: Infinity, timer: null };
  #heartbeat: unknown = null;
  #listener: { close(): Promise<void> } | null = null;

  constructor(queue: Queue, clock: Clock, log: Logger, takers: Map<TaskName, Takers>, work: Work) {
    this.#queue = queue;
    this.#clock = clock;
    this.#log = log;
    this.#work = work;
    this.#tasks = new Map(
      [...takers].map(([task, each]) => [
        task,
        { ...each, free: each.takers, mayWait: true, yieldsSince: null, turns: new Turns(each) },
      ]),
    );
  }

  async start(): Promise<void> {
    this.#listener = await this.#queue.listen(
      (sent) => this.#hear(sent),
      (error) => this.#log.error({ err: error }, 'job queue'),
    );
    this.#heartbeat = this.#clock.setInterval(() => {
      if (this.#working.size > 0) void this.#renew();
    }, renewEvery);
    await this.#look();
  }

  /** Takes no more jobs, waits for running ones, and hands back those that do not end in time. */
  async stop(patience: number): Promise<void> {
    const stopsBy = performance.now() + patience;
    const left = () => Math.max(0, stopsBy - performance.now());
    const before = this.#state;
    this.#state = { name: 'stopping' };
    this.#clock.clearTimeout(this.#alarm.timer);
    if (before.name === 'gathering') clearTimeout(before.timer);
    await this.#listener?.close();
    if (before.name === 'polling') await within(left(), before.ended);
    const unbegun = [...this.#tasks.values()].flatMap(({ turns }) => turns.clear());
    for (const { id } of unbegun) this.#working.delete(id);
    await within(left(), this.#allFinished());
    this.#clock.clearInterval(this.#heartbeat);
    const unfinished = [...unbegun, ...this.#mine()];
    // If the database does not answer, others take the jobs when this process no longer keeps them.
    await withPatience(lastPatience, async () => {
      await this.#exchange([]);
      if (unfinished.length > 0)
        await this.#queue.release(unfinished).catch((error: unknown) => this.#fail(error));
    });
  }

  /** Resolves when nothing runs and nothing is due. @returns how many jobs this process has taken so far. */
  async settled(): Promise<number> {
    const mayAnyWait = () => [...this.#tasks.values()].some(({ mayWait }) => mayWait);
    do {
      await this.#allFinished();
      await this.#pollForAll();
    } while (this.#working.size > 0 || (mayAnyWait() && this.#state.name !== 'stopping'));
    return this.#takenSoFar;
  }

  async #allFinished(): Promise<void> {
    while (this.#working.size > 0) await Promise.all([...this.#working.values()].map(({ ended }) => ended));
  }

  #mine(): TakenJob[] {
    return [...this.#working.values()].map(({ taken }) => taken);
  }

  #hear(sent: SentJob | null): void {
    if (!sent) void this.#pollForAll();
    else if (sent.due > this.#clock.now()) this.#lookBy(sent.due);
    else {
      // This version does not know tasks of a later version.
      const tasks = this.#tasks.get(sent.task);
      if (tasks) tasks.mayWait = true;
      this.#pollOrGather();
    }
  }

  #lookBy(instant: number): void {
    if (this.#state.name === 'stopping' || instant >= this.#alarm.at) return;
    this.#clock.clearTimeout(this.#alarm.timer);
    const timer = this.#clock.setTimeout(
      () => {
        this.#alarm = { at: Infinity, timer: null };
        void this.#look();
      },
      Math.max(0, instant - this.#clock.now()),
    );
    this.#alarm = { at: instant, timer };
  }

  /** Takes what is due now, and hears when the next job is due. */
  async #look(): Promise<void> {
    this.#lookBy(this.#clock.now() + lookForJobsEvery);
    await this.#pollForAll();
    await this.#renew();
  }

  /** Says what this process works on. */
  async #renew(): Promise<void> {
    try {
      const wait = await this.#queue.renew(this.#mine());
      if (wait !== null) this.#lookBy(this.#clock.now() + wait);
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (this.#state.name === 'stopping') return;
    this.#log.error({ err: error }, 'job queue');
    this.#lookBy(this.#clock.now() + pause);
  }

  #pollForAll(): Promise<void> {
    for (const tasks of this.#tasks.values()) tasks.mayWait = true;
    return this.#poll();
  }

  /** After a take that lasted, what is asked for meanwhile is taken together. */
  #pollOrGather(): void {
    const rest = 'restsUntil' in this.#state ? this.#state.restsUntil - performance.now() : gatherFor;
    if (rest <= 0) void this.#poll();
    else this.#gather(Math.max(rest, gatherFor));
  }

  #gather(milliseconds: number): void {
    const before = this.#state;
    if (before.name === 'polling') before.soon = Math.min(before.soon ?? Infinity, milliseconds);
    if (before.name !== 'waiting') return;
    const timer = setTimeout(() => void this.#poll(), milliseconds);
    this.#state = { ...before, name: 'gathering', timer };
  }

  /** Takes once, or once more after the take under way. */
  #poll(): Promise<void> {
    const before = this.#state;
    if (before.name === 'stopping') return Promise.resolve();
    if (before.name === 'polling') {
      before.again = true;
      return before.ended;
    }
    if (before.name === 'gathering') clearTimeout(before.timer);
    const state: Polling = { name: 'polling', again: false, soon: null, ended: Promise.resolve() };
    this.#state = state;
    state.ended = this.#takeAll(state);
    return state.ended;
  }

  async #takeAll(state: Polling): Promise<void> {
    let rest: number;
    do {
      state.again = false;
      const began = performance.now();
      await this.#exchange(this.#openTasks());
      rest = Math.min(longestRest, restFactor * (performance.now() - began));
    } while (state.again && this.#state === state);
    if (this.#state !== state) return;
    // In the same turn as the question, so that nobody asks in between and is not heard.
    this.#state = { name: 'waiting', restsUntil: performance.now() + rest };
    if (state.soon !== null) this.#gather(Math.max(rest, state.soon));
  }

  /** The tasks that have free workers and may have jobs for them. */
  #openTasks(): [TaskName, Worked][] {
    return [...this.#tasks].filter(
      ([, each]) =>
        each.free > 0 &&
        each.mayWait &&
        (each.newestToo ? !each.turns.isFull : !each.turns.isCrowded) &&
        !(each.yields && this.#yieldsNow(each)),
    );
  }

  #yieldsNow(own: Worked): boolean {
    const doesAnother = [...this.#tasks.values()].some((each) => each !== own && each.free < each.takers);
    const now = performance.now();
    own.yieldsSince = doesAnother ? (own.yieldsSince ?? now) : null;
    const yieldsNow = own.yieldsSince !== null && now - own.yieldsSince < longestYield;
    // Nothing else may ask again in time.
    if (yieldsNow) this.#gather(longestRest);
    return yieldsNow;
  }

  /** Deletes finished jobs, and takes others for the free workers of some tasks. */
  async #exchange(tasks: [TaskName, Worked][]): Promise<void> {
    // Each of the jobs that are done together with others may be alone, and needs a worker.
    const capacities = tasks.map(([task, each]) => {
      const jobs = each.together ? each.free : each.free * each.jobs;
      const newest = each.newestToo ? this.#halfOf(jobs) : 0;
      return { task, jobs, newest, inLanes: each.inLanes ?? false };
    });
    const done = this.#done.splice(0);
    if (capacities.length === 0 && done.length === 0) return;
    for (const [, each] of tasks) each.mayWait = false;
    try {
      const taken = await this.#queue.exchange(done, capacities, this.#mine());
      const ofTasks = Map.groupBy(taken, ({ job }) => job.task);
      for (const { task, jobs } of capacities) this.#handOutAll(task, ofTasks.get(task) ?? [], jobs);
    } catch (error) {
      this.#done.push(...done);
      for (const [, each] of tasks) each.mayWait = true;
      this.#fail(error);
    }
  }

  /** Of an odd number the smaller and the larger half in turns, so that one free worker serves both. */
  #halfOf(jobs: number): number {
    this.#isLarger = !this.#isLarger;
    return this.#isLarger ? Math.ceil(jobs / 2) : Math.floor(jobs / 2);
  }

  #handOutAll(task: TaskName, taken: TakenJob[], asked: number): void {
    const tasks = this.#tasks.get(task)!;
    // After a process stood still, it takes its own jobs again: that only keeps them.
    const others = taken.filter(({ id }) => !this.#working.has(id));
    this.#takenSoFar += others.length;
    for (const each of others) {
      const { promise: ended, resolve: end } = Promise.withResolvers();
      this.#working.set(each.id, { taken: each, ended, end });
    }
    tasks.turns.add(others);
    this.#begin(task, tasks);
    if (taken.length === asked && !(tasks.newestToo && tasks.turns.isCrowded)) tasks.mayWait = true;
    // No worker's end asks for more if those that were taken wait for their turn.
    if (tasks.mayWait && tasks.free > 0 && tasks.turns.size > 0) this.#pollOrGather();
  }

  /** Free workers take the batches whose turn it is. */
  #begin(task: TaskName, tasks: Worked): void {
    for (let batch; tasks.free > 0 && (batch = tasks.turns.next()) !== null;)
      void this.#handOut(task, tasks, batch);
  }

  async #handOut(task: TaskName, tasks: Worked, batch: Batch): Promise<void> {
    tasks.free--;
    const jobs = batch.jobs.map(({ job }) => job);
    const isDone = await this.#finish(task, jobs);
    tasks.free++;
    tasks.turns.end(batch);
    const finished = batch.jobs.map(({ id }) => this.#working.get(id));
    for (const { id } of batch.jobs) this.#working.delete(id);
    if (isDone) this.#done.push(...batch.jobs);
    const wasCrowded = tasks.turns.isCrowded;
    this.#begin(task, tasks);
    // Whatever was asked of its lane meanwhile waited for this, or what was left while too many waited here.
    if (tasks.inLanes || (wasCrowded && !tasks.turns.isCrowded)) tasks.mayWait = true;
    if (tasks.mayWait && tasks.free >= roomyShare * tasks.takers) void this.#poll();
    else if (tasks.mayWait || this.#working.size === 0) this.#gather(gatherFor);
    for (const each of finished) each?.end();
  }

  /** Whether the work was done. Jobs of which it was not are taken again when their process no longer keeps them. */
  async #finish(task: TaskName, jobs: Job[]): Promise<boolean> {
    try {
      const work = this.#work(task, jobs).then(() => true);
      return (await within(longestWork, work)) ?? false;
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }
}
