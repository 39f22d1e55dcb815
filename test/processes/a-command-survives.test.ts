import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';
import { forComments } from '../support/comments.ts';
import { environmentFor, type ServiceProcess, startProcess } from '../support/process.ts';

// The real process, killed between a comment and its answer: what it asks for is done once, and answered once.

const web = 'acme/web';
let github: Sandbox;
let folder: string;
let ada: string;
let service: ServiceProcess;

async function start(): Promise<void> {
  service = startProcess({ ...environmentFor(github), DATA_DIR: join(folder, 'data') }, folder);
  github.deliverTo(`${await service.listening}/api/github/webhooks`);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-command-'));
  github = await startSandbox();
  ada = github.addUser('ada').token;
  github.addOrganization('acme', { admins: ['ada'] });
  github.addRepository(web, { protect: { main: ['holdfast/freeze'] } });
  github.openPullRequest(web, { author: 'ada' });
  github.askForMore({ ...forComments[0] }, [...forComments[1]]);
  await start();
  github.install('acme');
  await github.waitForStatus(web, 1, 'success', { timeoutMs: 120_000 });
});
afterAll(async () => {
  service.child.kill('SIGKILL');
  await service.ended;
  await github.close();
  await rm(folder, { recursive: true, force: true });
  github.assertNoUnknownRoutes();
});

const answers = () => github.comments(web, 1).filter(({ by }) => by === 'holdfast[bot]');
const answered = (count: number) =>
  vi.waitFor(() => expect(answers()).toHaveLength(count), { timeout: 120_000, interval: 100 });
async function get<Body>(path: string): Promise<Body> {
  const headers = { Authorization: `Bearer ${ada}` };
  const answer = await fetch(`${await service.listening}/v1/repos/${web}/${path}`, { headers });
  return (await answer.json()) as Body;
}
const freezes = async () =>
  (await get<{ scheduled_freezes: { reason: string }[] }>('scheduled_freeze')).scheduled_freezes;
/** Waits until the service knows that GitHub refuses to merge: a new process does not before it asked. */
const isKnownToBeBlocked = () =>
  vi.waitFor(
    async () => {
      const { pull_requests: counts } = await get<{ pull_requests: object }>('enforcement');
      expect(counts).toEqual({ to_hold: 1, held: 1, to_refuse: 1 });
    },
    { interval: 250 },
  );

/** Writes a command, and kills the process while it asks GitHub this; GitHub takes the question all the same. */
async function killAt(match: { method: string; path: RegExp }, body: string): Promise<void> {
  const reached = Promise.withResolvers<undefined>();
  const fault = github.faults.add({
    kind: 'delay',
    ms: 60_000,
    times: 1,
    match: ({ method, path }) => {
      const isIt = method === match.method && match.path.test(path);
      if (isIt) reached.resolve(undefined);
      return isIt;
    },
  });
  github.comment(web, 1, { by: 'ada', body });
  await reached.promise;
  service.child.kill('SIGKILL');
  expect(await service.ended).toBe('SIGKILL');
  fault.remove();
}

test('killed before it was carried out: the command is carried out by the next process', async () => {
  await killAt({ method: 'GET', path: /\/collaborators\/ada\/permission$/ }, '/holdfast freeze 1h one');
  await start();
  await answered(1);
  expect((await freezes()).map(({ reason }) => reason)).toEqual(['one']);
});

test('killed while its answer was on the way: the answer has arrived, and is not written again', async () => {
  await killAt({ method: 'POST', path: /\/issues\/1\/comments$/ }, '/holdfast freeze 1h two');
  // GitHub has taken the answer of the process that is dead.
  await answered(2);
  const looked = () =>
    github.requests.filter(({ method, path }) => method === 'GET' && /\/issues\/1\/comments\?/.test(path))
      .length;
  const before = looked();
  await start();
  await vi.waitFor(() => expect(looked()).toBe(before + 1), { interval: 100 });
  await isKnownToBeBlocked();
  // By the time that a later command is answered, the earlier one would have been.
  github.comment(web, 1, { by: 'ada', body: '/holdfast status' });
  await answered(3);
  expect(answers()[1]!.body).toContain('**Frozen until');
  expect(answers()[2]!.body).toContain('**Blocked until');
  expect((await freezes()).map(({ reason }) => reason).toSorted()).toEqual(['one', 'two']);
});
