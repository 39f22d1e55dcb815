// Every route goes through the same steps in the same order: path, credential, permission and existence, body.
import { createRoute, type RouteConfig, z } from '@hono/zod-openapi';
import type { Context, Hono } from 'hono';
import type { Actor } from '../events/actor.ts';
import { actorOf, authenticate, bearerOf, type Credential } from '../auth/authenticate.ts';
import {
  type AuthorizedRepository,
  authorizeOwner,
  authorizeRepository,
  type RepositoryAudience,
} from '../auth/authorize.ts';
import { type Asked, type AuthorizedOwner, authorizeOwnerOr } from '../auth/authorize-owner-or.ts';
import { authorizeReader } from '../auth/authorize-reader.ts';
import type { GitHubTokens } from '../auth/github-token.ts';
import type { RepositoryPath } from '../auth/key-rows.ts';
import type { Deps } from '../deps.ts';
import type { Account } from '../generated/prisma/client.ts';
import type { StrangerLimits } from '../github/limits/stranger-limits.ts';
import type { FoundRepository } from '../installations/find-repository.ts';
import { type Answer, type Remember, runOnce } from './idempotency.ts';
import { assertStorable, readJsonBody } from './read-body.ts';
import { isKnown } from './if-none-match.ts';
import { errorResponses, headersOf, jsonContent, securityOf } from './responses.ts';
import { validate, validateBody } from './validate.ts';

/** Whom a route lets in, and what its path names. */
export type Access =
  | ({ to: 'repository' } & RepositoryAudience)
  /** Whoever can read the repository. */
  | { to: 'repository-readers' }
  | { to: 'owner' }
  /**
   * As `owner`; and people who administer every repository that it is about.
   */
  | { to: 'owner-or-repositories'; repositories(request: Named): Promise<Asked> }
  /** Any application key, asking about itself. */
  | { to: 'own-key' };

/** What a request names, before its body is looked at: `json` is nobody's promise. */
type Named = { deps: Deps; account: Account; path: Record<string, unknown>; json: unknown };

type Found<A extends Access> = A extends { to: 'repository' }
  ? AuthorizedRepository
  : A extends { to: 'repository-readers' }
    ? { repository: FoundRepository }
    : A extends { to: 'owner-or-repositories' }
      ? AuthorizedOwner
      : A extends { to: 'owner' }
        ? { account: Account }
        : object;

/** What a handler gets: everything checked, nothing left to parse. */
export type Call<A extends Access, Path, Query, Body> = Found<A> & {
  deps: Deps;
  actor: Actor;
  credential: Credential;
  path: Path;
  query: Query;
  body: Body;
  /** The request's URL as clients reach it, for links. */
  url: string;
  /** To be called in the transaction of the change, with the answer: what `Idempotency-Key` replays. */
  remember: Remember;
};

export type Endpoint<A extends Access, P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType> = {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** OpenAPI's form: `/repos/{owner}`. */
  path: string;
  summary: string;
  description?: string;
  tag: string;
  deprecated?: { successor: (path: z.output<P>) => string };
  access: A;
  params: P;
  query?: Q;
  body?: { schema: B; example: unknown; isOptional?: true };
  /** The one success. */
  success: {
    status: 200 | 201 | 204;
    description: string;
    schema?: z.ZodType;
    example?: unknown;
    /** Headers that it may have, with what they say. */
    headers?: Record<string, string>;
  };
  /** Refuses what the path names beyond the access's own, before the body is looked at. */
  exists?(call: Found<A> & { deps: Deps; actor: Actor; path: z.output<P> }): Promise<unknown>;
  /** A POST that changes nothing: retries are safe without an `Idempotency-Key`. */
  isReading?: true;
  /** Refusals beyond those that the access and the body bring. */
  alsoRefuses?: 400[];
  handle(call: Call<A, z.output<P>, z.output<Q>, z.output<B>>): Promise<unknown>;
};

