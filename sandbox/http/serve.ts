import { commentRoutes } from '../rest/comment-routes.ts';
import { compareRoutes } from '../rest/compare-routes.ts';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import type { AddressInfo, Server } from 'node:net';
import { appRoutes } from '../rest/app-routes.ts';
import { branchRoutes } from '../rest/branch-routes.ts';
import { deploymentRoutes } from '../rest/deployment-routes.ts';
import { deliveryRoutes } from '../rest/delivery-routes.ts';
import { mergeAsyncRoutes } from '../rest/merge-async-routes.ts';
import { graphqlRoute } from '../graphql/graphql-route.ts';
import { peopleRoutes } from '../rest/people-routes.ts';
import { pullRequestRoutes } from '../rest/pull-request-routes.ts';
import { repositoryRoutes } from '../rest/repository-routes.ts';
import { rulesetRoutes } from '../rest/ruleset-routes.ts';
import { stackRoutes } from '../rest/stack-routes.ts';
import { ownerRoutes } from '../rest/owner-routes.ts';
import { statusRoutes } from '../rest/status-routes.ts';
import { oauthTokenRoutes } from '../rest/oauth-token-routes.ts';
import { oauthPages } from '../web/oauth-pages.ts';
import { oidcIssuer } from '../web/oidc-issuer.ts';
import { signInPages } from '../web/browser-person.ts';
import { pictures } from '../web/pictures.ts';
import { pullRequestPages } from '../web/pull-request-pages.ts';
import { manifestRoutes } from '../rest/manifest-routes.ts';
import { appRegistrationPages } from '../web/app-registration-pages.ts';
import { installationPages } from '../web/installation-pages.ts';
import { authenticate, tokenKind } from './authenticate.ts';
import { answerUnchanged } from './etag.ts';
import { ConnectionReset } from './faults.ts';
import { GitHubError } from './github-error.ts';
import { holderOf } from './rate-limit.ts';
import { refuseNameless, refuseVersion } from './request-headers.ts';
import type { Api, Env, Parts } from './api.ts';
import type { LoggedRequest } from './request-log.ts';
import { exchanges } from '../watched.ts';

