// For every test file: whatever a test does, all that Holdfast answers below `/v1`, in this process or to a `fetch` of
// it, is held against the OpenAPI document, and the test during which it answered something else fails.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, afterEach } from 'vitest';
import type { SeenAnswer } from './documented-answers.ts';
import { fetchInside } from './inside.ts';

const seen: SeenAnswer[] = [];

/** Published by Node for each request to an HTTP server of this process. */
const channel = 'http.server.request.start';

function watch(message: unknown): void {
  const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
  const { method, url: path } = request;
  if (!path?.startsWith('/v1/')) return;
  const chunks: Buffer[] = [];
  const { write, end } = response;
  const keep = (chunk: unknown) => {
    if (typeof chunk === 'string') chunks.push(Buffer.from(chunk));
    else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  };
  response.write = (...args: unknown[]) => {
    keep(args[0]);
    return Reflect.apply(write, response, args);
  };
  response.end = (...args: unknown[]) => {
    keep(args[0]);
    const text = Buffer.concat(chunks).toString();
    seen.push({ method: method!, path, status: response.statusCode, text });
    return Reflect.apply(end, response, args);
  };
}

const { fetch } = globalThis;

/** Sees what is answered inside, and by services that run as processes of their own. */
async function watchedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await (fetchInside(input, init) ?? fetch(input, init));
  const { pathname: path } = new URL(response.url);
  if (!path.startsWith('/v1/')) return response;
  const method = init?.method ?? (input instanceof Request ? input.method : 'GET');
  // One that broke off is no answer.
  const text = await response
    .clone()
    .text()
    .catch(() => null);
  if (text !== null) seen.push({ method, path, status: response.status, text });
  return response;
}

async function assertDocumented(): Promise<void> {
  const answers = seen.splice(0);
  if (answers.length === 0) return;
  // Most files never start the service; they need not load it for this.
  const { faultOf } = await import('./documented-answers.ts');
  const faults = answers.map(faultOf).filter((fault) => fault !== null);
  if (faults.length > 0) throw new Error(`Not as documented:\n${[...new Set(faults)].join('\n')}`);
}

subscribe(channel, watch);
globalThis.fetch = watchedFetch;
afterEach(assertDocumented);
// Of the hooks after all tests the first one here is the last to run.
afterAll(async () => {
  unsubscribe(channel, watch);
  globalThis.fetch = fetch;
  await assertDocumented();
});
