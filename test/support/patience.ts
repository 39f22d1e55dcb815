import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { onTestFinished, vi } from 'vitest';

/** Milliseconds between two looks while another process works. */
const betweenLooks = 50;

/** For one test: the service looks as often whether another process is through, in a tenth of the time. */
export function lookFaster(): void {
  const { setTimeout } = timers;
  timers.setTimeout = ((milliseconds, ...rest) =>
    setTimeout(
      milliseconds === betweenLooks ? betweenLooks / 10 : milliseconds,
      ...rest,
    )) as typeof setTimeout;
  syncBuiltinESMExports();
  onTestFinished(() => {
    timers.setTimeout = setTimeout;
    syncBuiltinESMExports();
  });
}

/** How much shorter the service waits. */
const factor = 1 / 20;
/** Milliseconds: of a shorter time `busy-machine.ts` does not know whether the event loop had its turns meanwhile. */
const shortest = 100;
/** Milliseconds: what the service waits for somebody who is slow. A fault that outlasts it takes longer. */
const isPatience = (milliseconds: number): boolean => milliseconds >= 1000 && milliseconds <= 15_000;

/**
 * From now on the service waits a twentieth as long for what is slow, until `vi.restoreAllMocks()`. Slow is then what
 * does not answer before the test says so: no outcome depends on which of two times ends first, or on a busy machine.
 */
export function shortenPatience(): void {
  const { setTimeout } = globalThis;
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  const shortened = (milliseconds = 0) =>
    isPatience(milliseconds) ? Math.max(shortest, milliseconds * factor) : milliseconds;
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((milliseconds) => timeout(shortened(milliseconds)));
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((
    callback: (...args: unknown[]) => void,
    milliseconds?: number,
    ...args: unknown[]
  ) => setTimeout(callback, shortened(milliseconds), ...args)) as typeof globalThis.setTimeout);
}

/** Milliseconds between two looks at how much of a webhook's body came. */
const bodyLooks = 1000;

/** For the rest of a test, no body of a webhook is too slow: on a busy machine, its sender has few turns in a second. */
export function bearSlowBodies(): void {
  const { setInterval } = globalThis;
  const spy = vi
    .spyOn(globalThis, 'setInterval')
    .mockImplementation(((
      callback: (...args: unknown[]) => void,
      milliseconds?: number,
      ...args: unknown[]
    ) =>
      setInterval(
        callback,
        milliseconds === bodyLooks ? 2 ** 31 - 1 : milliseconds,
        ...args,
      )) as typeof globalThis.setInterval);
  onTestFinished(() => void spy.mockRestore());
}
