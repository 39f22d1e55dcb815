import type { ResourceLimits } from 'node:worker_threads';
import { inThreads, NoAnswer } from '../../time/threads.ts';
import type { WorkerAnswer } from './calendar-worker.ts';
import type { CalendarQuestion, SourceEvents } from './source-events.ts';
import { SourceUnreadable } from './source-window.ts';

/** Milliseconds for reading a calendar. */
const threadPatience = 2000;

const file = new URL('./calendar-worker.ts', import.meta.url);

const unreadable: Record<NoAnswer['why'], string> = {
  late: `takes more than ${threadPatience / 1000} s to read`,
  busy: 'cannot be read now: this service has too much to do',
  large: 'needs too much memory to read',
  ended: 'cannot be read',
};

/** Reads calendars in threads with these limits of memory. */
export function readerWith(limits: ResourceLimits): (question: CalendarQuestion) => Promise<SourceEvents> {
  const ask = inThreads<CalendarQuestion, WorkerAnswer>(file, {
    atOnce: 2,
    patience: threadPatience,
    ...limits,
  });
  return async (question) => {
    const answer = await ask(question).catch((error: unknown) => {
      throw new SourceUnreadable(unreadable[error instanceof NoAnswer ? error.why : 'ended']);
    });
    if ('unreadable' in answer) throw new SourceUnreadable(answer.unreadable);
    return answer.events;
  };
}

/**
 * Reads a calendar in a thread: a stranger's file keeps nobody else waiting.
 * @throws SourceUnreadable, whatever went wrong.
 */
export const readInWorker = readerWith({ maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 });