/** Builds the API: what every request goes through, then the routes. */
function createApi(parts: Parts): Api {
  const { world, faults, chaos, limits, writeLimit, requests, unknownRoutes } = parts;
  const api: Api = new Hono<Env>();

  api.use(async (c, next) => {
    const { pathname, search } = new URL(c.req.url);
    const logged: LoggedRequest = {
      method: c.req.method,
      path: pathname + search,
      tokenKind: tokenKind(world, c.req.header('authorization')),
      status: null,
      at: new Date(),
    };
    requests.push(logged);
    if (pathname === '/graphql') Object.assign(logged, await askedBy(c.req.raw.clone()));
    c.set('logged', logged);
    const watched = exchanges.hasSubscribers ? c.req.raw.clone() : null;
    await next();
    if (!(c.error instanceof ConnectionReset)) logged.status = c.res.status;
    c.header('x-github-request-id', world.ids.characters(`request ${requests.length}`, 16).toUpperCase());
    c.header('date', new Date(world.now().getTime() + world.clockAhead).toUTCString());
    c.header('x-github-media-type', 'github.v3; format=json');
    if (c.res.headers.get('content-type') === 'application/json')
      c.header('content-type', 'application/json; charset=utf-8');
    // What a fault says in the place of an answer is no answer of the sandbox.
    if (watched && !c.get('isDistorted') && !(c.error instanceof ConnectionReset))
      exchanges.publish({ world, principal: c.get('principal'), request: watched, answer: c.res.clone() });
  });

  api.use(async (c, next) => {
    const { pathname } = new URL(c.req.url);
    const { method, tokenKind, operationName } = c.get('logged');
    const request = { method, path: pathname, tokenKind, operationName };
    const isLost = await faults.strike(request);
    await chaos.around(request, next);
    const distorted = await faults.distort(request, c.res);
    if (distorted) {
      c.set('isDistorted', true);
      c.res = distorted;
      c.res.headers.delete('x-accepted-github-permissions');
    }
    if (isLost) throw new ConnectionReset();
  });

  // Pages for browsers and public data: they need no credential of the API, and its limits do not apply.
  appRegistrationPages(api, parts);
  installationPages(api, parts);
  signInPages(api, parts);
  oauthPages(api, parts);
  pullRequestPages(api, parts);
  oidcIssuer(api, parts);
  pictures(api);

  api.use(async (c, next) => {
    const { pathname } = new URL(c.req.url);
    const resource = pathname === '/graphql' ? 'graphql' : 'core';
    let holder = '127.0.0.1';
    const refusal = refuseNameless(c);
    if (refusal) return refusal;
    try {
      if (resource === 'core') refuseVersion(c);
      const principal = authenticate(world, c.req.header('authorization'));
      holder = holderOf(principal);
      c.set('principal', principal);
      c.set('holder', holder);
      if (principal.kind === 'user' && ['classic', 'oauth'].includes(principal.token.kind)) {
        c.header('x-oauth-scopes', principal.token.scopes.join(', '));
      }
      // GraphQL counts its own points when it knows the query.
      if (resource === 'core' && pathname !== '/rate_limit') limits.spend(holder, 'core', 1);
      if (principal.kind === 'installation' && resource === 'core' && c.req.method !== 'GET')
        writeLimit.take(holder);
      await next();
      await answerUnchanged(c);
      // What had not changed costs nothing.
      if (c.res.status === 304) limits.spend(holder, 'core', -1);
    } finally {
      const headers = limits.headers(holder, resource);
      for (const [name, value] of Object.entries(headers)) c.header(name, value);
    }
  });

  appRoutes(api, parts);
  manifestRoutes(api, parts);
  deliveryRoutes(api, parts);
  peopleRoutes(api, parts);
  repositoryRoutes(api, parts);
  pullRequestRoutes(api, parts);
  commentRoutes(api, parts);
  compareRoutes(api, parts);
  stackRoutes(api, parts);
  mergeAsyncRoutes(api, parts);
  statusRoutes(api, parts);
  oauthTokenRoutes(api, parts);
  branchRoutes(api, parts);
  rulesetRoutes(api, parts);
  deploymentRoutes(api, parts);
  ownerRoutes(api, parts);
  graphqlRoute(api, parts);

  api.notFound((c) => {
    const { pathname } = new URL(c.req.url);
    unknownRoutes.push(`${c.req.method} ${pathname}`);
    return c.json({ message: `The sandbox GitHub does not know ${c.req.method} ${pathname}` }, 501);
  });

  api.onError((error, c) => {
    if (error instanceof GitHubError) return c.json(error.body, error.status, error.headers);
    if (error instanceof ConnectionReset) {
      c.env.incoming.socket.resetAndDestroy();
      return new Response(null);
    }
    unknownRoutes.push(`${c.req.method} ${c.req.path}: ${error.stack}`);
    return c.json({ message: `The sandbox GitHub itself failed: ${error.message}` }, 500);
  });
  return api;
}

/** Starts listening on loopback. GitHub Enterprise's paths, `/api/v3` and `/api/graphql`, work as well. */
export async function serve(
  parts: Parts,
  port: number,
): Promise<{ url: string; fetch(request: Request, env: object): Promise<Response>; close(): Promise<void> }> {
  const api = createApi(parts);
  const answer = async (request: Request, env: HttpBindings) => {
    const path = new URL(request.url).pathname;
    const plain = path.replace(/^\/api\/(?:v3\/?|(?=graphql$))/, '/');
    const url = new URL(request.url);
    url.pathname = plain;
    return plain === path ? api.fetch(request, env) : api.fetch(new Request(url, request), env);
  };
  const server = createAdaptorServer({ fetch: answer as never }) as Server & { closeAllConnections(): void };
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fetch: async (request, env) => answer(request, env as HttpBindings),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** What the log keeps of a question to GraphQL. */
async function askedBy(request: Request): Promise<Pick<LoggedRequest, 'operationName' | 'repository'>> {
  type Body = { operationName?: string; query?: string; variables?: { owner?: string; name?: string } };
  const body = (await request.json().catch(() => null)) as Body | null;
  const { owner, name } = body?.variables ?? {};
  return {
    operationName: body?.operationName ?? /\b(?:query|mutation)\s+(\w+)/.exec(body?.query ?? '')?.[1],
    ...(name !== undefined && { repository: `${owner}/${name}` }),
  };
}
