// A replica stops while clients use it: they are answered, so that none repeats what was done.
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Holdfast, startHoldfast } from './support/holdfast.ts';
import { shortenPatience } from './support/patience.ts';
import { useSockets } from './support/inside.ts';

useSockets();
const web = 'acme/web';
let holdfast: Holdfast;
let admin: string;
const agent = new Agent({ keepAlive: true });

beforeEach(async () => {
  holdfast = await startHoldfast((github) => {
    admin = github.addUser('ada').token;
    github.addOrganization('acme', { admins: ['ada'] });
    github.addRepository(web, { protect: { main: ['holdfast/freeze'] } });
    github.install('acme');
  });
  await holdfast.quiet();
});
afterEach(async () => {
  vi.restoreAllMocks();
  agent.destroy();
  await holdfast.github.close();
});

/** Creates a freeze, which asks GitHub who the admin is, on a connection that is kept. */
async function create() {
  const headers = { Authorization: `Bearer ${admin}`, 'Content-Type': 'application/json' };
  const asked = request(`${holdfast.app.url}/v1/repos/${web}/scheduled_freeze`, {
    method: 'POST',
    headers,
    agent,
  });
  asked.end(JSON.stringify({ reason: 'Release', start: null, timezone: 'UTC' }));
  const [answer] = await once(asked, 'response');
  const body: Buffer[] = await answer.toArray();
  return {
    status: answer.statusCode as number,
    connection: answer.headers.connection as string,
    body: Buffer.concat(body).toString(),
  };
}
const isUnderWay = (path: string) =>
  vi.waitFor(() => expect(holdfast.github.requests.some((asked) => asked.path === path)).toBe(true), {
    timeout: 60_000,
  });

test('a request under way is answered, and its connection ends', async () => {
  const { app, github } = holdfast;
  const lag = github.faults.add({ kind: 'delay', ms: 60_000, match: { path: /^\/user$/ } });
  const asked = create();
  await isUnderWay('/user');
  let isStopped = false;
  const stopped = app.close().then(() => (isStopped = true));
  await expect(fetch(app.url)).rejects.toThrow();
  expect(isStopped).toBe(false);
  lag.remove();
  expect(await asked).toMatchObject({ status: 201, connection: 'close' });
  await stopped;
});

test('a request that GitHub leaves waiting is answered with an error before the process ends', async () => {
  const { app, github } = holdfast;
  github.faults.add({ kind: 'delay', ms: 60_000, match: { path: /^\/user$/ } });
  const asked = create();
  asked.catch(() => {});
  await isUnderWay('/user');
  shortenPatience();
  await app.close();
  const { status, body } = await asked;
  expect(status).toBe(503);
  expect(JSON.parse(body).detail).toContain('GitHub');
});

test('a connection that a browser opened ahead delays nothing', async () => {
  const { app } = holdfast;
  const { hostname, port } = new URL(app.url);
  const [used, unused] = [connect(Number(port), hostname), connect(Number(port), hostname)];
  await Promise.all([once(used, 'connect'), once(unused, 'connect')]);
  used.write('GET /healthz HTTP/1.1\r\nHost: holdfast.example\r\n\r\n');
  await once(used, 'data');
  const ended = Promise.all([once(used, 'close'), once(unused, 'close')]);
  // Then a connection that is waited for is waited for without end.
  const { setTimeout } = globalThis;
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((ended: () => void) =>
    setTimeout(ended, 2 ** 31 - 1).unref()) as typeof setTimeout);
  await app.close();
  await ended;
});
