import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanEnvironment, copyFiles, trackedFiles } from '../support/clean-copy.ts';
import { freePort } from '../support/free-port.ts';
import { type ServiceProcess, watchProcess } from '../support/process.ts';

// `npm ci --omit=dev && npm start` in a clean clone: with the Node that npm brings, and with the machine's own.

let folder: string;
let clone: string;
let shell: Record<string, string>;
const started: ServiceProcess[] = [];

/** npm installs everything again, on slow or busy machines. */
const installTimeout = 900_000;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-clone-'));
  clone = join(folder, 'holdfast');
  mkdirSync(clone);
  await copyFiles(trackedFiles(), clone);
  shell = await cleanEnvironment(join(folder, 'bin'));
  const { status, stdout, stderr } = spawnSync('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund'], {
    cwd: clone,
    env: shell,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`npm ci ended with ${status}:\n${stdout}\n${stderr}`);
}, installTimeout);
afterAll(async () => {
  for (const { child } of started) if (child.exitCode === null) process.kill(-child.pid!, 'SIGKILL');
  await Promise.all(started.map(({ ended }) => ended));
  await rm(folder, { recursive: true, force: true });
});

/** Each Node says on its start which it is, and what it runs. */
const tell =
  '--import=data:text/javascript,console.error(JSON.stringify({node:process.execPath,runs:process.argv[1]}))';

/** `npm start`, in a separate process group, because npm starts Node as its child. */
async function start(name: string): Promise<{ url: string; node: string | undefined }> {
  const settings = { PORT: String(await freePort()), DATA_DIR: join(folder, name), NODE_OPTIONS: tell };
  const service = watchProcess('npm', ['start'], {
    cwd: clone,
    env: { ...shell, ...settings },
    detached: true,
  });
  started.push(service);
  const url = await service.listening;
  return { url, node: /"node":"([^"]+)","runs":"[^"]+\/bin\/start\.mjs"/.exec(service.output())?.[1] };
}
const statusOf = async (url: string) => {
  const response = await fetch(`${url}/readyz`);
  return ((await response.json()) as { status: string }).status;
};

test('production dependencies are enough to generate the client and to prepare a database', () => {
  expect(existsSync(join(clone, 'node_modules/vitest'))).toBe(false);
  expect(existsSync(join(clone, 'node_modules/eslint'))).toBe(false);
  expect(existsSync(join(clone, 'src/generated/prisma/client.ts'))).toBe(true);
  expect(globSync('node_modules/.cache/holdfast/postgres-*', { cwd: clone })).toHaveLength(1);
});

test('it starts with the Node that npm brought', async ({ skip }) => {
  const brought = globSync('node_modules/node-linux-*/bin/node', { cwd: clone });
  if (brought.length === 0) skip('npm brings no Node for this platform');
  const { url, node } = await start('with-node-of-npm');
  expect(node).toBe(join(clone, brought[0]!));
  expect(await statusOf(url)).toBe('setup');
});

test('without that it starts with the machine’s own', async () => {
  for (const path of globSync('node_modules/{node-linux-*,.bin/node}', { cwd: clone }))
    rmSync(join(clone, path), { recursive: true });
  const { url, node } = await start('with-node-of-machine');
  expect(node).toBe(join(folder, 'bin', 'node'));
  expect(await statusOf(url)).toBe('setup');
});
