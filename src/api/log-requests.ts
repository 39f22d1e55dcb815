import { randomUUID } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import type { Logger } from 'pino';

/** Counts answered requests. A route is a template, never a path. */
type Counter = {
  countRequest(request: { method: string; route: string; status: number; milliseconds: number }): void;
};

const isProbe = (path: string): boolean => ['/healthz', '/readyz', '/metrics'].includes(path);

/**
 * Gives each request an ID and logs it, without its query.
 * @param metrics counts it under the template of the route that answered it.
 */
export const logRequests =
  (log: Logger, metrics?: Counter): MiddlewareHandler =>
  async (context, next) => {
    const requestId = randomUUID();
    context.header('X-Request-Id', requestId);
    const started = performance.now();
    await next();
    const milliseconds = performance.now() - started;
    const { method, path } = context.req;
    const { status } = context.res;
    metrics?.countRequest({ method, route: routeOf(context), status, milliseconds });
    // Probes and scrapes come every few seconds, so only their errors are logged at `info`.
    const level = isProbe(path) && status < 400 ? 'debug' : 'info';
    const logged = { requestId, method, path: path.slice(0, 300), status };
    log[level]({ ...logged, milliseconds: Math.round(milliseconds) }, 'request');
  };

/** Where no route answered, the last that did is a middleware: only those have a `*`. */
function routeOf(context: Context): string {
  const path = routePath(context);
  return path.includes('*') ? 'unmatched' : path;
}
