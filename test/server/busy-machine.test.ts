import { setImmediate as turn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';

// What `test/support/busy-machine.ts` does for every test.

/** Keeps the whole thread, as a machine does that is busy with others. */
const standStill = (milliseconds: number) =>
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

test.each<[string, (end: () => void) => unknown]>([
  ['a timer', (end) => setTimeout(end, 200)],
  ['a signal', (end) => AbortSignal.timeout(200).addEventListener('abort', end)],
])('the patience of %s is not over because the machine was busy', async (_name, wait) => {
  let isOver = false;
  wait(() => (isOver = true));
  standStill(300);
  await turn();
  await turn();
  expect(isOver).toBe(false);
  await vi.waitFor(() => expect(isOver).toBe(true));
});

test('a cancelled timer stays cancelled, and what a signal says is that it took too long', async () => {
  let isOver = false;
  const timer = setTimeout(() => (isOver = true), 100);
  const signal = AbortSignal.timeout(150);
  standStill(150);
  await turn();
  clearTimeout(timer);
  await vi.waitFor(() => expect(signal.aborted).toBe(true));
  expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
  expect(isOver).toBe(false);
});
