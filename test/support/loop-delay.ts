import { setTimeout } from 'node:timers/promises';
import { onOrdinaryMachine, threadTime } from './cpu-time.ts';

/** Milliseconds. */
const resolution = 5;

/**
 * How many milliseconds of processor time the event loop was kept at once, at most, while something was done, and what
 * that gave. Processor time, because a busy machine keeps everybody waiting, and of an ordinary machine, because it also
 * makes everything slow.
 */
export async function loopDelayOf<Result>(work: () => Promise<Result>): Promise<[number, Result]> {
  let longest = 0;
  let before = threadTime();
  const ticks = setInterval(() => {
    const now = threadTime();
    longest = Math.max(longest, now - before);
    before = now;
  }, resolution);
  const result = await work();
  // It notices what kept the loop when it comes around.
  await setTimeout(4 * resolution);
  clearInterval(ticks);
  return [Math.round(onOrdinaryMachine(longest)), result];
}
