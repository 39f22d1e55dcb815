import { createHash, timingSafeEqual } from 'node:crypto';
import type { OpenAPIHono } from '@hono/zod-openapi';
import { collectDefaultMetrics, Registry } from '@prometheus-io/client';
import { bearerOf } from '../../auth/caller.ts';
import type { Deps } from '../../deps.ts';
import { gaugesOf, shareFigures } from './figures.ts';

export const metricsPath = '/metrics';

/**
 * Serves the metrics of this process and of the database to callers who send `METRICS_TOKEN`, and to nobody where that is
 * not set (docs/decisions/0023).
 */
export function serveMetrics(api: OpenAPIHono, deps: Deps): void {
  const { metricsToken } = deps.config;
  if (!metricsToken) {
    const detail = 'Holdfast serves no metrics. Set METRICS_TOKEN, and send it as a bearer token.';
    api.get(metricsPath, (context) => context.json({ detail }, 404));
    return;
  }
  const isToken = comparedWith(metricsToken);
  const figures = shareFigures(deps);
  collectDefaultMetrics({ register: deps.metrics.registry });
  api.get(metricsPath, async (context) => {
    context.header('Cache-Control', 'no-store');
    if (!isToken(bearerOf(context.req.header('Authorization')) ?? '')) {
      context.header('WWW-Authenticate', 'Bearer realm="metrics"');
      return context.json({ detail: 'Send METRICS_TOKEN as a bearer token.' }, 401);
    }
    const now = deps.clock.now();
    const gauges = gaugesOf(await figures(), deps.github.budgets.known(), now);
    const all = Registry.merge([deps.metrics.registry, gauges]);
    return context.body(await all.metrics(), 200, { 'Content-Type': all.contentType });
  });
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares digests, which all have the same length, so that the time reveals nothing about the token. */
function comparedWith(token: string): (given: string) => boolean {
  const expected = digest(token);
  return (given) => timingSafeEqual(digest(given), expected);
}
