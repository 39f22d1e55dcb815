import type { OpenAPIHono } from '@hono/zod-openapi';
import { tooLate, withPatience } from '../database/patience.ts';
import type { JobQueue } from '../database/queue/queue.ts';
import { troubleOf } from '../database/trouble.ts';
import type { Deps } from '../deps.ts';
import { keyRefused } from '../github/key-standing.ts';
import { findOverdue } from '../explanations/enforcement/read-service.ts';
import { within } from '../time/clock.ts';
import { minute } from '../time/units.ts';
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
    const [ofDatabase, ofQueue, ofWork] = await withPatience(readyWithin, () =>
      Promise.all([failureOf(askDatabase(deps)), failureOf(queue.assertReady()), reasonsOfWork(deps)]),
    );
    if (!ofQueue) deps.trouble.end('read_only');
    const known = deps.trouble.now();
    const isReady = !ofDatabase && !ofQueue && known.length === 0;
    const troubles = [...new Set([ofDatabase, ofQueue, ...known].map((each) => troubleOf(each)?.message))];
    const reasons = [...troubles, ...reasonsOfGitHub(deps), ...ofWork].filter((each) => each !== undefined);
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

/** What is not done: webhooks that do not arrive, jobs that nobody takes, and installations where nothing may be done. Never throws. */
async function reasonsOfWork(deps: Pick<Deps, 'db' | 'sql' | 'clock' | 'witnesses'>): Promise<string[]> {
  const asked = Promise.all([
    findOverdue(deps),
    deps.db.installation.count({ where: { suspendedAt: { not: null }, deletedAt: null } }),
    // Processes that take webhooks are not those that read GitHub's list of what failed.
    deps.db.webhookDelivery.findFirst({ orderBy: [{ receivedAt: 'desc' }, { isLost: 'asc' }] }),
  ]);
  const [overdue, suspended, newest] = (await within(readyWithin, asked).catch(() => null)) ?? [[], 0];
  return [
    ...overdue.map(({ message }) => message),
    ...(newest?.isLost ? [notDelivered] : []),
    ...(suspended > 0
      ? [
          `Installations that are suspended, so that nothing is held there: ${suspended}. Unsuspend them in the settings of their owners on GitHub.`,
        ]
      : []),
  ];
}

const notDelivered =
  'GitHub could not deliver its newest webhooks. If WEBHOOK_SECRET differs from the secret in the App’s settings, the log says so; `holdfast doctor` shows what GitHub got for an answer.';

/** Logs, in a process that takes requests alone, that nobody takes the jobs. Each minute while it lasts. */
export function watchWork(deps: Pick<Deps, 'sql' | 'clock' | 'witnesses' | 'log'>): { stop(): void } {
  const ask = async (): Promise<void> => {
    const overdue = await findOverdue(deps).catch(() => []);
    for (const { message, remedy } of overdue) deps.log.error({ remedy }, `jobs are not done: ${message}`);
  };
  const timer = deps.clock.setInterval(() => void ask(), minute);
  return { stop: () => deps.clock.clearInterval(timer) };
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
