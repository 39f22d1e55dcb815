import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';

/** Milliseconds. */
const resolution = 5;

/** How many milliseconds the event loop was kept at once, at most, while something was done, and what that gave. */
export async function loopDelayOf<Result>(work: () => Promise<Result>): Promise<[number, Result]> {
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  const result = await work();
  // It notices what kept the loop when it comes around.
  await setTimeout(4 * resolution);
  delay.disable();
  return [Math.round(delay.max / 1e6), result];
}
