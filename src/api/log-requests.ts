import type { Context, MiddlewareHandler } from 'hono';
import { requestId } from 'hono/request-id';
import { routePath } from 'hono/route';
import type { Logger } from 'pino';

/** Counts answered requests. A route is a template, never a path. */
type Counter = {
  countRequest(request: { method: string; route: string; status: number; milliseconds: number }): void;
};

const isProbe = (path: string): boolean => ['/healthz', '/readyz', '/metrics'].includes(path);

/** Gives each request an ID. Clients cannot choose it. */
export const ownRequestId: MiddlewareHandler = requestId({ limitLength: 0 });

/**
 * Logs each request with its ID, without its query.
 * @param metrics counts it under the template of the route that answered it.
 */
export const logRequests =
  (log: Logger, metrics?: Counter): MiddlewareHandler =>
  async (context, next) => {
    const started = performance.now();
    await next();
    const milliseconds = performance.now() - started;
    const { method, path } = context.req;
    const { status } = context.res;
    const { requestId } = context.var;
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
