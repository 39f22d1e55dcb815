// For every test file: with GITHUB_RECORDINGS=folder, what the sandbox is asked, answers and sends is kept there, once in
// each shape, for test/descriptions to judge. Without it, nothing is watched.
import { createHash } from 'node:crypto';
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Principal, reaches } from '../../sandbox/state/access.ts';
import type { Repository } from '../../sandbox/state/model.ts';
import type { World } from '../../sandbox/state/world.ts';
import { exchanges, type WatchedExchange, type WatchedWebhook, webhooks } from '../../sandbox/watched.ts';

/** A line of a recording. */
export type RecordedExchange = {
  kind: 'exchange';
  method: string;
  /** With its query. */
  path: string;
  /** What GitHub reads of the request's headers. */
  headers: Record<string, string>;
  body: unknown;
  /** Whose token it is. `none`: it was refused before that was known. */
  caller: Principal['kind'] | 'none';
  /** Of an installation token. */
  permissions: Record<string, string> | null;
  /** Whether it is about a private repository. */
  isPrivate: boolean;
  status: number;
  answerHeaders: Record<string, string>;
  answer: unknown;
};

export type RecordedWebhook = { kind: 'webhook'; event: string; payload: unknown };
export type RecordedLine = RecordedExchange | RecordedWebhook;

const folder = process.env['GITHUB_RECORDINGS'];
const mark = Symbol.for('holdfast: recorded shapes');
const worker = globalThis as { [mark]?: Set<string> };

// A worker runs this for each file, and records until it ends.
if (folder && !worker[mark]) {
  const seen = (worker[mark] = new Set());
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${process.pid}-${crypto.randomUUID()}.jsonl`);
  const keep = (line: RecordedLine, shape: unknown) => {
    const key = createHash('sha1').update(JSON.stringify(shape)).digest('base64');
    if (seen.has(key)) return;
    seen.add(key);
    appendFileSync(file, `${JSON.stringify(line)}\n`);
  };
  // One that broke off is no exchange.
  subscribe(exchanges.name, (message) => void keepExchange(message as WatchedExchange, keep).catch(() => {}));
  subscribe(webhooks.name, (message) => {
    const { event, payload } = message as WatchedWebhook;
    keep({ kind: 'webhook', event, payload: shortened(payload) }, [event, shapeOf(payload)]);
  });
}

async function keepExchange(
  { world, principal, request, answer }: WatchedExchange,
  keep: (line: RecordedLine, shape: unknown) => void,
): Promise<void> {
  const { pathname, search, searchParams } = new URL(request.url);
  // As it is now: a story goes on while bodies are read.
  const reached = reach(principal, repositoryInPath(world, pathname));
  const [sent, text] = await Promise.all([request.text(), answer.text()]);
  // Pages for people.
  const isOfPeople = /text\/html/.test(request.headers.get('accept') ?? '');
  if (isOfPeople || (!principal && !/json/.test(answer.headers.get('content-type') ?? ''))) return;
  const body = parsed(sent);
  const isGraphql = pathname === '/graphql';
  const line: RecordedExchange = {
    kind: 'exchange',
    method: request.method,
    path: pathname + search,
    headers: named(request.headers, ['accept', 'content-type', 'user-agent', 'x-github-api-version']),
    body,
    caller: principal?.kind ?? 'none',
    ...(isGraphql ? reach(principal, repositoryInVariables(world, body)) : reached),
    status: answer.status,
    answerHeaders: named(answer.headers, ['content-type', 'etag', 'location', 'retry-after', 'link']),
    answer: shortened(parsed(text)),
  };
  const { body: _, answer: answered, path: __, ...rest } = line;
  keep(line, [
    rest.method,
    pathname.replaceAll(/[0-9a-f]{40}|\d+/g, '0').replace(/^(\/repos)\/[^/]+\/[^/]+/, '$1'),
    [...searchParams.keys()].sort(),
    isGraphql ? graphqlShape(body) : shapeOf(body),
    isGraphql ? Object.keys((answered ?? {}) as object) : shapeOf(answered),
    { ...rest, answerHeaders: Object.keys(rest.answerHeaders) },
  ]);
}

/** What a token may do there, which is nothing where it was not given, and whether others may read it. */
const reach = (principal: Principal | undefined, repository: Repository | undefined) => ({
  permissions:
    principal?.kind !== 'installation'
      ? null
      : repository && !reaches(principal.token, repository)
        ? {}
        : { ...principal.token.permissions },
  isPrivate: repository?.private ?? false,
});

function repositoryInPath(world: World, pathname: string): Repository | undefined {
  const [, first, owner, name] = pathname.split('/');
  if (first === 'repositories') return world.repositories.get(Number(owner));
  return first === 'repos' ? world.findRepository(`${owner}/${name}`) : undefined;
}

/** The repository that a query is about. */
function repositoryInVariables(world: World, body: unknown): Repository | undefined {
  const { variables = {} } = (body ?? {}) as { variables?: Record<string, unknown> };
  if (typeof variables['name'] === 'string')
    return world.findRepository(`${String(variables['owner'])}/${variables['name']}`);
  const found = world.findNode(String(variables['id'] ?? (variables['ids'] as string[] | undefined)?.[0]));
  return found && 'repository' in found ? found.repository : undefined;
}

const named = (headers: Headers, names: string[]): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (headers.has(name) ? [[name, headers.get(name)!]] : [])));

function parsed(text: string): unknown {
  try {
    return text === '' ? null : JSON.parse(text);
  } catch {
    return text;
  }
}

/** A text of GraphQL with the switches that change what it asks for. */
function graphqlShape(body: unknown): unknown {
  const { query, variables = {} } = (body ?? {}) as { query?: string; variables?: object };
  const plain = Object.entries(variables).map(([key, value]) => [
    key,
    typeof value === 'boolean' || typeof value === 'number' ? value : typeof value,
  ]);
  return [query, plain];
}

const mostItems = 3;

/** The first items of each list. */
function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, mostItems).map(shortened);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shortened(each)]));
}

/** Types in place of values. Words such as `pending` stay, because lists of values have them. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value))
    return [...new Set(value.slice(0, mostItems).map((each) => JSON.stringify(shapeOf(each))))].sort();
  if (value === null) return null;
  if (typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shapeOfField(key, each)]));
  return typeof value;
}

/** Fields whose values GitHub lists. */
const listed =
  /^(?:action|state|status|type|conclusion|reason|visibility|role|enforcement|.*_(?:state|type|role|selection|action|method))$/;

const shapeOfField = (key: string, value: unknown): unknown =>
  typeof value === 'string' && listed.test(key) ? value : shapeOf(value);
