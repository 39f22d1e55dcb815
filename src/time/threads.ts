import { once } from 'node:events';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import pLimit from 'p-limit';

/** Milliseconds for a thread to begin. */
const patienceToBegin = 20_000;
/** A thread waits so many milliseconds for another question: beginning one costs more than answering most. */
const idleFor = 5000;

/** Why a thread gave no answer: it takes too long, it could not begin, it needs too much memory, or it ended. */
export class NoAnswer extends Error {
  readonly why: 'late' | 'busy' | 'large' | 'ended';

  constructor(why: NoAnswer['why']) {
    super(`A thread gave no answer: ${why}`);
    this.why = why;
  }
}

/**
 * Answers questions in threads, each of which ends when it takes long or grows: whoever waits for others keeps nobody
 * waiting. What a thread prints goes nowhere.
 * @param file what a thread runs: it says null when it has begun, and answers one question after the other.
 * @param atOnce how many threads there are at once. @param patience milliseconds for an answer.
 * @returns asks a question; @throws NoAnswer, or what went wrong with the thread.
 */
export function inThreads<Question, Answer>(
  file: URL,
  { atOnce, patience, ...resourceLimits }: { atOnce: number; patience: number } & ResourceLimits,
): (question: Question) => Promise<Answer> {
  const few = pLimit(atOnce);
  /** Threads that wait for a question, and when each is given up. */
  const idle = new Map<Worker, NodeJS.Timeout>();

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

  async function begin(): Promise<Worker> {
    const worker = new Worker(file, { resourceLimits, env: {}, execArgv: [], stdout: true, stderr: true });
    worker.stdout.resume();
    worker.stderr.resume();
    // Without a listener an error would end the process.
    worker.on('error', () => idle.delete(worker));
    try {
      await nextMessage(worker, patienceToBegin, 'busy');
      return worker;
    } catch (error) {
      await worker.terminate();
      throw error;
    }
  }

  return (question) =>
    few(async () => {
      let worker: Worker | null = null;
      try {
        worker = takeIdle() ?? (await begin());
        worker.postMessage(question);
        const answer = (await nextMessage(worker, patience, 'late')) as Answer;
        rest(worker);
        return answer;
      } catch (error) {
        await worker?.terminate();
        const isLarge = (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
        throw isLarge ? new NoAnswer('large') : error;
      }
    });
}

/** What a thread says next. @throws NoAnswer if it says nothing for so many milliseconds, or its error. */
async function nextMessage(worker: Worker, patience: number, late: NoAnswer['why']): Promise<unknown> {
  const silence = new AbortController();
  const giveUp = (why: NoAnswer['why']) => silence.abort(new NoAnswer(why));
  const end = () => giveUp('ended');
  const timer = setTimeout(giveUp, patience, late);
  worker.once('exit', end);
  try {
    const [message] = await once(worker, 'message', { signal: silence.signal });
    return message;
  } catch (error) {
    // A thread that fails says why, and exits at once: its error came first.
    throw (error as Error).name === 'AbortError' ? silence.signal.reason : error;
  } finally {
    clearTimeout(timer);
    worker.off('exit', end);
  }
}
