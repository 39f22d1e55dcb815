import { randomUUID } from 'node:crypto';
import type { components, paths } from '../../generated/v1.d.ts';
import { unknownThing, refusedBy, CommandStop } from '../stop.ts';
import { printableLines } from '../terminal.ts';
import { version } from '../version.ts';
import type { World } from '../world.ts';

// The types of the API come from the OpenAPI document of the service: see bin/write-api-types.ts.

/** The objects of the API, by their names. */
export type Schemas = components['schemas'];

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
type PathWith<M extends Method> = {
  [Path in keyof paths]: paths[Path] extends Record<M, object> ? Path : never;
}[keyof paths];
type Json<Value> = { content: { 'application/json': Value } };
type Params<Operation> = Operation extends { parameters: { path: infer Each extends object } }
  ? Each
  : object;
type Body<Operation> = Operation extends { requestBody?: never }
  ? undefined
  : Operation extends { requestBody?: Json<infer Value> }
    ? Value
    : never;
type ResponseOf<Operation> = Operation extends {
  responses: { 200: Json<infer Value> } | { 201: Json<infer Value> } | { 202: Json<infer Value> };
}
  ? Value
  : null;
type Query = Record<string, string | string[] | undefined>;
type Send<M extends Method> = <Path extends PathWith<M>>(
  path: Path,
  params: Params<paths[Path][M]>,
  body: Body<paths[Path][M]>,
) => Promise<ResponseOf<paths[Path][M]>>;

/** The API of one Holdfast. Every call @throws Stop with the message of the service. */
export type ServiceClient = {
  get<Path extends PathWith<'get'>>(
    path: Path,
    params: Params<paths[Path]['get']>,
    query?: Query,
  ): Promise<ResponseOf<paths[Path]['get']>>;
  /** All pages of a list, one after another. */
  pages<Path extends PathWith<'get'>>(
    path: Path,
    params: Params<paths[Path]['get']>,
    query: Query,
  ): AsyncGenerator<ResponseOf<paths[Path]['get']>>;
  /** Sends an `Idempotency-Key`, so that repeated tries have one effect. */
  post: Send<'post'>;
  put: Send<'put'>;
  patch: Send<'patch'>;
  delete<Path extends PathWith<'delete'>>(path: Path, params: Params<paths[Path]['delete']>): Promise<null>;
};

export type Retries = {
  /** How often to try a call: if the service fails or asks to wait, and if nothing answers. */
  answered: number;
  unanswered: number;
  /** Whether a retry may change this status. The caller handles 429, and 409 after a POST. */
  isPassing(status: number): boolean;
  /** Milliseconds until the next try, if the service does not say how long to wait. @param tries so far. */
  pause(tries: number, isAnswered: boolean): number;
  /** Whether all tries can take so long that somebody must be told what they wait for. */
  isLong?: boolean;
};

/** A person waits, so failures show soon. */
const forPeople: Retries = {
  answered: 5,
  unanswered: 3,
  isPassing: (status) => status >= 502 && status <= 504,
  pause: (tries, isAnswered) => (isAnswered ? 1000 : 250 * 2 ** tries),
};

/** A CI job can wait for a restart. Jobs that failed together do not try again together. */
export const forJobs: Retries = {
  answered: 8,
  unanswered: 8,
  isPassing: (status) => status >= 500,
  pause: (tries) => Math.min(30_000, 500 * 2 ** tries) * (0.5 + Math.random() / 2),
  isLong: true,
};

/** Milliseconds. The service looks at a repository for at most 20 s. */
export const servicePatience = 30_000;
/** The most milliseconds that one call waits in total. */
const longestServiceWait = 120_000;
/** Milliseconds without an answer until it says so. */
const saysAfter = 5_000;

type Request = { method: Method; path: string; params: object; query?: Query; body?: object };
type Response = { status: number; headers: Headers; text: string };

export function serviceAt(world: World, url: string, token: string, retries = forPeople): ServiceClient {
  async function call(request: Request): Promise<{ body: never; headers: Headers }> {
    const send = sender(url, token, request);
    const until = world.now() + longestServiceWait;
    let isTold = !retries.isLong;
    const tell = (what: string) => {
      if (!isTold)
        world.err.write(`${printableLines(what)} Trying for up to ${longestServiceWait / 60_000} minutes.\n`);
      isTold = true;
    };
    for (let tries = 1; ; tries++) {
      const slow = setTimeout(() => tell(`Waiting for an answer of Holdfast at ${url}.`), saysAfter);
      const response = await send()
        .catch((error: unknown) => noAnswer(url, error))
        .finally(() => clearTimeout(slow));
      const isAnswered = !(response instanceof CommandStop);
      if (isAnswered) {
        const { status, headers } = response;
        if (status < 400) return { body: readBody(url, response) as never, headers };
        // The previous try succeeded, and its answer was lost.
        if (request.method === 'delete' && status === 404 && tries > 1)
          return { body: null as never, headers };
      }
      const pause = isAnswered
        ? pauseAfter(response, request.method === 'post' && tries > 1, retries, tries)
        : retries.pause(tries, false);
      const most = isAnswered ? retries.answered : retries.unanswered;
      if (pause === null || tries >= most || world.now() + pause > until)
        throw isAnswered ? refusalIn(url, response.status, parseJson(response.text)) : response;
      tell(isAnswered ? `Holdfast at ${url} answers ${response.status}.` : response.message);
      await world.delay(pause);
    }
  }
  const send =
    (method: Method) =>
    async (path: string, params: object, body?: object): Promise<never> =>
      (await call({ method, path, params, body })).body;
  return {
    get: async (path, params, query) => (await call({ method: 'get', path, params, query })).body,
    async *pages(path, params, query) {
      for (let next: Query | null = query; next;) {
        const { body, headers } = await call({ method: 'get', path, params, query: next });
        yield body;
        next = nextPage(headers);
      }
    },
    post: send('post'),
    put: send('put'),
    patch: send('patch'),
    delete: send('delete'),
  };
}

