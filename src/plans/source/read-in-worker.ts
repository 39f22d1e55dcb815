import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import type { WorkerAnswer } from './calendar-worker.ts';
import type { CalendarQuestion, SourceEvents } from './source-events.ts';
import { SourceUnreadable } from './source-window.ts';

/** Milliseconds for reading a calendar, and for a thread to begin. */
const patience = 2000;
const patienceToBegin = 20_000;
/** So many threads at once, each with so many MiB. */
const fewAtOnce = pLimit(2);
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };
/** A thread waits so many milliseconds for another calendar: beginning one costs more than reading most calendars. */
const idleFor = 5000;

/** Threads that wait for a calendar, and when each is given up. */
const idle = new Map<Worker, NodeJS.Timeout>();

/**
 * Reads a calendar in a thread, which ends when it takes long or grows: a stranger's file keeps nobody else waiting. What
 * the thread prints goes nowhere.
 * @throws SourceUnreadable, whatever went wrong.
 */
export const readInWorker = (question: CalendarQuestion): Promise<SourceEvents> =>
  fewAtOnce(async () => {
    let worker: Worker | null = null;
    let answer: WorkerAnswer;
    try {
      worker = takeIdle() ?? (await beginThread());
      worker.postMessage(question);
      answer = (await nextMessage(
        worker,
        patience,
        `takes more than ${patience / 1000} s to read`,
      )) as WorkerAnswer;
      rest(worker);
    } catch (error) {
      await worker?.terminate();
      if (error instanceof SourceUnreadable) throw error;
      const isLarge = (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
      throw new SourceUnreadable(isLarge ? 'needs too much memory to read' : 'cannot be read');
    }
    if ('unreadable' in answer) throw new SourceUnreadable(answer.unreadable);
    return answer.events;
  });

function takeIdle(): Worker | null {
  const [first] = idle;
  if (!first) return null;
  const [worker, timer] = first;
  idle.delete(worker);
  clearTimeout(timer);
  worker.ref();
  return worker;
}

function rest(worker: Worker): void {
  worker.unref();
  const end = setTimeout(() => {
    idle.delete(worker);
    void worker.terminate();
  }, idleFor);
  idle.set(worker, end.unref());
}

async function beginThread(): Promise<Worker> {
  const file = new URL('./calendar-worker.ts', import.meta.url);
  const worker = new Worker(file, { resourceLimits, env: {}, execArgv: [], stdout: true, stderr: true });
  worker.stdout.resume();
  worker.stderr.resume();
  // Without a listener an error would end the process.
  worker.on('error', () => idle.delete(worker));
  try {
    await nextMessage(worker, patienceToBegin, 'cannot be read now: this service has too much to do');
    return worker;
  } catch (error) {
    await worker.terminate();
    throw error;
  }
}

/** What a thread says next. @throws SourceUnreadable if it says nothing for so many milliseconds, or its error. */
async function nextMessage(worker: Worker, patience: number, late: string): Promise<unknown> {
  const silence = new AbortController();
  const giveUp = (why: string) => silence.abort(new SourceUnreadable(why));
  const end = () => giveUp('cannot be read');
  const timer = setTimeout(giveUp, patience, late);
  worker.once('exit', end);
  try {
    const [message] = await once(worker, 'message', { signal: silence.signal });
    return message;
  } catch (error) {
    throw silence.signal.aborted ? silence.signal.reason : error;
  } finally {
    clearTimeout(timer);
    worker.off('exit', end);
  }
}
