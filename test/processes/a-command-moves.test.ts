import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';
import { forComments } from '../support/comments.ts';
import { administer, databaseUrl, dropAll } from '../support/postgres.ts';
import { environmentFor, type ServiceProcess, startProcess } from '../support/process.ts';

// A command arrives, and the service moves to another database before it is carried out.

const web = 'acme/web';
const bin = fileURLToPath(new URL('../../bin/holdfast.mjs', import.meta.url));
const server = inject('postgresUrl');
const name = `holdfast_command_${randomBytes(6).toString('hex')}`;
let github: Sandbox;
let folder: string;
let ada: string;
let service: ServiceProcess;

async function start(database: Record<string, string>): Promise<void> {
  service = startProcess({ ...environmentFor(github), ...database }, folder);
  github.deliverTo(`${await service.listening}/api/github/webhooks`);
}
async function stop(): Promise<void> {
  service.child.kill('SIGTERM');
  expect(await service.ended).toBe(0);
}
const holdfast = (database: Record<string, string>, ...words: string[]) =>
  promisify(execFile)(process.execPath, [bin, 'db', ...words], {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...environmentFor(github), ...database },
  });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-command-moves-'));
  github = await startSandbox();
  ada = github.addUser('ada').token;
  github.addOrganization('acme', { admins: ['ada'] });
  github.addRepository(web, { protect: { main: ['holdfast/freeze'] } });
  github.openPullRequest(web, { author: 'ada' });
  github.askForMore({ ...forComments[0] }, [...forComments[1]]);
  if (server) await administer(server, `CREATE DATABASE ${name}`);
});
afterAll(async () => {
  service.child.kill('SIGKILL');
  await service.ended;
  await github.close();
  if (server) await dropAll(server, name);
  await rm(folder, { recursive: true, force: true });
  github.assertNoUnknownRoutes();
});

const answers = () => github.comments(web, 1).filter(({ by }) => by === 'holdfast[bot]');
const answered = (count: number) =>
  vi.waitFor(() => expect(answers()).toHaveLength(count), { timeout: 120_000, interval: 100 });

test('it is carried out once in the new place, and answered once', async () => {
  const from = { DATA_DIR: join(folder, 'data') };
  // Without a PostgreSQL it moves from folder to folder.
  const to: Record<string, string> = server
    ? { DATABASE_URL: databaseUrl(server, name) }
    : { DATA_DIR: join(folder, 'there') };
  await start(from);
  github.install('acme');
  await github.waitForStatus(web, 1, 'success', { timeoutMs: 120_000 });

  const outage = github.faults.add({ kind: 'status', match: { path: /\/collaborators\/ada\/permission$/ } });
  github.comment(web, 1, { by: 'ada', body: '/holdfast freeze 1h moving' });
  await vi.waitFor(
    () => expect(service.output()).toMatch(/"task":"answer-comment".*a job failed and will be tried again/),
    { interval: 50 },
  );
  await stop();
  const file = join(folder, 'holdfast.export');
  await holdfast(from, 'export', file);
  await holdfast(to, 'import', file);
  outage.remove();
  expect(answers()).toEqual([]);

  await start(to);
  await answered(1);
  expect(answers()[0]!.body).toContain('**Frozen until');
  // By the time that a later command is answered, a second answer to the first one would have been.
  github.comment(web, 1, { by: 'ada', body: '/holdfast status' });
  await answered(2);
  const answer = await fetch(`${await service.listening}/v1/repos/${web}/scheduled_freeze`, {
    headers: { Authorization: `Bearer ${ada}` },
  });
  const { scheduled_freezes: freezes } = (await answer.json()) as { scheduled_freezes: { reason: string }[] };
  expect(freezes.map(({ reason }) => reason)).toEqual(['moving']);
});
