import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { Job, TaskName } from '../queue/jobs.ts';
import type { JobQueue, Sent, Taken } from '../queue/queue.ts';
import { within } from '../within.ts';

/**
 * How many workers a task has, and how many jobs one takes at once. A task that yields takes none while this process
 * works on others, for a few seconds.
 */
export type Takers = { takers: number; jobs: number; yields?: boolean };

type Queue = Pick<JobQueue, 'exchange' | 'keep' | 'giveBack' | 'listen'>;
/** Runs jobs of a task. If it throws, they could not even be sent again. */
type Work = (task: TaskName, jobs: Job[]) => Promise<void>;

/** Milliseconds, like all times here. How often it checks for jobs without a notification. */
const lookEvery = 15_000;
/** How often it reports that the process is alive, well within the lifetime that the queue allows. */
const keepEvery = 3000;
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
/** Work that takes longer hangs. Its jobs are given up and taken again. */
const longestWork = 15 * 60_000;

/**
 * Takes jobs of all tasks for this process's takers. It hears when jobs are sent and when they are due, sets one timer
 * for the earliest, and looks now and then for jobs that it did not hear of.
 */
export class Fetcher {
  readonly #queue: Queue;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #work: Work;
  /** Of each task its takers, how many of them are free, whether jobs may be waiting for them, and since when it yields. */
  readonly #tasks: Map<TaskName, Takers & { free: number; mayWait: boolean; yieldsSince: number | null }>;
  readonly #working = new Set<Taken>();
  #done: Taken[] = [];
  /** One is under way; who asks meanwhile is served by one more. */
  #round: Promise<void> | null = null;
  #isAskedAgain = false;
  #timer: unknown = null;
  #timerAt = Infinity;
  /** When to look at the latest, whether it works or not. */
  #looksAt = -Infinity;
  #isStopped = false;
  #listener: { close(): Promise<void> } | null = null;
  #finished = Promise.withResolvers<null>();
  #handedOut = 0;
  #gathering: NodeJS.Timeout | null = null;
  /** In real time, not by the injected clock, because it depends on how long takes last. */
  #restsUntil = -Infinity;

