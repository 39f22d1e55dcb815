import type { Context, MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import type { Metrics } from './metrics.ts';

/** Counts each request under the template of the route that answered it. */
export const countRequests =
  (metrics: Metrics): MiddlewareHandler =>
  async (context, next) => {
    const started = performance.now();
    await next();
    const milliseconds = performance.now() - started;
    const { method } = context.req;
    metrics.countRequest({ method, route: routeOf(context), status: context.res.status, milliseconds });
  };

/** Where no route answered, the last that did is a middleware: only those have a `*`. */
function routeOf(context: Context): string {
  const path = routePath(context);
  return path.includes('*') ? 'unmatched' : path;
}
