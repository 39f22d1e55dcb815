// Every request goes through the same steps in the same order: path, credential, permission and existence, body.
import type { Context, Hono, HonoRequest } from 'hono';
import { isWellFormedKey } from '../auth/application-key.ts';
import { authenticate, bearerOf, actorOf, type Caller } from '../auth/caller.ts';
import {
  type AuthorizedRepository,
  authorizeOwner,
  authorizeReader,
  authorizeRepository,
} from '../auth/authorize.ts';
import { authorizeOwnerOr } from '../auth/authorize-owner-or.ts';
import type { JobTokens } from '../auth/oidc/job-token.ts';
import type { Deps } from '../deps.ts';
import { Refusal } from '../errors.ts';
import type { Actor } from '../events/actor.ts';
import type { CallerLimits } from '../github/limits/caller-limits.ts';
import { HandlerAnswer } from './answers.ts';
import { type AnyEndpoint, takesIdempotencyKey, type Access } from './endpoint.ts';
import { type Answer, type Remember, runOnce } from './idempotency.ts';
import { readAlone, type RepositoryRead } from '../installations/find-repository.ts';
import { assertStorable, mayReadAhead, readJsonBody, validate, validateBody } from './read-request.ts';

/** Identifies callers, and limits how much they can make us ask GitHub. */
type Callers = { jobs: JobTokens; limits: CallerLimits };

/** Serves an endpoint. */
export function serveEndpoint(api: Hono, deps: Deps, callers: Callers, definition: AnyEndpoint): void {
  const path = definition.path.replaceAll(/\{(\w+)\}/g, ':$1');
  api.on(definition.method.toUpperCase(), path, async (context) => {
    const answer = await answerCall(deps, callers, definition, context);
    for (const [name, value] of Object.entries(answer.headers ?? {})) context.header(name, value);
    if (isKnown(answer.headers?.['ETag'], context.req.header('If-None-Match')))
      return context.body(null, 304);
    return answer.body === undefined
      ? context.body(null, answer.status as 204)
      : context.json(answer.body, answer.status as 200);
  });
}

async function answerCall(
  deps: Deps,
  { jobs, limits }: Callers,
  definition: AnyEndpoint,
  context: Context,
): Promise<Answer> {
  const { req } = context;
  const path = validate(definition.params, req.param(), 'path') as Path;
  if (definition.deprecated) announceDeprecation(context, definition.deprecated.successor(path));
  const depsFor = (actor: Actor | null): Deps => ({
    ...deps,
    questions: limits.questionsOf(deps, context, async () => actor),
  });
  const access = definition.access as Access;
  const isOfRepository = access.to === 'repository' || access.to === 'repository-readers';
  const authorization = req.header('Authorization');
  const { readJson, readContent } = contentOf(definition, req);
  const readsOf = (content: Content): RepositoryRead<unknown> | null =>
    definition.reads?.({ deps, path, ...content }) ?? null;
  const mayTravel =
    definition.reads &&
    isWellFormedKey(bearerOf(authorization) ?? '') &&
    (!definition.body || mayReadAhead(req.raw));
  // What is wrong with the content is said once the caller has permission.
  const along = mayTravel
    ? await readContent()
        .then(readsOf)
        .catch(() => null)
    : null;
  const place = isOfRepository ? path : null;
  const caller = await authenticate(depsFor(null), jobs, authorization, place, along);
  const actor = actorOf(deps, caller);
  const counted = depsFor(actor);
  // GitHub is asked anew for what changes something. A body that changes nothing is worth no question.
  const isLive = access.isLive && !(await isInvalid(readContent));
  const authorized = await authorize(counted, caller, { ...access, isLive }, path, {
    to: definition.method === 'get' ? 'read' : 'change',
    // An invalid body names nothing.
    readNamed: async () => definition.body && readJson().catch(() => null),
  });
  // Any GitHub account can read public repositories, so that does not make a caller known.
  if (caller.kind === 'github-token' && access.to !== 'own-key' && access.to !== 'repository-readers')
    await limits.remember(deps, actor, caller.token);
  const key = takesIdempotencyKey(definition) ? req.header('Idempotency-Key') : undefined;
  // A retried request may replay an answer about a resource that it deleted itself.
  if (key === undefined) await definition.exists?.({ ...authorized, deps, actor, path });
  const content = await readContent();
  const { query, json, body } = content;
  const read = () =>
    along && caller.kind === 'application-key' && caller.repository
      ? Promise.resolve(caller.value)
      : readAlone(
          { query: deps.sql.read },
          readsOf(content)!,
          (authorized as AuthorizedRepository).repository,
        );
  const url = deps.config.publicUrl + req.url.slice(req.url.indexOf('/', 'https://'.length));
  const { status, hasSecret } = definition.success;
  const run = async (save: Remember): Promise<Answer> => {
    const remember = (tx: Parameters<Remember>[0], result?: unknown) =>
      save(tx, { ...answerTo(result), hasSecret });
    const call = { ...authorized, deps: counted, actor, caller, path, query, body, read, url, remember };
    return answerTo(await definition.handle(call));

    function answerTo(result: unknown): Answer {
      const shown: unknown = definition.present ? definition.present(result, call) : result;
      return shown instanceof HandlerAnswer ? { status, ...shown } : { status, body: shown };
    }
  };
  if (key === undefined) return run(async () => {});
  const where = { caller: `${actor.type}:${actor.id}`, request: `POST ${req.path}`, key };
  return runOnce(deps, where, json, run);
}

