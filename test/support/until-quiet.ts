import type { Sandbox } from '../../sandbox/github.ts';
import type { App } from '../../src/server/app.ts';
import { within } from '../../src/time/clock.ts';
import type { TestClock } from './test-clock.ts';

/**
 * Waits until the service has nothing to do and GitHub has told it everything, for one after the other may be what the
 * other waits for.
 * @param restedAt how many jobs the service had taken when it rested last. @returns how many by now.
 */
export async function untilQuiet(
  { app, replicas = [], github, clock }: { app: App; replicas?: App[]; github: Sandbox; clock: TestClock },
  restedAt: number,
): Promise<number> {
  for (let before = restedAt; ;) {
    await github.settled();
    await clock.tick(0);
    const settled = Promise.all([app, ...replicas].map((each) => each.settled()));
    const taken = (await within(150_000, settled))?.reduce((sum, each) => sum + each, 0) ?? null;
    if (taken === null) throw new Error(`The service did not come to rest within 150 s: ${await busy(app)}`);
    if (taken === before) return taken;
    before = taken;
  }
}

/** The tasks that wait or run. */
async function busy({ deps }: App): Promise<string> {
  const jobs = await deps.db.job.findMany({ distinct: ['task', 'isTaken'] });
  return jobs.map(({ task, isTaken }) => (isTaken ? `${task} (taken)` : task)).join(', ');
}