  constructor(queue: Queue, clock: Clock, log: Logger, takers: Map<TaskName, Takers>, work: Work) {
    this.#queue = queue;
    this.#clock = clock;
    this.#log = log;
    this.#work = work;
    this.#tasks = new Map(
      [...takers].map(([task, each]) => [
        task,
        { ...each, free: each.takers, mayWait: true, yieldsSince: null },
      ]),
    );
  }

  async start(): Promise<void> {
    try {
      this.#listener = await this.#queue.listen((sent) => this.#hear(sent));
    } catch (error) {
      this.#log.error({ err: error }, 'job queue');
    }
    await this.#look();
  }

  /** Takes no more jobs, waits for running ones, and hands back those that do not end in time. */
  async stop(patience: number): Promise<void> {
    this.#isStopped = true;
    this.#clock.clearTimeout(this.#timer);
    await this.#listener?.close();
    await within(patience, this.#allFinished());
    await this.#take();
    if (this.#working.size > 0) await this.#queue.giveBack([...this.#working]);
  }

  /** Resolves when nothing runs and nothing is due. @returns how many jobs this process has taken so far. */
  async settled(): Promise<number> {
    do {
      await this.#allFinished();
      await this.#takeWhatever();
    } while (this.#working.size > 0 || (this.#mayAnyWait() && !this.#isStopped));
    return this.#handedOut;
  }

  #mayAnyWait(): boolean {
    return [...this.#tasks.values()].some(({ mayWait }) => mayWait);
  }

  async #allFinished(): Promise<void> {
    while (this.#working.size > 0) await this.#finished.promise;
  }

  #hear(sent: Sent | null): void {
    if (!sent) void this.#takeWhatever();
    else if (sent.due > this.#clock.now()) this.#lookBy(sent.due);
    else {
      // This version does not know tasks of a later version.
      const tasks = this.#tasks.get(sent.task);
      if (tasks) tasks.mayWait = true;
      const rest = this.#restsUntil - performance.now();
      if (this.#round || rest > 0) this.#gather(Math.max(rest, gatherFor));
      else void this.#take();
    }
  }

  #lookBy(instant: number): void {
    this.#looksAt = Math.min(this.#looksAt, instant);
    this.#setTimer(instant);
  }

  #setTimer(instant: number): void {
    if (this.#isStopped || instant >= this.#timerAt) return;
    this.#clock.clearTimeout(this.#timer);
    this.#timerAt = instant;
    const wait = Math.max(0, instant - this.#clock.now());
    this.#timer = this.#clock.setTimeout(() => {
      this.#timerAt = Infinity;
      void this.#look();
    }, wait);
  }

  /** Says what this process works on, hears when the next job is due, and takes what is due now. */
  async #look(): Promise<void> {
    const now = this.#clock.now();
    const isDue = now >= this.#looksAt;
    if (isDue) this.#looksAt = now + lookEvery;
    if (isDue || this.#working.size > 0) await this.#keep();
    if (isDue) await this.#takeWhatever();
    else if (this.#done.length > 0) await this.#take();
    this.#setTimer(this.#looksAt);
  }

  async #keep(): Promise<void> {
    try {
      const wait = await this.#queue.keep([...this.#working]);
      if (wait !== null) this.#lookBy(this.#clock.now() + wait);
      if (this.#working.size > 0) this.#setTimer(this.#clock.now() + keepEvery);
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (this.#isStopped) return;
    this.#log.error({ err: error }, 'job queue');
    this.#lookBy(this.#clock.now() + pause);
  }

  #takeWhatever(): Promise<void> {
    for (const tasks of this.#tasks.values()) tasks.mayWait = true;
    return this.#take();
  }

  #take(): Promise<void> {
    if (this.#round) this.#isAskedAgain = true;
    else this.#round = this.#takeAll();
    return this.#round;
  }

  async #takeAll(): Promise<void> {
    do {
      this.#isAskedAgain = false;
      await this.#takeOnce();
    } while (this.#isAskedAgain);
    // In the same turn as the question, so that nobody asks in between and is not heard.
    this.#round = null;
  }

  async #takeOnce(): Promise<void> {
    const tasks = this.#isStopped
      ? []
      : [...this.#tasks].filter(([task, { free, mayWait }]) => free > 0 && mayWait && !this.#yieldsNow(task));
    const rooms = tasks.map(([task, { free, jobs }]) => ({ task, jobs: free * jobs }));
    const done = this.#done.splice(0);
    if (rooms.length === 0 && done.length === 0) return;
    for (const [, each] of tasks) each.mayWait = false;
    const began = performance.now();
    try {
      const taken = await this.#queue.exchange(done, rooms);
      const ofTasks = Map.groupBy(taken, ({ job }) => job.task);
      for (const { task, jobs } of rooms) this.#handOutAll(task, ofTasks.get(task) ?? [], jobs);
      if (taken.length > 0) this.#setTimer(this.#clock.now() + keepEvery);
    } catch (error) {
      this.#done.push(...done);
      for (const [, each] of tasks) each.mayWait = true;
      this.#fail(error);
    }
    const ended = performance.now();
    this.#restsUntil = ended + Math.min(longestRest, restFactor * (ended - began));
  }

  #yieldsNow(task: TaskName): boolean {
    const own = this.#tasks.get(task)!;
    if (!own.yields) return false;
    const doesAnother = [...this.#tasks].some(([name, { free, takers }]) => name !== task && free < takers);
    const now = performance.now();
    own.yieldsSince = doesAnother ? (own.yieldsSince ?? now) : null;
    const yieldsNow = own.yieldsSince !== null && now - own.yieldsSince < longestYield;
    // Nothing else may ask again in time.
    if (yieldsNow) this.#gather(longestRest);
    return yieldsNow;
  }

  #handOutAll(task: TaskName, taken: Taken[], asked: number): void {
    const tasks = this.#tasks.get(task)!;
    if (taken.length === asked) tasks.mayWait = true;
    for (let start = 0; start < taken.length; start += tasks.jobs)
      void this.#handOut(task, taken.slice(start, start + tasks.jobs));
  }

  async #handOut(task: TaskName, batch: Taken[]): Promise<void> {
    const tasks = this.#tasks.get(task)!;
    tasks.free--;
    this.#handedOut += batch.length;
    for (const taken of batch) this.#working.add(taken);
    const isDone = await this.#finish(
      task,
      batch.map(({ job }) => job),
    );
    tasks.free++;
    for (const taken of batch) this.#working.delete(taken);
    if (isDone) this.#done.push(...batch);
    this.#finished.resolve(null);
    this.#finished = Promise.withResolvers();
    if (tasks.mayWait && tasks.free >= roomyShare * tasks.takers) void this.#take();
    else if (tasks.mayWait || this.#working.size === 0) this.#gather(gatherFor);
  }

  #gather(milliseconds: number): void {
    if (this.#gathering) return;
    this.#gathering = setTimeout(() => {
      this.#gathering = null;
      void this.#take();
    }, milliseconds);
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
