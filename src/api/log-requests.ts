import { randomUUID } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import type { Logger } from 'pino';

const isProbe = (path: string): boolean => ['/healthz', '/readyz', '/metrics'].includes(path);

/** Gives each request an ID and logs it, without its query. */
export const logRequests =
  (log: Logger): MiddlewareHandler =>
  async (context, next) => {
    const requestId = randomUUID();
    context.header('X-Request-Id', requestId);
    const started = performance.now();
    await next();
    const { method, path } = context.req;
    const milliseconds = Math.round(performance.now() - started);
    // Probes and scrapes come every few seconds, so only their errors are logged at `info`.
    const level = isProbe(path) && context.res.status < 400 ? 'debug' : 'info';
    log[level](
      { requestId, method, path: path.slice(0, 300), status: context.res.status, milliseconds },
      'request',
    );
  };
