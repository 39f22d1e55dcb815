import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import { SourceUnreadable } from './source-window.ts';
import type { WorkerMessage } from './calendar-worker.ts';
import type { CalendarQuestion, SourceEvents } from './source-events.ts';

/** Milliseconds for reading a calendar, and for a thread to begin. */
const patience = 2000;
const patienceToBegin = 20_000;
/** So many threads at once, each with so many MiB. */
const fewAtOnce = pLimit(2);
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };

/**
 * Reads a calendar in a thread, which ends when it takes long or grows: a stranger's file keeps nobody else waiting. What
 * the thread prints goes nowhere.
 * @throws SourceUnreadable, whatever went wrong.
 */
export const readInWorker = (question: CalendarQuestion): Promise<SourceEvents> =>
  fewAtOnce(async () => {
    let worker: Worker | null = null;
    try {
      const file = new URL('./calendar-worker.ts', import.meta.url);
      worker = new Worker(file, { resourceLimits, env: {}, execArgv: [], stdout: true, stderr: true });
      worker.stdout.resume();
      worker.stderr.resume();
      return await answerOf(worker, question);
    } catch (error) {
      throw error instanceof SourceUnreadable ? error : new SourceUnreadable('cannot be read');
    } finally {
      await worker?.terminate();
    }
  });

function answerOf(worker: Worker, question: CalendarQuestion): Promise<SourceEvents> {
  return new Promise((resolve, reject) => {
    const fail = (message: string) => reject(new SourceUnreadable(message));
    let timer = setTimeout(fail, patienceToBegin, 'cannot be read now: this service has too much to do');
    worker.on('message', (message: WorkerMessage) => {
      clearTimeout(timer);
      if (message === 'ready') {
        timer = setTimeout(fail, patience, `takes more than ${patience / 1000} s to read`);
        worker.postMessage(question);
      } else if ('events' in message) resolve(message.events);
      else fail(message.unreadable);
    });
    worker.once('error', ({ code }: NodeJS.ErrnoException) =>
      fail(code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'needs too much memory to read' : 'cannot be read'),
    );
    worker.once('exit', () => {
      clearTimeout(timer);
      fail('cannot be read');
    });
  });
}