/** The parameters of a path, as its route validated them. A route without an owner or repository does not read them. */
type Path = Record<string, unknown> & { owner: string; repository: string };

/** Whether the content is refused no matter who sent it. */
const isInvalid = (readContent: () => Promise<unknown>): Promise<boolean> =>
  readContent().then(
    () => false,
    (error: unknown) => error instanceof Refusal,
  );

/** The query and body of a request. `json` is the body as it was sent. */
type Content = { query: unknown; json: unknown; body: unknown };

/** Reads it once, on first use. */
function contentOf(definition: AnyEndpoint, req: HonoRequest) {
  let json: Promise<unknown> | undefined;
  const readJson = () => (json ??= readJsonBody(req.raw));
  let content: Promise<Content> | undefined;
  const readContent = () => (content ??= read());
  return { readJson, readContent };

  async function read(): Promise<Content> {
    const queries = definition.query ? queryOf(req.queries()) : {};
    assertStorable(queries, 'query');
    const query = definition.query ? validate(definition.query, queries, 'query') : {};
    const json = definition.body ? await readJson() : undefined;
    const { schema, isOptional } = definition.body ?? {};
    return { query, json, body: schema && validateBody(schema, json, isOptional) };
  }
}

async function authorize(
  deps: Deps,
  caller: Caller,
  access: Access,
  path: Path,
  request: { to: 'read' | 'change'; readNamed(): Promise<unknown> },
) {
  switch (access.to) {
    case 'repository':
      return authorizeRepository(deps, caller, access, path);
    case 'repository-readers':
      return { repository: await authorizeReader(deps, caller, path) };
    case 'owner':
      return { account: await authorizeOwner(deps, caller, path.owner, request.to) };
    case 'owner-or-repositories':
      return authorizeOwnerOr(deps, caller, path.owner, request.to, access, async (account) =>
        access.repositories({ deps, account, path, json: await request.readNamed() }),
      );
    case 'own-key':
      return {};
  }
}

/** A parameter that is given once is a string. One that is given several times is a list. */
const queryOf = (queries: Record<string, string[]>) =>
  Object.fromEntries(
    Object.entries(queries).map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  );

/**
 * Whether the client already has the answer with this tag (RFC 9110, section 13.1.2).
 * @param ifNoneMatch the request header: tags, or `*`. Proxies that compress turn strong tags into weak ones.
 */
export function isKnown(etag: string | undefined, ifNoneMatch: string | undefined): boolean {
  if (etag === undefined || ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((each) => {
    const tag = each.trim().replace(/^W\//, '');
    return tag === '*' || tag === etag;
  });
}

/** RFC 9745 requires the instant. Both routes have been deprecated since the first version, 2026-11-21. */
const deprecatedSince = '@1795219200';

function announceDeprecation(context: Context, successor: string): void {
  context.header('Deprecation', deprecatedSince);
  context.header('Link', `<${successor}>; rel="successor-version"`);
}
