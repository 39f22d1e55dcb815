// Somebody opens connections and sends little or nothing through them. How long each may last is a test of processes.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { BlockList, connect, type Socket } from 'node:net';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { generateKey } from '../../src/auth/application-key.ts';
import { type Acme, acmeForAll, startAcme } from '../support/acme.ts';
import { useSockets } from '../support/inside.ts';
import { bearSlowBodies, shortenPatience } from '../support/patience.ts';

useSockets();
const acme = acmeForAll();
const opened: Socket[] = [];
afterEach(() => opened.splice(0).forEach((socket) => socket.destroy()));

/** Opens a connection and sends a text; what it gets is read. */
async function open({ app }: Pick<Acme, 'app'>, text = ''): Promise<Socket> {
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
  opened.push(socket);
  socket.on('error', () => {});
  socket.setEncoding('utf8').resume();
  await once(socket, 'connect');
  if (text !== '') socket.write(text);
  return socket;
}
/** In groups, as the server closes in the meantime what comes too slowly. The first group is the oldest. */
const openMany = async (from: Pick<Acme, 'app'>, count: number, text?: string) => {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const group = Math.min(25, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: group }, () => open(from, text)))));
  }
  return sockets;
};
const openOf = (sockets: Socket[]) => sockets.filter(({ closed }) => !closed).length;
/** All that comes through a connection until it ends. */
const everythingFrom = (socket: Socket) => {
  let text = '';
  socket.on('data', (more: string) => (text += more));
  return once(socket, 'close').then(() => text);
};

const head = (path: string, more = '') => `POST ${path} HTTP/1.1\r\nHost: holdfast.example\r\n${more}`;
const slowBody = 'Content-Length: 1000\r\n\r\n{';
const slow = {
  nothing: '',
  'a slow head': head('/v1/repos/acme/web/scheduled_freeze'),
  'a slow body': head(
    '/api/github/webhooks',
    `X-GitHub-Delivery: a\r\nX-GitHub-Event: push\r\nX-Hub-Signature-256: sha256=${'0'.repeat(64)}\r\n${slowBody}`,
  ),
  'an answered request': 'GET /healthz HTTP/1.1\r\nHost: holdfast.example\r\n\r\n',
};

test.each(Object.entries(slow))('300 connections of one network with %s make room', async (_, text) => {
  bearSlowBodies();
  const sockets = await openMany(acme, 300, text);
  await vi.waitFor(() => expect(openOf(sockets)).toBeLessThanOrEqual(250));
  expect(sockets[0]!.closed).toBe(true);
  expect(sockets.at(-1)!.closed).toBe(false);
  expect(openOf(sockets)).toBeGreaterThan(200);
  const repository = await acme.repository(`crowded-${Object.values(slow).indexOf(text)}`, [{}]);
  await acme.freeze(repository);
  expect(acme.frozen(repository)).toEqual([1]);
});

test('behind a trusted proxy only the total counts, and GitHub gets through', async () => {
  const trustedProxies = new BlockList();
  trustedProxies.addAddress('127.0.0.1');
  const behind = await startAcme({ trustedProxies });
  try {
    const some = await openMany(behind, 600);
    const repository = await behind.repository('web', [{}]);
    expect(openOf(some)).toBe(600);
    const more = await openMany(behind, 600, slow['a slow body']);
    await vi.waitFor(() => expect(openOf([...some, ...more])).toBeLessThanOrEqual(1_000));
    await behind.freeze(repository);
    const { number } = behind.github.openPullRequest(repository, { author: 'ada' });
    await behind.quiet();
    expect(behind.frozen(repository)).toEqual([1, number]);
  } finally {
    opened.splice(0).forEach((socket) => socket.destroy());
    await behind.close();
  }
});

test('a request that is being answered keeps its connection', async () => {
  const repository = await acme.repository('busy');
  const lag = acme.github.faults.add({ kind: 'delay', ms: 60_000, match: { path: /^\/user$/ } });
  const token = acme.github.addToken('ada');
  const answer = acme.call('GET', `/v1/repos/${repository}/scheduled_freeze`, { as: token });
  await vi.waitFor(() => expect(acme.github.requests.map(({ path }) => path)).toContain('/user'));
  const sockets = await openMany(acme, 300);
  await vi.waitFor(() => expect(openOf(sockets)).toBeLessThan(250));
  lag.remove();
  expect((await answer).status).toBe(200);
});

/** Who was refused has a second to read why: here a tenth of it. */
function cutSoon(): void {
  shortenPatience();
  onTestFinished(() => void vi.restoreAllMocks());
}

test('a large body is not awaited before its sender is known', async () => {
  cutSoon();
  const repository = await acme.repository('large');
  for (const [authorization, status] of [
    [`Bearer ${generateKey('ci')}`, 403],
    ['Bearer nobody', 403],
  ] as const) {
    const length = `Content-Length: ${1024 * 1024}\r\n\r\n`;
    const start = head(
      `/v1/repos/${repository}/pulls/1/scopes`,
      `Authorization: ${authorization}\r\n${length}`,
    );
    const sent = await open(acme, start.replace('POST', 'PUT') + 'x'.repeat(20_000));
    expect(await everythingFrom(sent)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  }
});

test.each([
  [
    '/api/github/webhooks',
    'X-GitHub-Delivery: a\r\nX-GitHub-Event: push\r\nX-Hub-Signature-256: sha256=0\r\n',
    400,
  ],
  ['/api/github/webhooks', 'X-GitHub-Delivery: a\r\nX-GitHub-Event: push\r\n', 400],
  ['/v1/repos/acme/web/scheduled_freeze', `Authorization: Bearer ${generateKey('ci')}\r\n`, 403],
  ['/slack/commands', '', 401],
  ['/nowhere', '', 404],
])('a large body to %s with %j is refused and left unread', async (path, headers, status) => {
  cutSoon();
  // The bytes that the server has read from the socket: those that it could keep.
  const begun = Promise.withResolvers<Socket>();
  const note = (message: unknown) => {
    const { request, socket } = message as { request: IncomingMessage; socket: Socket };
    if (request.url === path) begun.resolve(socket);
  };
  subscribe('http.server.request.start', note);
  const sent = await open(acme, head(path, `${headers}Content-Length: ${19 * 1024 * 1024}\r\n\r\n`));
  let answer = '';
  sent.on('data', (more: string) => (answer += more));
  sent.write(Buffer.alloc(19 * 1024 * 1024));
  const socket = await begun.promise;
  unsubscribe('http.server.request.start', note);
  // The connection is reset, because what is left of the body is not read.
  const little = 3 * 1024 * 1024;
  await vi.waitFor(() => expect(sent.closed || socket.bytesRead > little).toBe(true));
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(socket.bytesRead).toBeLessThan(little);
});
