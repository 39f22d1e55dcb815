import { channel } from 'node:diagnostics_channel';
import type { App } from '../../src/server/app.ts';

/** Where answers are published that no HTTP server of this process sent. */
export const answersInside = channel('holdfast:answer-inside');

/** The socket of a caller on this machine, as far as the service looks at it. */
const incoming = { socket: { remoteAddress: '127.0.0.1', remotePort: 50_000, remoteFamily: 'IPv4' } };

/** Answers a request without a socket. */
export async function answerInside(app: App, path: string, init: RequestInit): Promise<Response> {
  const request = new Request(`${app.url}${path}`, init);
  // HTTP clients say how long a body is; a request without a socket doesn't.
  if (typeof init.body === 'string')
    request.headers.set('Content-Length', String(Buffer.byteLength(init.body)));
  const response = await app.fetch(request, { incoming });
  const { pathname, search } = new URL(request.url);
  const text = await response.clone().text();
  answersInside.publish({ method: request.method, path: pathname + search, status: response.status, text });
  return response;
}
