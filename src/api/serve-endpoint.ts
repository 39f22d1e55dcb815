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
import { type Answer, type RememberAnswer, runOnce } from './idempotency.ts';
import { readAlone, type RepositoryRead } from '../installations/find-repository.ts';
import { assertStorable, mayReadAhead, readJsonBody, validate, validateBody } from './read-request.ts';

/** Identifies callers, and limits how much they can make us ask GitHub. */
type Callers = { jobs: JobTokens; limits: CallerLimits };

/** A request for an endpoint. */
type Served = Callers & { deps: Deps; definition: AnyEndpoint; context: Context };

/** Serves an endpoint. */
export function serveEndpoint(api: Hono, deps: Deps, callers: Callers, definition: AnyEndpoint): void {
  const path = definition.path.replaceAll(/\{(\w+)\}/g, ':$1');
  api.on(definition.method.toUpperCase(), path, async (context) => {
    const answer = await answerCall({ ...callers, deps, definition, context });
    for (const [name, value] of Object.entries(answer.headers ?? {})) context.header(name, value);
    if (isKnown(answer.headers?.['ETag'], context.req.header('If-None-Match')))
      return context.body(null, 304);
    return answer.body === undefined
      ? context.body(null, answer.status as 204)
      : context.json(answer.body, answer.status as 200);
  });
}

async function answerCall(served: Served): Promise<Answer> {
  const { deps, definition, context } = served;
  const asked = readAsked(served);
  const known = await identify(served, asked);
  const authorized = await permit(served, asked, known);
  const { actor } = known;
  const key = takesIdempotencyKey(definition) ? context.req.header('Idempotency-Key') : undefined;
  // A retried request may replay an answer about a resource that it deleted itself.
  if (key === undefined) await definition.exists?.({ ...authorized, deps, actor, path: asked.path });
  const content = await asked.readContent();
  const run = (save: RememberAnswer) => handle(served, { ...asked, ...known, ...content, authorized }, save);
  if (key === undefined) return run(async () => {});
  const where = { caller: `${actor.type}:${actor.id}`, request: `POST ${context.req.path}`, key };
  return runOnce(deps, where, content.json, run);
}

/** What a request asks. Its query and body are read when somebody wants them. */
type Asked = ReturnType<typeof contentOf> & {
  path: RequestPath;
  /** What the endpoint reads of the repository; null if it reads nothing. */
  readsOf(content: Content): RepositoryRead<unknown> | null;
};

function readAsked({ deps, definition, context }: Served): Asked {
  const path = validate(definition.params, context.req.param(), 'path') as RequestPath;
  if (definition.deprecated) announceDeprecation(context, definition.deprecated.successor(path));
  return {
    ...contentOf(definition, context.req),
    path,
    readsOf: (content) => definition.reads?.({ deps, path, ...content }) ?? null,
  };
}

/** Who asks. @property counted asks GitHub as much as they may. @property read what the endpoint reads, if it came with the key. */
type KnownCaller = { caller: Caller; actor: Actor; counted: Deps; read: { value: unknown } | null };

async function identify(served: Served, { path, readContent, readsOf }: Asked): Promise<KnownCaller> {
  const { deps, definition, context, jobs, limits } = served;
  const { req } = context;
  const depsFor = (actor: Actor | null): Deps => ({
    ...deps,
    questions: limits.questionsOf(deps, context, async () => actor),
  });
  const authorization = req.header('Authorization');
  // What is wrong with the content is said once the caller has permission.
  const wanted = mayReadWithKey(definition, req)
    ? await readContent()
        .then(readsOf)
        .catch(() => null)
    : null;
  const place = isOfRepository(definition) ? path : null;
  const caller = await authenticate(depsFor(null), jobs, authorization, place, wanted);
  const actor = actorOf(deps, caller);
  const read = wanted && caller.kind === 'application-key' && caller.repository ? caller : null;
  return { caller, actor, counted: depsFor(actor), read };
}

const isOfRepository = ({ access: { to } }: AnyEndpoint): boolean =>
  to === 'repository' || to === 'repository-readers';

/** Whether the statement that finds the key can read what the endpoint reads. */
const mayReadWithKey = (definition: AnyEndpoint, req: HonoRequest): boolean =>
  definition.reads !== undefined &&
  isWellFormedKey(bearerOf(req.header('Authorization')) ?? '') &&
  (!definition.body || mayReadAhead(req.raw));

/** What the path names, for a caller who may use it. */
async function permit(
  { deps, definition, limits }: Served,
  { path, readJson, readContent }: Asked,
  { caller, actor, counted }: KnownCaller,
) {
  const access = definition.access as Access;
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
  return authorized;
}

/** Calls the handler. @param save the answer in the transaction of the change. */
async function handle(
  { deps, definition, context: { req } }: Served,
  { authorized, ...asked }: Asked & KnownCaller & Content & { authorized: object },
  save: RememberAnswer,
): Promise<Answer> {
  const { caller, actor, counted, path, query, body } = asked;
  const { status, hasSecret } = definition.success;
  const call = {
    ...authorized,
    ...{ deps: counted, actor, caller, path, query, body },
    url: deps.config.publicUrl + req.url.slice(req.url.indexOf('/', 'https://'.length)),
    read: async () =>
      asked.read
        ? asked.read.value
        : readAlone(
            { query: deps.sql.read },
            asked.readsOf(asked)!,
            (authorized as AuthorizedRepository).repository,
          ),
    remember: (tx: Parameters<RememberAnswer>[0], result?: unknown) =>
      save(tx, { ...answerTo(result), hasSecret }),
  };
  return answerTo(await definition.handle(call));

  function answerTo(result: unknown): Answer {
    const shown: unknown = definition.present ? definition.present(result, call) : result;
    return shown instanceof HandlerAnswer ? { status, ...shown } : { status, body: shown };
  }
}

/** The parameters of a path, as its route validated them. A route without an owner or repository does not read them. */
type RequestPath = Record<string, unknown> & { owner: string; repository: string };

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
  path: RequestPath,
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
