// What is answered where nothing is served: 404 for a path, 405 for a method that a path does not take, and for the
// address of a page with a `/` too many the way to the one without. None of it needs a credential.
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import { messagePage } from './pages/message-page.ts';

/** The path of a request is not one of ours. */
export const noSuchRoute = (context: Context) =>
  refuse(context, {
    status: 404,
    title: 'There is no such page',
    detail: 'There is no such route. GET /v1/openapi.json lists those that exist.',
  });

/**
 * Answers for the methods that the paths of `app` do not take, and for its pages with a `/` at the end. To be called
 * once everything is mounted: it reads from the routes what there is.
 */
export function mountNotServed(app: OpenAPIHono): void {
  const taken = methodsByPath(app);
  for (const [path, methods] of taken) {
    const allow = [...methods].sort().join(', ');
    app.all(path, (context) => {
      context.header('Allow', allow);
      return refuse(context, {
        status: 405,
        title: 'This address cannot be opened like this',
        detail: `This path does not take ${context.req.method}. It takes ${allow}.`,
      });
    });
  }
  for (const [path, methods] of taken) {
    if (methods.has('GET') && !isOfApi(path) && !path.endsWith('/')) app.get(`${path}/`, withoutSlash);
  }
}

/** Fixed paths before those with parameters: of two that fit, the first one answers. */
function methodsByPath(app: OpenAPIHono): [path: string, methods: Set<string>][] {
  const taken = new Map<string, Set<string>>();
  for (const { path, method } of app.routes) {
    // Middleware stands among the routes as ALL.
    if (method === 'ALL') continue;
    const methods = taken.get(path) ?? new Set();
    taken.set(path, methods.add(method));
    // Served like a GET, without the body.
    if (method === 'GET') methods.add('HEAD');
  }
  const parameters = (path: string) => path.split(':').length;
  return [...taken].sort(([one], [other]) => parameters(one) - parameters(other));
}

const isOfApi = (path: string): boolean => path === '/v1' || path.startsWith('/v1/');

/** To the same path without its last `/`. Dots and backslashes can make one of it that begins with another host. */
function withoutSlash(context: Context) {
  const { pathname, search } = new URL(context.req.url);
  return pathname.startsWith('//')
    ? noSuchRoute(context)
    : context.redirect(pathname.slice(0, -1) + search, 308);
}

/** As JSON; as a page for browsers, but for the API. */
function refuse(context: Context, answer: { status: 404 | 405; title: string; detail: string }) {
  const { status, title, detail } = answer;
  if (isOfApi(context.req.path)) return context.json({ detail }, status);
  context.header('Vary', 'Accept');
  const supports = ['application/json', 'text/html'];
  const type = accepts(context, { header: 'Accept', supports, default: 'application/json' });
  if (type === 'application/json') return context.json({ detail }, status);
  const text = status === 404 ? 'Check how the address is written.' : detail;
  return messagePage(context, { status, title, text });
}
