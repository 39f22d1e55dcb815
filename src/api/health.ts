import { within } from '../clock.ts';
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { PrismaClient } from '../generated/prisma/client.ts';
import type { JobQueue } from '../queue/queue.ts';

/** How many milliseconds a part may take to answer before it counts as not ready. */
const patience = 3000;

/**
 * `/healthz`: the process runs. `/readyz`: the database and the job queue answer, so the process can take traffic.
 */
export function mountHealth(api: OpenAPIHono, db: PrismaClient, queue: Pick<JobQueue, 'isReady'>): void {
  api.get('/healthz', (context) => context.json({ status: 'ok' }));
  api.get('/readyz', async (context) => {
    const [database, jobs] = await Promise.all([
      inTime(db.$queryRaw`SELECT 1`.then(() => true)),
      inTime(queue.isReady()),
    ]);
    const checks = { database: database ? 'ok' : 'unavailable', job_queue: jobs ? 'ok' : 'unavailable' };
    return context.json(
      { status: database && jobs ? 'ready' : 'not ready', checks },
      database && jobs ? 200 : 503,
    );
  });
}

const inTime = async (check: Promise<boolean>): Promise<boolean> =>
  (await within(
    patience,
    check.catch(() => false),
  )) ?? false;
