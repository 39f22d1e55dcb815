// Asks an address again and again, from a process of its own, so that nothing else delays its questions. It answers each
// message with what it saw since the last one.
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from './statistics.ts';

/** Milliseconds between two questions. */
const every = 50;
/** Milliseconds that a question may take. */
const patience = 20_000;

/** @property failed how many questions had no good answer. Times are in milliseconds. */
export type Seen = { asked: number; failed: number; p50: number; p99: number; max: number };

let url: string | null = null;
let times: number[] = [];
let failed = 0;

process.on('message', (message: { url?: string | null }) => {
  if (message.url !== undefined) url = message.url;
  process.send!({
    asked: times.length,
    failed,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    max: Math.max(0, ...times),
  } satisfies Seen);
  [times, failed] = [[], 0];
});
process.send!('hello');

for (; process.connected; await sleep(every)) {
  if (url === null) continue;
  const began = performance.now();
  // Who asks at a fixed beat also asks while an answer is late.
  void fetch(url, { signal: AbortSignal.timeout(patience) }).then(
    async (response) => {
      await response.arrayBuffer();
      if (response.ok) times.push(performance.now() - began);
      else failed++;
    },
    () => failed++,
  );
}
