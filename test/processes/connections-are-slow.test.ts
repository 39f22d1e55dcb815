// Node's own timeouts of connections, in real time: a head has 10 seconds, and a request 20.
import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { useSockets } from '../support/inside.ts';

useSockets();
const acme = acmeForAll();
beforeAll(() => acme.repository('slow'));

/** Sends a text through a connection of its own. @returns all that comes back until the service ends it. */
async function everythingAfter(text: string): Promise<string> {
  const socket = connect(Number(new URL(acme.app.url).port), '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8').on('data', (more: string) => (answer += more));
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(text);
  await once(socket, 'close');
  return answer;
}

const head = 'POST /v1/repos/acme/slow/scheduled_freeze HTTP/1.1\r\nHost: holdfast.example\r\n';
const body = () => `Authorization: Bearer ${acme.admin}\r\nContent-Length: 1000\r\n\r\n{`;

test.concurrent.each([
  ['nothing', () => ''],
  ['a slow head', () => head],
  ['a slow body', () => head + body()],
])('%s ends', async (_, text) => {
  expect(await everythingAfter(text())).toMatch(/^HTTP\/1\.1 408 /);
});
