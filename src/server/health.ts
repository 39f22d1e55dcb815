import type { OpenAPIHono } from '@hono/zod-openapi';
import { tooLate, withPatience } from '../database/patience.ts';
import type { JobQueue } from '../database/queue/queue.ts';
import { troubleOf } from '../database/trouble.ts';
import type { Deps } from '../deps.ts';
import { keyRefused } from '../github/key-standing.ts';
import { within } from '../time/clock.ts';
import { clockCheck, hearDatabase } from './watch-clock.ts';

/** How many milliseconds a part may take to answer before it counts as not ready. */
const readyWithin = 3000;

type Asked = Pick<Deps, 'db' | 'sql' | 'trouble' | 'clock' | 'witnesses' | 'github'>;

/**
 * `/healthz`: the process runs. `/readyz`: the database and the job queue answer on the connections that requests use, and
 * nothing that requests asked of the database fails, so the process can take traffic. A clock that differs is told there, and
 * keeps nobody away: the witnesses' time counts.
 */
export function mountHealth(api: OpenAPIHono, deps: Asked, queue: Pick<JobQueue, 'assertReady'>): void {
  api.get('/healthz', (context) => context.json({ status: 'ok' }));
  api.get('/readyz', async (context) => {
    const [ofDatabase, ofQueue] = await withPatience(readyWithin, () =>
      Promise.all([failureOf(askDatabase(deps)), failureOf(queue.assertReady())]),
    );
    if (!ofQueue) deps.trouble.end('read_only');
    const known = deps.trouble.now();
    const isReady = !ofDatabase && !ofQueue && known.length === 0;
    const troubles = [...new Set([ofDatabase, ofQueue, ...known].map((each) => troubleOf(each)?.message))];
    const reasons = [...troubles, ...reasonsOfGitHub(deps)].filter((each) => each !== undefined);
    return context.json(
      {
        status: isReady ? 'ready' : 'not ready',
        checks: {
          database: ofDatabase || known.length > 0 ? 'unavailable' : 'ok',
          job_queue: ofQueue ? 'unavailable' : 'ok',
          clock: clockCheck(deps.witnesses),
        },
        ...(reasons.length > 0 && { reasons }),
      },
      isReady ? 200 : 503,
    );
  });
}

/**
 * What keeps the process from all of its work. It takes requests all the same: without it, webhooks would be lost, and
 * nothing would get better.
 */
function reasonsOfGitHub({ github }: Pick<Deps, 'github'>): string[] {
  const keyRefusedSince = github.keyRefusedSince();
  return [keyRefusedSince && keyRefused(keyRefusedSince), github.addressProblem()].filter(
    (reason) => reason !== null,
  );
}

/** Asks by both roads of requests. @throws why it does not answer. */
async function askDatabase(deps: Asked): Promise<void> {
  await Promise.all([hearDatabase(deps), deps.db.$queryRaw`SELECT 1`]);
}

/** Why a check failed; null if it did not. */
const failureOf = async (check: Promise<void>): Promise<unknown> => {
  try {
    return (await within(
      readyWithin,
      check.then(() => true),
    ))
      ? null
      : tooLate();
  } catch (error) {
    return error ?? true;
  }
};
