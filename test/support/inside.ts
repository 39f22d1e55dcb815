// Requests inside this process go without sockets: the service, the sandbox and the tests answer each other by functions.
// A file about sockets, connections or processes asks for real ones with `useSockets()`, and with `TEST_SOCKETS=1` every
// file has them.
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll } from 'vitest';
import { type Send, sendBySocket } from '../../sandbox/webhooks/webhooks.ts';

/** Answers a request as a server does. @param env of `@hono/node-server`: the request of Node, with its socket. */
type Serve = (request: Request, env: object) => Response | Promise<Response>;

const always = !!process.env['TEST_SOCKETS'];
let isAsked = false;

/** For a file that is about sockets, before it starts anything. */
export function useSockets(): void {
  isAsked = true;
  afterAll(() => {
    isAsked = false;
  });
}

/** Who answers inside, by origin. */
const servers = new Map<string, Serve>();

/** From now on requests to an address reach `serve` without a socket. @returns a function that ends this. */
export function serveInside(url: string, serve: Serve): () => void {
  const { origin } = new URL(url);
  if (!always && !isAsked) servers.set(origin, serve);
  return () => void servers.delete(origin);
}

/** `fetch`, for an address that somebody serves inside; null for others. */
export function fetchInside(input: string | URL | Request, init: RequestInit = {}): Promise<Response> | null {
  if (servers.size === 0 || input instanceof Request) return null;
  const url = new URL(input);
  const serve = servers.get(url.origin);
  return serve ? ask(serve, url, init) : null;
}

/** Posts a webhook inside, or over a socket to an address that nobody serves inside. */
export const postWebhook: Send = async (target, { headers, body, signal }) => {
  const answer = fetchInside(target, { method: 'POST', headers, body, signal, redirect: 'manual' });
  return answer ? (await answer).status : sendBySocket(target, { headers, body, signal });
};

const mostRedirects = 20;

async function ask(serve: Serve, url: URL, init: RequestInit, redirects = 0): Promise<Response> {
  init.signal?.throwIfAborted();
  const request = new Request(url, init);
  const body = bytesOf(init.body);
  const headers = { host: url.host, accept: '*/*', 'user-agent': 'node' };
  for (const [name, value] of Object.entries(headers))
    if (!request.headers.has(name)) request.headers.set(name, value);
  if (body) request.headers.set('content-length', String(body.length));
  const incoming = arriving(body);
  // As over a socket, others have their turn before the request arrives.
  await turn();
  init.signal?.throwIfAborted();
  const answer = await unlessAborted(init.signal, serve(request, { incoming }));
  if (incoming.socket.isReset)
    throw failed(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
  const location = answer.headers.get('location');
  if (location === null || answer.status < 300 || answer.status > 399 || init.redirect === 'manual')
    return Object.defineProperty(answer, 'url', { value: url.href });
  if (init.redirect === 'error') throw failed(new Error('unexpected redirect'));
  if (redirects === mostRedirects) throw failed(new Error('redirect count exceeded'));
  const isGet = answer.status === 303 || (answer.status < 303 && init.method === 'POST');
  const next = new URL(location, url);
  const again = isGet ? { ...init, method: 'GET', body: null } : init;
  const there = servers.get(next.origin);
  return there ? ask(there, next, again, redirects + 1) : fetch(next, again);
}

/** What `fetch` throws if it gets no answer. */
const failed = (cause: Error): TypeError => new TypeError('fetch failed', { cause });

/** Null for no body, and for one whose length nobody knows. */
function bytesOf(body: RequestInit['body']): Uint8Array | null {
  if (typeof body === 'string' || body instanceof URLSearchParams) return Buffer.from(String(body));
  return body instanceof Uint8Array ? body : null;
}

/** The request of Node as far as servers look at it: its body, and the socket of a caller on this machine. */
function arriving(body: Uint8Array | null) {
  const socket = {
    remoteAddress: '127.0.0.1',
    remotePort: 50_000,
    remoteFamily: 'IPv4',
    isReset: false,
    resetAndDestroy: () => {
      socket.isReset = true;
    },
  };
  return Object.assign(Readable.from(body?.length ? [body] : []), { socket });
}

function unlessAborted<Result>(
  signal: AbortSignal | null | undefined,
  work: Result | Promise<Result>,
): Result | Promise<Result> {
  if (!signal) return work;
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', abort));
}