/** Keeps an endpoint's types for its handler, and forgets them for the list of all endpoints. */
export function endpoint<A extends Access, P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType>(
  definition: Endpoint<A, P, Q, B>,
): AnyEndpoint {
  return definition as unknown as AnyEndpoint;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the list holds endpoints of every type
export type AnyEndpoint = Endpoint<any, any, any, any>;

/** Who calls, and what callers who are not known may make us ask of GitHub. */
export type Callers = { tokens: GitHubTokens; strangers: StrangerLimits };

/** Serves an endpoint. */
export function mount(api: Hono, deps: Deps, callers: Callers, definition: AnyEndpoint): void {
  const path = describeRoute(definition).getRoutingPath();
  api.on(definition.method.toUpperCase(), path, async (context) => {
    const answer = await answerCall(deps, callers, definition, context);
    for (const [name, value] of Object.entries(answer.headers ?? {})) context.header(name, value);
    if (isKnown(answer.headers?.['ETag'], context.req.header('If-None-Match')))
      return context.body(null, 304);
    return answer.body === undefined
      ? context.body(null, answer.status as 204)
      : context.json(answer.body as object, answer.status as 200);
  });
}

async function answerCall(
  deps: Deps,
  { tokens, strangers }: Callers,
  definition: AnyEndpoint,
  context: Context,
): Promise<Answer> {
  const { req } = context;
  const path = validate(definition.params, req.param(), 'path') as Record<string, unknown>;
  if (definition.deprecated) announceDeprecation(context, definition.deprecated.successor(path));
  const authorization = req.header('Authorization');
  const asking = strangers.guard(deps, context, async () => bearerOf(authorization));
  const { to } = definition.access;
  const place = to === 'repository' || to === 'repository-readers' ? (path as RepositoryPath) : null;
  const credential = await authenticate(asking, tokens, authorization, place);
  const actor = actorOf(credential);
  const isKey = credential.kind === 'application-key';
  let reading: Promise<unknown> | undefined;
  const readJson = () => (reading ??= readJsonBody(req.raw));
  const found = await authorize(isKey ? deps : asking, tokens, definition, credential, path, readJson);
  // Every account of GitHub reads what is public: that makes nobody known.
  if (!isKey && to !== 'own-key' && to !== 'repository-readers')
    await strangers.known.remember(deps, credential.token);
  const key = takesIdempotencyKey(definition) ? req.header('Idempotency-Key') : undefined;
  // A retried request may replay an answer about what it deleted itself.
  if (key === undefined) await definition.exists?.({ ...found, deps, actor, path } as never);
  const queries = definition.query ? queryOf(req.queries()) : {};
  assertStorable(queries, 'query');
  const query = definition.query ? validate(definition.query, queries, 'query') : {};
  const json = definition.body ? await readJson() : undefined;
  const { schema, isOptional } = definition.body ?? {};
  const body = schema && validateBody(schema, json, isOptional);
  const url = deps.config.publicUrl + req.url.slice(req.url.indexOf('/', 'https://'.length));
  const run = async (remember: Remember): Promise<Answer> => {
    const call = { ...found, deps, actor, credential, path, query, body, url, remember };
    const result = await definition.handle(call as never);
    return isAnswer(result) ? result : { status: definition.success.status, body: result };
  };
  if (key === undefined) return run(async () => {});
  const where = { caller: `${actor.type}:${actor.id}`, request: `POST ${req.path}`, key };
  return runOnce(deps, where, json, run);
}

/** A handler that needs headers says so with this; any other result is the body. */
export class HandlerAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Record<string, string>;
  constructor(status: number, body: unknown, headers: Record<string, string>) {
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}
const isAnswer = (result: unknown): result is HandlerAnswer => result instanceof HandlerAnswer;

async function authorize(
  deps: Deps,
  tokens: GitHubTokens,
  { access, method, body }: AnyEndpoint,
  credential: Credential,
  path: Record<string, unknown>,
  readJson: () => Promise<unknown>,
) {
  const owner = path['owner'] as string;
  const to = method === 'get' ? 'read' : 'change';
  switch (access.to) {
    case 'repository':
      return authorizeRepository(deps, tokens, credential, access, path as never);
    case 'repository-readers':
      return { repository: await authorizeReader(deps, tokens, credential, path as never) };
    case 'owner':
      return { account: await authorizeOwner(deps, tokens, credential, owner, to) };
    case 'owner-or-repositories':
      return authorizeOwnerOr(deps, tokens, credential, owner, to, async (account) =>
        // What is no body names nothing.
        access.repositories({ deps, account, path, json: body && (await readJson().catch(() => null)) }),
      );
    case 'own-key':
      return {};
  }
}

/** A parameter given once is a string, one given several times is a list. */
const queryOf = (queries: Record<string, string[]>) =>
  Object.fromEntries(
    Object.entries(queries).map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  );

/** RFC 9745 wants the instant: both routes have been deprecated since the first version, 2026-11-21. */
const deprecatedSince = '@1795219200';

function announceDeprecation(context: Context, successor: string): void {
  context.header('Deprecation', deprecatedSince);
  context.header('Link', `<${successor}>; rel="successor-version"`);
}

const deprecationHeaders = {
  Deprecation: 'Since when this operation is deprecated (RFC 9745)',
  Link: 'Its successor: `rel="successor-version"`',
};

/** An endpoint as the OpenAPI document shows it. */
export function describeRoute(definition: AnyEndpoint) {
  const { success, body } = definition;
  const answers = {
    description: success.description,
    ...(success.schema && { content: jsonContent(success.schema, success.example) }),
    ...headersOf({ ...success.headers, ...(definition.deprecated && deprecationHeaders) }),
  };
  const config: RouteConfig = {
    method: definition.method,
    path: definition.path,
    summary: definition.summary,
    description: definition.description,
    tags: [definition.tag],
    deprecated: definition.deprecated ? true : undefined,
    security: securityOf(definition.access),
    request: {
      params: definition.params,
      query: definition.query,
      headers: requestHeaders(definition),
      body: body && { required: !body.isOptional, content: jsonContent(body.schema, body.example) },
    },
    responses: {
      [success.status]: answers,
      ...(success.headers?.['ETag'] && { 304: { description: 'The answer is the one that the caller has' } }),
      ...errorResponses(definition),
    },
  };
  return createRoute(config as Parameters<typeof createRoute>[0]);
}

const ifNoneMatchHeader = z.object({
  'If-None-Match': z.string().optional().openapi({
    description: 'The `ETag` of an earlier answer: 304 where it is still the one',
  }),
});

function requestHeaders(definition: AnyEndpoint): z.ZodObject | undefined {
  if (takesIdempotencyKey(definition)) return idempotencyHeader;
  return definition.success.headers?.['ETag'] ? ifNoneMatchHeader : undefined;
}

const takesIdempotencyKey = ({ method, isReading }: AnyEndpoint): boolean => method === 'post' && !isReading;

const idempotencyHeader = z.object({
  'Idempotency-Key': z.string().min(1).max(255).optional().openapi({
    description: 'Makes a retry safe: the first answer is replayed for 24 hours.',
    example: '0b9d1e5e-7a3f-4f0e-9f49-2f2f9a2b8c11',
  }),
});
