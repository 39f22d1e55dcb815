// A second process on the embedded database would corrupt it. The lock is a listening Unix socket: the kernel closes it
// however the process ends, so it is never stale after kill -9. It also works for a process in another container that
// shares the folder. A pid file could do neither.
import { createHash } from 'node:crypto';
import { link, mkdir, realpath, rm, stat } from 'node:fs/promises';
import { createConnection, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** The embedded database is open in another process. The message names that process. */
export class DataDirInUse extends Error {
  constructor(dataDir: string, pid: string) {
    super(
      `The embedded database in ${dataDir} is open in process ${pid}. Stop that process, set another DATA_DIR, ` +
        'or set DATABASE_URL to a PostgreSQL to run more than one.',
    );
    this.name = 'DataDirInUse';
  }
}

/** Socket addresses have at most 107 bytes on Linux (103 elsewhere). A deeper folder gets a short name for its path. */
function socketPath(dataDir: string, name: string): string {
  const path = join(dataDir, name);
  if (Buffer.byteLength(path) <= 100) return path;
  const folder = createHash('sha256').update(dataDir).digest('hex').slice(0, 24);
  return join(tmpdir(), `holdfast-${folder}-${name}`);
}

function listen(path: string): Promise<Server> {
  const server = createServer((socket) => socket.end(String(process.pid)));
  return new Promise((resolve, reject) => server.once('error', reject).listen(path, () => resolve(server)));
}

/** The pid of the process that holds the lock; null if nothing listens. */
function askHolder(path: string): Promise<string | null> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = createConnection(path)
      .on('data', (chunk) => (answer += chunk.toString()))
      .on('end', () => resolve(answer))
      .on('error', () => resolve(null));
    socket.setTimeout(2000, () => {
      socket.destroy();
      resolve('unknown (it does not answer)');
    });
  });
}

/**
 * Takes the data folder for this process. Makes the folder if it does not exist.
 * @returns a function that gives it back.
 * @throws DataDirInUse if another live process has it.
 */
export async function lockDataDir(dataDir: string): Promise<() => Promise<void>> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const folder = await realpath(dataDir);
  const lockPath = socketPath(folder, 'lock');
  const ownPath = socketPath(folder, `lock.${process.pid}`);
  await rm(ownPath, { force: true });
  const server = await listen(ownPath);
  server.unref();
  const { ino } = await stat(ownPath);
  const giveUp = async (pid: string): Promise<never> => {
    server.close();
    await rm(ownPath, { force: true });
    throw new DataDirInUse(dataDir, pid);
  };
  // link() fails if the name exists, so of two starting processes one wins.
  const take = () =>
    link(ownPath, lockPath).then(
      () => true,
      () => false,
    );
  if (!(await take())) {
    const holder = await askHolder(lockPath);
    if (holder !== null) await giveUp(holder);
    await rm(lockPath, { force: true });
    await take();
    // Another starting process may have found the same dead lock, and removed ours. The process with the current lock
    // wins.
    await delay(50);
    if ((await stat(lockPath).catch(() => null))?.ino !== ino)
      await giveUp((await askHolder(lockPath)) ?? 'unknown');
  }
  await rm(ownPath, { force: true });
  return async () => {
    await rm(lockPath, { force: true });
    server.close();
  };
}