/** Sends the request once for each call. A redirect is an error, because it would send the credential elsewhere. */
function sender(url: string, token: string, { method, path, params, query = {}, body }: Request) {
  const values = params as Record<string, string | number>;
  const target = new URL(
    `${url}/v1${path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name]!))}`,
  );
  for (const [name, value] of Object.entries(query))
    for (const each of [value ?? []].flat()) target.searchParams.append(name, each);
  const headers = {
    Authorization: `Bearer ${token}`,
    'User-Agent': `holdfast-cli/${version()}`,
    ...(body && { 'Content-Type': 'application/json' }),
    ...(method === 'post' && { 'Idempotency-Key': randomUUID() }),
  };
  const init = { method: method.toUpperCase(), headers, body: body && JSON.stringify(body) };
  return async (): Promise<Response> => {
    const signal = AbortSignal.timeout(servicePatience);
    const response = await fetch(target, { ...init, redirect: 'error', signal });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
}

/**
 * Milliseconds until the next try; null if another try changes nothing.
 * @param isAgain whether it was sent before with the same key: then 409 can mean that the service is still working.
 */
function pauseAfter({ status, headers }: Response, isAgain: boolean, retries: Retries, tries: number) {
  if (status !== 429 && !(status === 409 && isAgain) && !retries.isPassing(status)) return null;
  const seconds = Number(headers.get('Retry-After') ?? NaN);
  return Number.isFinite(seconds) ? Math.max(1, seconds) * 1000 : retries.pause(tries, true);
}

/** The query of the next page. It uses only the query of the link, so the credential goes to no other host. */
function nextPage(headers: Headers): Query | null {
  const link = /<([^>]+)>; *rel="next"/.exec(headers.get('Link') ?? '')?.[1];
  if (!link) return null;
  const { searchParams } = new URL(link, 'https://here');
  return Object.fromEntries(
    [...new Set(searchParams.keys())].map((name) => [name, searchParams.getAll(name)]),
  );
}

/** The content of a good answer. @throws Stop if it is not JSON, such as the sign-in page of a proxy. */
function readBody(url: string, { status, text }: Response): unknown {
  const body = parseJson(text);
  if (body === null && status !== 204)
    throw unknownThing(
      `What answers at ${url} is not Holdfast: its answer is not JSON. Name the service with --url or HOLDFAST_URL.`,
      status,
    );
  return body;
}

/** The JSON value of a text; null if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

type Problem = { loc?: unknown; msg?: unknown };

/** What to do about a refusal if the service does not say it. */
const advice: Record<number, string> = {
  403: 'Use another credential: HOLDFAST_TOKEN, or `gh auth login`. An admin key of the owner can do everything but push scopes.',
  404: 'Check the name, and whether Holdfast is installed there.',
};

/** The answer of every version of the service for an unknown path. */
const noRoute = 'There is no such route.';

/** The refusal in an answer, in the words of the service. @param body the JSON of the answer, or null. */
function refusalIn(url: string, status: number, body: unknown): CommandStop {
  const detail = (body as { detail?: unknown } | null)?.detail;
  const says = typeof detail === 'string' ? detail : Array.isArray(detail) ? problems(detail) : null;
  if (says === null) {
    const remedy =
      status >= 500
        ? 'It may be starting or overloaded: try again in a minute, and see holdfast doctor.'
        : 'Check that the address is that of a Holdfast.';
    return unknownThing(`${url} answers ${status} and does not say why. ${remedy}`, status);
  }
  if (status === 404 && says.startsWith(noRoute))
    return refusedBy(
      `The Holdfast at ${url} is older than this command, and cannot do this. Update it.`,
      status,
    );
  const message = [says, advice[status]].filter(Boolean).join('\n');
  // The service could not do it now, and may do it later.
  return status >= 500 || status === 429 ? unknownThing(message, status) : refusedBy(message, status);
}

/** The bad fields, one on each line. */
const problems = (list: Problem[]): string =>
  list
    .map(({ loc, msg }) => {
      const place = Array.isArray(loc) ? loc.slice(1).join('.') : '';
      return place ? `${place}: ${String(msg)}` : String(msg);
    })
    .join('\n');

/** What to do if `fetch` got no answer. @param error that it threw. */
export function noAnswer(url: string, error: unknown): CommandStop {
  const { message, cause } = error as Error;
  const why = cause instanceof Error && cause.message ? cause.message : message;
  const remedy = isUntrusted(cause)
    ? 'Set NODE_EXTRA_CA_CERTS to a file with the certificate of its signer.'
    : 'Start it, or name it with --url or HOLDFAST_URL.';
  return unknownThing(`Holdfast does not answer at ${url} (${why}). ${remedy}`);
}

/** Whether this machine does not trust the signer of the certificate. */
const isUntrusted = (cause: unknown): boolean =>
  /SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET_ISSUER)/.test(String((cause as { code?: unknown } | undefined)?.code));
