// Runs in a thread of its own, for one text after the other: `searchInThread` starts it.
import { parentPort } from 'node:worker_threads';
import { matcherOfLeaf } from '../../conditions/judge-leaf.ts';
import { readLeafOnce } from '../../conditions/parse-leaf.ts';
import type { LongSearch } from '../../conditions/search-ahead.ts';

/** Whether a text has what a condition looks for. */
function answerTo({ condition, author, text }: LongSearch): boolean {
  const matcher = matcherOfLeaf(readLeafOnce(condition).leaf!)!;
  return (matcher.usesAuthor ? matcher.of(author!) : matcher.value)(text);
}

parentPort!.on('message', (search: LongSearch) => parentPort!.postMessage(answerTo(search)));
// It begins to count its time now.
parentPort!.postMessage(null);
