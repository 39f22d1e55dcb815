import { vi } from 'vitest';

/** How much shorter the service waits. */
const factor = 1 / 20;
/** Milliseconds: what the service waits for somebody who is slow. A fault that outlasts it takes longer. */
const isPatience = (milliseconds: number): boolean => milliseconds >= 1500 && milliseconds <= 15_000;

/**
 * From now on the service waits a twentieth as long for what is slow, until `vi.restoreAllMocks()`. Slow is then what
 * does not answer before the test says so: no outcome depends on which of two times ends first.
 */
export function shortenPatience(): void {
  const { setTimeout } = globalThis;
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  const shortened = (milliseconds = 0) => (isPatience(milliseconds) ? milliseconds * factor : milliseconds);
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((milliseconds) => timeout(shortened(milliseconds)));
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((
    callback: (...args: unknown[]) => void,
    milliseconds?: number,
    ...args: unknown[]
  ) => setTimeout(callback, shortened(milliseconds), ...args)) as typeof globalThis.setTimeout);
}
