import { randomUUID } from 'node:crypto';
import { notKnown, Stop } from '../stop.ts';
import type { World } from '../world.ts';
import { readJson, refusalIn, whyNoAnswer } from './answers.ts';
import { forPeople, type Retries } from './retries.ts';

type Query = Record<string, string | string[] | undefined>;

/** The API of one Holdfast. Every call @throws Stop with the message of the service. */
export type Service = {
  url: string;
  get<Body>(path: string, query?: Query): Promise<Body>;
  /** All pages of a list, one after another. */
  pages<Body>(path: string, query?: Query): AsyncGenerator<Body>;
  /** Sends an `Idempotency-Key`, so that repeated tries have one effect. */
  post<Body>(path: string, body: object): Promise<Body>;
  put<Body>(path: string, body: object): Promise<Body>;
  patch<Body>(path: string, body: object): Promise<Body>;
  delete(path: string): Promise<void>;
};

/** A path below `/v1`, from its unescaped parts. */
export const v1 = (...parts: (string | number)[]): string =>
  `/v1/${parts.map((part) => encodeURIComponent(part)).join('/')}`;

/** Milliseconds. The service looks at a repository for at most 20 s. */
const patience = 30_000;
/** The most milliseconds that one call waits in total. */
const longestWait = 120_000;

type Asked = { method: string; path: string; query?: Query; body?: object };
type Answer = { status: number; headers: Headers; text: string };

/** @param version of this command, for the service's log. */
export function serviceAt(
  world: World,
  url: string,
  token: string,
  version: string,
  retries = forPeople,
): Service {
  async function call(asked: Asked): Promise<{ body: unknown; headers: Headers }> {
    const send = sender(url, token, version, asked);
    const until = world.now() + longestWait;
    for (let tries = 1; ; tries++) {
      const answer = await send().catch((error: unknown) => noAnswer(url, error));
      if (!(answer instanceof Stop)) {
        if (answer.status < 400) return { body: readBody(url, answer), headers: answer.headers };
        // The previous try succeeded, and its answer was lost.
        if (asked.method === 'DELETE' && answer.status === 404 && tries > 1)
          return { body: null, headers: answer.headers };
      }
      const pause =
        answer instanceof Stop
          ? retries.pause(tries, false)
          : pauseOf(answer, asked.method === 'POST' && tries > 1, retries, tries);
      const most = answer instanceof Stop ? retries.unanswered : retries.answered;
      if (pause === null || tries >= most || world.now() + pause > until)
        throw answer instanceof Stop ? answer : refusalIn(url, answer.status, readJson(answer.text));
      await world.delay(pause);
    }
  }
  const bodyOf = async <Body>(asked: Asked) => (await call(asked)).body as Body;
  return {
    url,
    get: (path, query) => bodyOf({ method: 'GET', path, query }),
    async *pages<Body>(path: string, query: Query = {}) {
      for (let next: Query | null = query; next;) {
        const { body, headers } = await call({ method: 'GET', path, query: next });
        yield body as Body;
        next = nextPage(headers);
      }
    },
    post: (path, body) => bodyOf({ method: 'POST', path, body }),
    put: (path, body) => bodyOf({ method: 'PUT', path, body }),
    patch: (path, body) => bodyOf({ method: 'PATCH', path, body }),
    delete: async (path) => void (await call({ method: 'DELETE', path })),
  };
}

function noAnswer(url: string, error: unknown): Stop {
  const { why, remedy } = whyNoAnswer(error);
  return notKnown(`Holdfast does not answer at ${url} (${why}). ${remedy}`);
}

/** Sends the request once for each call. A redirect is an error, because it would send the credential elsewhere. */
function sender(url: string, token: string, version: string, { method, path, query, body }: Asked) {
  const target = new URL(url + path);
  for (const [name, value] of Object.entries(query ?? {}))
    for (const each of [value ?? []].flat()) target.searchParams.append(name, each);
  const headers = {
    Authorization: `Bearer ${token}`,
    'User-Agent': `holdfast-cli/${version}`,
    ...(body && { 'Content-Type': 'application/json' }),
    ...(method === 'POST' && { 'Idempotency-Key': randomUUID() }),
  };
  const text = body && JSON.stringify(body);
  return async (): Promise<Answer> => {
    const signal = AbortSignal.timeout(patience);
    const response = await fetch(target, { method, headers, body: text, redirect: 'error', signal });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
}

/**
 * Milliseconds until the next try; null if another try changes nothing.
 * @param isAgain whether it was sent before with the same key: then 409 can mean that the service is still working.
 */
function pauseOf({ status, headers }: Answer, isAgain: boolean, retries: Retries, tries: number) {
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
function readBody(url: string, { status, text }: Answer): unknown {
  const body = readJson(text);
  if (body === null && status !== 204)
    throw notKnown(
      `What answers at ${url} is not Holdfast: its answer is not JSON. Name the service with --url or HOLDFAST_URL.`,
      status,
    );
  return body;
}
