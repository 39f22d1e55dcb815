// The answers for requests that no route serves: 404 for an unknown path, 405 for a method that a path does not accept,
// a redirect for the path of a page with an extra `/` at the end, and one from GitHub's own addresses. None of them needs
// a credential.
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Context, Handler } from 'hono';
import { accepts } from 'hono/accepts';
import { messagePage } from '../pages/message-page.ts';
import { owner as ownerShape, repository as repositoryShape } from '../api/fields.ts';
import { ownerPath, pullRequestPath, repositoryPath } from '../page-paths.ts';

/** Answers for an unknown path. */
export const noSuchRoute = (context: Context) =>
  refuse(context, {
    status: 404,
    title: 'Page not found',
    detail: 'There is no such route. GET /v1/openapi.json lists those that exist.',
  });

/**
 * Answers for methods that the paths of `app` do not accept, and for its pages with a `/` at the end. Call it after
 * mounting everything: it reads the mounted routes.
 */
export function mountNotServed(app: OpenAPIHono): void {
  const taken = methodsByPath(app);
  for (const [path, methods] of taken) {
    const allow = [...methods].sort().join(', ');
    app.all(path, (context) => {
      context.header('Allow', allow);
      return refuse(context, {
        status: 405,
        title: 'This address cannot be opened directly',
        detail: `This path does not take ${context.req.method}. It takes ${allow}.`,
      });
    });
  }
  for (const [path, methods] of taken) {
    if (path.endsWith('/')) continue;
    if (methods.has('GET') && !isOfApi(path)) app.get(`${path}/`, withoutSlash);
    // Programs don't follow redirects of what they send: GitHub reports one as a failed delivery, without this sentence.
    app.all(`${path}/`, (context) =>
      refuse(context, {
        status: 404,
        title: 'Page not found',
        detail: `There is no such route. Remove the slash at the end of the address: ${context.req.path.slice(0, -1)}`,
      }),
    );
  }
}

/** Sorts fixed paths before paths with parameters: the first path that matches answers. */
function methodsByPath(app: OpenAPIHono): [path: string, methods: Set<string>][] {
  const taken = new Map<string, Set<string>>();
  for (const { path, method } of app.routes) {
    // Middleware is in the list of routes with the method ALL.
    if (method === 'ALL') continue;
    const methods = taken.get(path) ?? new Set();
    taken.set(path, methods.add(method));
    // Hono serves HEAD like GET, without the body.
    if (method === 'GET') methods.add('HEAD');
  }
  const parameters = (path: string) => path.split(':').length;
  return [...taken].sort(([one], [other]) => parameters(one) - parameters(other));
}

const isOfApi = (path: string): boolean => path === '/v1' || path.startsWith('/v1/');

/** Redirects to the path without its last `/`. Dots and backslashes could turn the path into another host. */
function withoutSlash(context: Context) {
  const { pathname, search } = new URL(context.req.url);
  return pathname.startsWith('//')
    ? noSuchRoute(context)
    : context.redirect(pathname.slice(0, -1) + search, 308);
}

/** Whether an answer outside of the API should be a page: a browser asks, not a program. The answer varies with that. */
function isForBrowser(context: Context): boolean {
  context.header('Vary', 'Accept');
  const supports = ['application/json', 'text/html'];
  return accepts(context, { header: 'Accept', supports, default: 'application/json' }) === 'text/html';
}

/** Answers with JSON. Browsers get a page, except from the API. */
function refuse(context: Context, answer: { status: 404 | 405; title: string; detail: string }) {
  const { status, title, detail } = answer;
  if (isOfApi(context.req.path)) return context.json({ detail }, status);
  if (!isForBrowser(context)) return context.json({ detail }, status);
  const text = status === 404 ? 'Check the address.' : detail;
  return messagePage(context, { status, title, text });
}

/**
 * Leads GitHub's own addresses, such as `/acme/web/pull/5`, to the pages about the same, so that people replace
 * `github.com` by the host of Holdfast. Programs get the same 404 as anywhere else. Nothing is looked up, so a redirect says nothing about what exists. Call it after
 * mounting everything: what begins like an address of Holdfast leads nowhere else.
 */
export function mountNaturalAddresses(app: OpenAPIHono): void {
  const firstWords = new Set(['setup', ...app.routes.map(({ path }) => path.split('/')[1]!)]);
  const leads =
    (pathOf: (login: string, name: string, number: string) => string): Handler =>
    async (context, next) => {
      const { owner = '', repository = 'any', number = '1' } = context.req.param();
      const isOne =
        isForBrowser(context) &&
        !firstWords.has(owner.toLowerCase()) &&
        ownerShape.safeParse(owner).success &&
        repositoryShape.safeParse(repository).success &&
        /^\d{1,15}$/.test(number);
      return isOne ? context.redirect(pathOf(owner, repository, number), 302) : next();
    };
  const named = (login: string, name: string) => ({ name, account: { login } });
  app.get('/:owner', leads(ownerPath));
  app.get(
    '/:owner/:repository',
    leads((login, name) => repositoryPath(named(login, name))),
  );
  // The tabs of a pull request, such as `/files`, too.
  app.get(
    '/:owner/:repository/pull/:number/*',
    leads((login, name, number) => pullRequestPath(named(login, name), Number(number))),
  );
}
