// A second process on the embedded database would corrupt it. The lock is a listening Unix socket: the kernel closes it
// however the process ends, so it is never alive after kill -9. It also works for a process in another container that
// shares the folder. A pid file could do neither (docs/decisions/0004).
import { createHash, randomBytes } from 'node:crypto';
import { link, realpath, rename, rm, stat } from 'node:fs/promises';
import { createConnection, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeDataFolder } from './data-folder.ts';
import { DataDirInUse, UnusableDatabase } from './database-errors.ts';

/** Bytes of the address of a socket, everywhere. */
const longestAddress = 103;
/** A deeper folder gets a short name for its path. */
const longestLockPath = 100;

function lockPathOf(folder: string): string {
  const path = join(folder, 'lock');
  if (Buffer.byteLength(path) <= longestLockPath) return path;
  const short = createHash('sha256').update(folder).digest('hex').slice(0, 24);
  return join(tmpdir(), `holdfast-${short}-lock`);
}

/**
 * A name of this process's own, as short as that of the lock can need. Not its pid: in containers, each has the same.
 */
const ownPathAt = (lockPath: string): string => join(dirname(lockPath), `l${randomBytes(3).toString('hex')}`);

/** The name of the lock that follows a dead one: only one process can make it. */
const successorOf = (lockPath: string, inode: bigint): string => `${lockPath}.${inode.toString(36)}`;

function listen(path: string): Promise<Server> {
  // Whoever asks may have given up.
  const server = createServer((socket) => socket.on('error', () => {}).end(String(process.pid)));
  return new Promise((resolve, reject) => server.once('error', reject).listen(path, () => resolve(server)));
}

/** What stands for a pid. */
const unknownAt = (path: string, code = 'no answer'): string =>
  `unknown (${code}; if none runs, remove ${path})`;

/** Nothing listens there. Any other error, such as a right that is missing, says nothing about the process. */
const isDead = new Set(['ECONNREFUSED', 'ENOENT']);

/** The pid of the process that holds a lock; null if nothing listens. */
async function askHolder(path: string): Promise<string | null> {
  if (Buffer.byteLength(path) <= longestAddress) return ask(path);
  const short = ownPathAt(path);
  if (!(await isLinked(path, short).catch(() => false))) return ask(path);
  return ask(short).finally(() => rm(short, { force: true }));
}

function ask(path: string): Promise<string | null> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = createConnection(path)
      .on('data', (chunk) => (answer += chunk.toString()))
      .on('end', () => resolve(answer))
      .on('error', ({ code = '' }: NodeJS.ErrnoException) =>
        resolve(isDead.has(code) ? null : unknownAt(path, code)),
      );
    socket.setTimeout(2000, () => {
      socket.destroy();
      resolve('unknown (it does not answer)');
    });
  });
}

/**
 * Gives a file another name, unless something has it. It says so of one process only. @returns whether it did.
 * @throws UnusableDatabase if the file system has no hard links.
 */
const isLinked = (path: string, name: string): Promise<boolean> =>
  link(path, name).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST' || error.code === 'ENOENT') return false;
      throw new UnusableDatabase(
        `The lock ${name} cannot be made (${error.code}): name a DATA_DIR on a file system with hard links, that the user of this process can write.`,
        { cause: error },
      );
    },
  );

const inodeOf = (path: string): Promise<bigint | null> =>
  stat(path, { bigint: true }).then(
    ({ ino }) => ino,
    () => null,
  );

/**
 * Takes the lock, or follows the dead ones. Nobody removes a dead lock before it has a successor: whoever found it dead
 * and stood still would remove a living one. What decides is a name that only one process can make, and no time.
 * @param own the name of this process's socket. @returns the holder if another process has it; null if it is ours.
 */
async function take(lockPath: string, own: string): Promise<string | null> {
  const followed: string[] = [];
  for (let path = lockPath; !(await isLinked(own, path)); followed.push(path)) {
    const inode = await inodeOf(path);
    const holder = await askHolder(path);
    if (holder !== null) return holder;
    // It was given back meanwhile.
    if (inode === null) return take(lockPath, own);
    path = successorOf(lockPath, inode);
    if (followed.includes(path)) return unknownAt(lockPath);
  }
  if (followed.length === 0) return null;
  const isOurs = await leadsTo(own, lockPath);
  const inode = await inodeOf(own);
  if (isOurs) {
    await rename(own, lockPath);
    // Versions before remove a lock that they found dead a moment ago.
    await delay(100);
  }
  // Otherwise another process followed, and gave the name of its successor back.
  for (const path of isOurs ? followed : followed.slice(-1)) await rm(path, { force: true });
  if (!isOurs) return take(lockPath, own);
  return (await inodeOf(lockPath)) === inode ? null : ((await askHolder(lockPath)) ?? unknownAt(lockPath));
}

/** Whether the dead locks, one after another, end with this one. */
async function leadsTo(own: string, lockPath: string): Promise<boolean> {
  const last = await inodeOf(own);
  for (let path = lockPath; ;) {
    const inode = await inodeOf(path);
    if (inode === last) return true;
    if (inode === null || (await askHolder(path)) !== null) return false;
    path = successorOf(lockPath, inode);
  }
}

/**
 * Takes the data folder for this process. Makes the folder if it does not exist.
 * @returns a function that gives it back.
 * @throws DataDirInUse if another live process has it; UnusableDatabase.
 */
export async function lockDataDir(dataDir: string): Promise<() => Promise<void>> {
  await makeDataFolder(dataDir);
  const lockPath = lockPathOf(await realpath(dataDir));
  const own = ownPathAt(lockPath);
  const server = await listen(own);
  server.unref();
  try {
    const holder = await take(lockPath, own);
    if (holder === null)
      return async () => {
        await rm(lockPath, { force: true });
        server.close();
      };
    throw new DataDirInUse(dataDir, holder);
  } catch (error) {
    server.close();
    throw error;
  } finally {
    await rm(own, { force: true });
  }
}
