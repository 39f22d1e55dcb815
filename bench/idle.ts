// What a process costs that has nothing to do.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import { cpuOf } from './child-process.ts';
import { alone, type Figure, upTo } from './figure.ts';
import { startGitHub, startService, type Where } from './service.ts';

/** What follows a start has ended by then. Milliseconds. */
const settling = 15_000;

/** Share of a core, in percent. */
async function measure(where: Where, seconds: number): Promise<number> {
  const { github } = await startGitHub();
  github.addRepository('acme/web');
  github.openPullRequest('acme/web', { author: 'ada' });
  const service = await startService(github, where);
  try {
    github.install('acme');
    await github.waitForStatus('acme/web', 1, 'success', { timeoutMs: 60_000 });
    await sleep(settling);
    const [cpu, began] = [cpuOf(service.pid), performance.now()];
    await sleep(seconds * 1000);
    return (100 * (cpuOf(service.pid) - cpu)) / (performance.now() - began);
  } finally {
    await service.stop();
    await github.close();
  }
}

export const benchIdle: Bench = {
  name: 'idle',
  title: 'An idle process',
  async run({ isQuick, postgres }) {
    const seconds = isQuick ? 10 : 60;
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-idle-'));
    const figures: Figure[] = [];
    try {
      const embedded = await measure({ dataDir: folder }, seconds);
      if (postgres) {
        const connectionString = await postgres.createDatabase('idle');
        const share = await measure({ connectionString }, seconds);
        figures.push(alone('idle', 'PostgreSQL: processor', '% of a core', share, upTo(0.5)));
      }
      figures.push(alone('idle', 'embedded: processor', '% of a core', embedded, upTo(1.5)));
    } finally {
      rmSync(folder, { recursive: true });
    }
    const notes = [
      `Over ${seconds} s, ${settling / 1000} s after the first status. Linux counts in steps of 10 ms.`,
    ];
    return { figures, notes };
  },
};
