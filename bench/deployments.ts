// Deployments: how soon a free one is approved, and how soon those that a freeze held are decided after its end.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sandbox } from '../sandbox/github.ts';
import type { Bench } from './bench.ts';
import { alone, type Figure, upTo } from './figure.ts';
import { makeKey, type Service, startGitHub, startService, type Where } from './service.ts';
import { percentile } from './statistics.ts';

const repository = 'acme/web';
/** So many writes GitHub accepts in a minute. */
const writesPerMinute = 180;
/** Free deployments a second. */
const perSecond = 2;
/** Milliseconds in which all places of the pace come back. */
const rest = 65_000;

type Parts = { github: Sandbox; service: Service; key: string };
type Run = { id: number };

async function until(holds: () => boolean): Promise<number> {
  const began = performance.now();
  while (!holds()) {
    if (performance.now() - began > 300_000) throw new Error('It took longer than five minutes');
    await sleep(5);
  }
  return performance.now() - began;
}

const isApproved = (github: Sandbox, { id }: Run) =>
  github.reviewsOf(repository, id).some(({ state }) => state === 'approved');

/** Milliseconds from each webhook to the approval at GitHub, at a steady stream. */
async function free({ github }: Parts, count: number): Promise<number[]> {
  const times: Promise<number>[] = [];
  for (let index = 0; index < count; index++) {
    const run = github.runWorkflow(repository, { environments: ['eu-0'] });
    times.push(until(() => isApproved(github, run)));
    await sleep(1_000 / perSecond);
  }
  return Promise.all(times);
}

/** Milliseconds from the end of a freeze until so many runs that it held are decided. */
async function thaw(
  { github, service, key }: Parts,
  count: number,
): Promise<{ ms: number; reviews: number }> {
  const path = `/v1/repos/${repository}/scheduled_freeze`;
  const freeze = { reason: 'Release', start: null, timezone: 'UTC', holds: ['deployments'] };
  const { body } = await service.call('POST', path, key, freeze);
  const runs = Array.from({ length: count }, (_, index) =>
    github.runWorkflow(repository, { environments: [`eu-${index}`] }),
  );
  await until(() => runs.every(({ id }) => github.reviewsOf(repository, id).length > 0));
  await sleep(rest);
  const decided = until(() => runs.every((run) => isApproved(github, run)));
  await service.call('POST', `${path}/${body.id}/delete`, key, { delete_reason: 'Done' });
  const ms = await decided;
  return { ms, reviews: Math.max(...runs.map(({ id }) => github.reviewsOf(repository, id).length)) };
}

async function withDeployments<Result>(
  where: Where,
  run: (parts: Parts) => Promise<Result>,
): Promise<Result> {
  const { github, token } = await startGitHub();
  github.askForMore({ deployments: 'write', actions: 'read' }, ['deployment_protection_rule']);
  github.writeLimit.perMinute = writesPerMinute;
  github.addRepository(repository, { protect: { main: ['holdfast/freeze'] } });
  for (let index = 0; index < 100; index++) github.addEnvironment(repository, `eu-${index}`);
  github.openPullRequest(repository, { author: 'ada' });
  const service = await startService(github, where);
  try {
    github.install('acme');
    await github.waitForStatus(repository, 1, 'success', { timeoutMs: 60_000 });
    return await run({ github, service, key: await makeKey(service, token, 'admin') });
  } finally {
    await service.stop();
    await github.close();
  }
}

export const benchDeployments: Bench = {
  name: 'deployments',
  title: 'Deployments',
  async run({ isQuick, postgres }) {
    if (!postgres) return { figures: [], notes: ['No PostgreSQL is installed: skipped.'] };
    const [count, few, many] = isQuick ? [10, 5, 10] : [100, 50, 100];
    const where = { connectionString: await postgres.createDatabase('deployments') };
    const found = await withDeployments(where, async (parts) => {
      await free(parts, 5);
      const times = await free(parts, count!);
      const half = await thaw(parts, few!);
      await sleep(rest);
      const whole = await thaw(parts, many!);
      return { times, half, whole, refused: parts.github.writeLimit.refusals };
    });
    const { times, half, whole, refused } = found;
    const figures: Figure[] = [
      alone('deployments', 'a free one is approved, p50', 'ms', percentile(times, 0.5)),
      alone('deployments', 'a free one is approved, p99', 'ms', percentile(times, 0.99), upTo(2_000)),
      alone('deployments', `${few} runs are decided after a thaw`, 'ms', half.ms, upTo(10_000)),
      alone('deployments', `${many} runs are decided after a thaw`, 'ms', whole.ms, upTo(40_000)),
      alone('deployments', 'reviews of a run', 'calls', Math.max(half.reviews, whole.reviews), upTo(2)),
      alone('deployments', 'reviews that GitHub refused', 'calls', refused, upTo(0)),
    ];
    const notes = [
      `${count} free deployments at ${perSecond} a second, from the webhook to the approval at GitHub; then ${few} and ${many} runs that wait in as many environments, from the request that ends the freeze. GitHub accepts ${writesPerMinute} writes a minute; the database is PostgreSQL.`,
    ];
    return { figures, notes };
  },
};
