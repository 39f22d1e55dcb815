import type { LongSearch } from '../../conditions/search-ahead.ts';
import { inThreads } from '../../time/threads.ts';

/** Searches a long text for what a condition looks for. It takes linear time, and the largest pattern some seconds. */
export const searchInThread = inThreads<LongSearch, boolean>(new URL('./search-worker.ts', import.meta.url), {
  atOnce: 1,
  patience: 60_000,
  maxOldGenerationSizeMb: 128,
  maxYoungGenerationSizeMb: 16,
});
