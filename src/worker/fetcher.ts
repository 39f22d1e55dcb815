import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { Job, TaskName } from '../queue/jobs.ts';
import type { JobQueue, Taken } from '../queue/queue.ts';
import { within } from '../within.ts';

/** How many takers a task has, and how many jobs one takes at once. */
export type Takers = { takers: number; jobs: number };

/** Milliseconds, as all here. It looks so often for what it was not told of. */
const lookEvery = 15_000;
/** And while it works, since it has to say so, well within the lifetime that the queue gives a process. */
const keepEvery = 3000;
/** After the database failed. */
const pause = 1000;
/** What takes longer hangs: its jobs are given up, and taken again. */
const longestWork = 15 * 60_000;

/**
 * Takes jobs of all tasks for this process's takers. It is told of jobs that are sent and when they are due, sets one
 * timer for the earliest, and looks every now and then for what it was not told of.
 */
export class Fetcher {
  readonly #queue: Pick<JobQueue, 'exchange' | 'keep' | 'giveBack' | 'listen'>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #work: (task: TaskName, jobs: Job[]) => Promise<void>;
  /** Of each task how many jobs its takers take, and how many takers are free. */
  readonly #tasks: Map<TaskName, Takers & { free: number; mayHaveMore: boolean }>;
  readonly #working = new Set<Taken>();
  #done: Taken[] = [];
  #round: Promise<void> | null = null;
  #isAskedAgain = false;
  #timer: unknown = null;
  #looksAt = Infinity;
  #isStopped = false;
  #listener: { close(): Promise<void> } | null = null;
  #finished = Promise.withResolvers<void>();

  constructor(
    queue: Pick<JobQueue, 'exchange' | 'keep' | 'giveBack' | 'listen'>,
    clock: Clock,
    log: Logger,
    takers: Map<TaskName, Takers>,
    work: (task: TaskName, jobs: Job[]) => Promise<void>,
  ) {
    this.#queue = queue;
    this.#clock = clock;
    this.#log = log;
    this.#work = work;
    this.#tasks = new Map(
      [...takers].map(([task, each]) => [task, { ...each, free: each.takers, mayHaveMore: false }]),
    );
  }

  async start(): Promise<void> {
    try {
      this.#listener = await this.#queue.listen((due) => this.#hear(due));
    } catch (error) {
      this.#log.error({ err: error }, 'job queue');
    }
    await this.#look();
  }

  /** Takes no more, waits for what runs, and hands back what does not end in time. */
  async stop(patience: number): Promise<void> {
    this.#isStopped = true;
    this.#clock.clearTimeout(this.#timer);
    await this.#listener?.close();
    await within(patience, this.#drained());
    await this.#round;
    await this.#queue.exchange(this.#done, []);
    if (this.#working.size > 0) await this.#queue.giveBack([...this.#working]);
  }

  /** Resolves when nothing runs and nothing is due any more. */
  async settled(): Promise<void> {
    do {
      await this.#drained();
      await this.#take();
    } while (this.#working.size > 0);
  }

  async #drained(): Promise<void> {
    while (this.#working.size > 0) await this.#finished.promise;
  }

  #hear(due: number): void {
    if (due <= this.#clock.now()) void this.#take();
    else this.#lookBy(due);
  }

  /** Looks again at an instant at the latest. */
  #lookBy(instant: number): void {
    if (this.#isStopped || instant >= this.#looksAt) return;
    this.#clock.clearTimeout(this.#timer);
    this.#looksAt = instant;
    const wait = Math.max(0, instant - this.#clock.now());
    this.#timer = this.#clock.setTimeout(() => void this.#look(), wait);
  }

  /** Says what this process works on, hears what comes next, and takes what is due. */
  async #look(): Promise<void> {
    this.#looksAt = Infinity;
    const every = this.#working.size > 0 ? keepEvery : lookEvery;
    try {
      const wait = await this.#queue.keep([...this.#working]);
      this.#lookBy(this.#clock.now() + Math.min(every, wait ?? every));
    } catch (error) {
      this.#fail(error);
    }
    await this.#take();
  }

  #fail(error: unknown): void {
    if (this.#isStopped) return;
    this.#log.error({ err: error }, 'job queue');
    this.#lookBy(this.#clock.now() + pause);
  }

  /** One round at a time; who asks meanwhile is served by one more. */
  #take(): Promise<void> {
    if (this.#round) this.#isAskedAgain = true;
    else this.#round = this.#takeAll().finally(() => (this.#round = null));
    return this.#round;
  }

  async #takeAll(): Promise<void> {
    do {
      this.#isAskedAgain = false;
      await this.#takeOnce();
    } while (this.#isAskedAgain);
  }

  async #takeOnce(): Promise<void> {
    const open = this.#isStopped ? [] : [...this.#tasks].filter(([, { free }]) => free > 0);
    const rooms = open.map(([task, { free, jobs }]) => ({ task, jobs: free * jobs }));
    const done = this.#done;
    this.#done = [];
    if (rooms.length === 0 && done.length === 0) return;
    let taken: Taken[];
    try {
      taken = await this.#queue.exchange(done, rooms);
    } catch (error) {
      this.#done = [...done, ...this.#done];
      this.#fail(error);
      return;
    }
    if (taken.length > 0) this.#lookBy(this.#clock.now() + keepEvery);
    const ofTasks = Map.groupBy(taken, ({ job }) => job.task);
    for (const { task, jobs } of rooms) {
      const ofTask = ofTasks.get(task) ?? [];
      const takers = this.#tasks.get(task)!;
      takers.mayHaveMore = ofTask.length === jobs;
      for (let start = 0; start < ofTask.length; start += takers.jobs)
        void this.#handOut(task, ofTask.slice(start, start + takers.jobs));
    }
  }

  async #handOut(task: TaskName, batch: Taken[]): Promise<void> {
    const takers = this.#tasks.get(task)!;
    takers.free--;
    for (const taken of batch) this.#working.add(taken);
    const isDone = await this.#finish(
      task,
      batch.map(({ job }) => job),
    );
    takers.free++;
    for (const taken of batch) this.#working.delete(taken);
    if (isDone) this.#done.push(...batch);
    this.#finished.resolve();
    this.#finished = Promise.withResolvers();
    // What is done need not be forgotten at once while others work: the next round does that.
    if (takers.mayHaveMore || this.#working.size === 0) void this.#take();
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
