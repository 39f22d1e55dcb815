// Runs in a thread of its own, for one calendar after the other: `readInWorker` starts it, and ends it.
import { parentPort } from 'node:worker_threads';
import { shownLine } from './calendar-objects.ts';
import { SourceUnreadable } from './source-window.ts';
import { type CalendarQuestion, readEvents, type SourceEvents } from './source-events.ts';

/** How reading a calendar went. */
export type WorkerAnswer = { events: SourceEvents } | { unreadable: string };

function answerTo(question: CalendarQuestion): WorkerAnswer {
  try {
    return { events: readEvents(question) };
  } catch (error) {
    // Whatever goes wrong between text and windows is the calendar's.
    const { message } = error as Error;
    return {
      unreadable: error instanceof SourceUnreadable ? message : `cannot be read: ${shownLine(message)}`,
    };
  }
}

parentPort!.on('message', (question: CalendarQuestion) => parentPort!.postMessage(answerTo(question)));
// It begins to count its time now.
parentPort!.postMessage(null);
