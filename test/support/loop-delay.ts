import { setTimeout } from 'node:timers/promises';

/** Milliseconds. */
const resolution = 5;

/**
 * How many milliseconds of processor time the event loop was kept at once, at most, while something was done, and what
 * that gave. Processor time, because a busy machine keeps everybody waiting.
 */
export async function loopDelayOf<Result>(work: () => Promise<Result>): Promise<[number, Result]> {
  let longest = 0;
  let before = busy();
  const ticks = setInterval(() => {
    const now = busy();
    longest = Math.max(longest, now - before);
    before = now;
  }, resolution);
  const result = await work();
  // It notices what kept the loop when it comes around.
  await setTimeout(4 * resolution);
  clearInterval(ticks);
  return [Math.round(longest), result];
}

/** Milliseconds of processor time of this thread. */
function busy(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
