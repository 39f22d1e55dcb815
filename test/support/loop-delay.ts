import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How many milliseconds the event loop was kept at once, at most, while something was done, and what that gave. */
export async function loopDelayOf<Result>(work: () => Promise<Result>): Promise<[number, Result]> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const result = await work();
  delay.disable();
  return [Math.round(delay.max / 1e6), result];
}
