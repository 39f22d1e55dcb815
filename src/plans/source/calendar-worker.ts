// Runs in a thread of its own, for one calendar: `readInWorker` starts it, and ends it.
import { parentPort } from 'node:worker_threads';
import { SourceUnreadable } from './source-window.ts';
import { type CalendarQuestion, readEvents, type SourceEvents } from './source-events.ts';

/** What the thread says: that it waits for its calendar, or how reading it went. */
export type WorkerMessage = 'ready' | { events: SourceEvents } | { unreadable: string };

const say = (message: WorkerMessage) => parentPort!.postMessage(message);

function answerTo(question: CalendarQuestion): WorkerMessage {
  try {
    return { events: readEvents(question) };
  } catch (error) {
    // Whatever goes wrong between text and windows is the calendar's.
    const { message } = error as Error;
    return { unreadable: error instanceof SourceUnreadable ? message : `cannot be read: ${message.slice(0, 100)}` };
  }
}

parentPort!.once('message', (question: CalendarQuestion) => say(answerTo(question)));
say('ready');
