import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { diagnose } from '../src/cli/commands/doctor.ts';
import { type Holdfast, startHoldfast } from './support/holdfast.ts';
import { serveInside } from './support/inside.ts';

// Only inside this process has a test's own server the name of another machine.
const isSkipped = !!process.env['TEST_SOCKETS'];
const address = 'https://ghe.example';
const wrong =
  "GITHUB_API_URL (https://ghe.example) does not answer as GitHub's API does, because it answers 200 with text/html: for GitHub Enterprise Server it ends in /api/v3, as in https://ghe.example/api/v3.";

let holdfast: Holdfast;
let serve: (request: Request) => Response | Promise<Response>;
let leave: () => void;
/** The credentials that arrived there. */
const credentials: (string | null)[] = [];

const page = () => new Response('<html>Sign in</html>', { headers: { 'content-type': 'text/html' } });
const down = () => new Response('<html>', { status: 502, headers: { 'content-type': 'text/html' } });

beforeAll(async () => {
  if (isSkipped) return;
  serve = down;
  leave = serveInside(address, (request) => {
    credentials.push(request.headers.get('authorization'));
    return serve(request);
  });
  holdfast = await startHoldfast(
    (github) => {
      github.addUser('ada');
      github.addOrganization('acme', { admins: ['ada'] });
      github.addRepository('acme/web');
      github.openPullRequest('acme/web', { author: 'ada' });
      github.install('acme');
    },
    { githubApiUrl: address },
  );
});
afterAll(async () => {
  if (isSkipped) return;
  await holdfast.close();
  leave();
});

const inSeconds = (seconds: number) => new Date(holdfast.clock.now() + seconds * 1000);
const ready = async () => (await holdfast.call('GET', '/readyz')).body;
const told = () => holdfast.logs.filter((line) => line.includes('GITHUB_API_URL is wrong'));

async function doctor(): Promise<string> {
  let out = '';
  const output = new Writable({ write: (chunk, _, done) => ((out += String(chunk)), done()) });
  await diagnose({ url: holdfast.app.url, isJson: false }, output);
  return out;
}

test.skipIf(isSkipped)('a GitHub that is down is no wrong address', async () => {
  await holdfast.advanceTo(inSeconds(120));
  expect(await ready()).toEqual({ status: 'ready', checks: expect.anything() });
  expect(told()).toEqual([]);
});

test.skipIf(isSkipped)('a page in its place is named in /readyz, by the doctor and in the log', async () => {
  serve = page;
  await holdfast.advanceTo(inSeconds(120));
  expect(await ready()).toMatchObject({ status: 'ready', reasons: [wrong] });
  expect(await doctor()).toContain(`FAILED   ${wrong}`);
  expect(told().map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({ level: 50, problem: wrong }),
  ]);
  // Failed work says the same, and not what a page lacks.
  expect(holdfast.logs.filter((line) => line.includes('is not a function'))).toEqual([]);
});

test.skipIf(isSkipped)('no token of a person is sent there', async () => {
  const { status } = await holdfast.call('GET', '/v1/repos/acme', { as: 'ghp_ofSomebody' });
  expect(status).toBe(503);
  expect(credentials.filter((each) => each?.includes('ghp_'))).toEqual([]);
});

test.skipIf(isSkipped)('the log repeats it once an hour', async () => {
  for (let minute = 0; minute < 70; minute += 10) await holdfast.advanceTo(inSeconds(600));
  expect(told()).toHaveLength(2);
});

test.skipIf(isSkipped)('all is right by itself once GitHub answers', async () => {
  const { github } = holdfast;
  serve = async (request) => {
    const { url, method, headers } = request;
    const body = method === 'POST' ? await request.text() : null;
    const answer = await fetch(url.replace(address, github.url), { method, headers, body });
    return new Response(answer.body, answer);
  };
  for (let seconds = 0; seconds < 120; seconds += 10) await holdfast.advanceTo(inSeconds(10));
  await holdfast.quiet();
  expect(await ready()).not.toHaveProperty('reasons');
  expect(github.currentStatus('acme/web', 1)?.state).toBe('success');
});

test.skipIf(isSkipped)('a page later on is a disturbance', async () => {
  serve = page;
  await holdfast.advanceTo(inSeconds(120));
  expect(await ready()).not.toHaveProperty('reasons');
});
