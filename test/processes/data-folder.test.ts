import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-modes-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** Starts the service under `umask 000` until it listens, runs something, and kills it. */
async function whileRunning(environment: Record<string, string>, run: (url: string) => Promise<void>) {
  const child = spawn('/bin/sh', ['-c', 'umask 000; exec "$0" "$1"', process.execPath, main], {
    cwd: folder,
    env: { PATH: process.env['PATH'], PORT: String(await freePort()), ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const url = /"url":"([^"]+)".*"msg":"listening"/.exec(line)?.[1];
      if (!url) continue;
      await run(url);
      break;
    }
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}

async function modesIn(dataDir: string): Promise<Record<string, Set<string>>> {
  const modes = { folders: new Set<string>(), files: new Set<string>() };
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
  for (const path of [dataDir, ...entries.map((entry) => join(entry.parentPath, entry.name))]) {
    const found = await stat(path).catch(() => null);
    if (!found || found.isSocket()) continue;
    (found.isDirectory() ? modes.folders : modes.files).add((found.mode & 0o777).toString(8));
  }
  return modes;
}

test('only the owner can read the data folder, with any umask and any former modes', async () => {
  const dataDir = join(folder, 'data');
  await mkdir(dataDir);
  await chmod(dataDir, 0o777);
  await writeFile(join(dataDir, 'secret-key'), 'a'.repeat(64));
  await chmod(join(dataDir, 'secret-key'), 0o666);
  await whileRunning({ DATA_DIR: dataDir, HOST: '127.0.0.1' }, async () => {
    const modes = await modesIn(dataDir);
    expect([...modes['folders']!]).toEqual(['700']);
    expect([...modes['files']!]).toEqual(['600']);
  });
});
