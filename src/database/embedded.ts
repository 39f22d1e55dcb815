import { cpSync, existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { setImmediate as turn } from 'node:timers/promises';
import { PGlite, type PGliteInterface } from '@electric-sql/pglite';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import { PrismaClient } from '../generated/prisma/client.ts';
import { type SqlConnection, type Database, type OpenConnection, transactionOptions } from './database.ts';
import { lockDataDir } from './data-folder-lock.ts';
import { explainDisk, hasRoom } from './disk-room.ts';
import { KnownTrouble } from './known-trouble.ts';
import { migrate, readMigrations } from './migrate.ts';
import { PreparedPglite } from './prepared-pglite.ts';
import { sqlOfPglite } from './sql.ts';
import type { DatabaseTrouble } from './trouble.ts';
import { refuseUnfinishedImport, UnusableDatabase } from './database-errors.ts';

/** PGlite writes to all of `shared_buffers` at its start, so PostgreSQL's 128 MB would stay in memory. */
const withLittleMemory = (params: string[]): string[] => [...params, '-c', 'shared_buffers=16MB'];
export const startParams = withLittleMemory(PGlite.defaultStartParams);

/** Where the files of the embedded database are. */
export const embeddedFolder = (dataDir: string): string => join(dataDir, 'postgres');

/**
 * Opens PostgreSQL inside this process, with its files below `dataDir`, and updates its tables.
 * @throws DataDirInUse if another process has the folder; UnfinishedImport.
 */
export async function openEmbedded(dataDir: string, trouble = new KnownTrouble()): Promise<Database> {
  const { pglite, close } = await startPglite(dataDir);
  try {
    const database = await wrapPglite(pglite, trouble);
    const keepUpWithRoom = async () => {
      if (await hasRoom(dataDir)) await database.keepUp();
    };
    return { ...database, keepUp: keepUpWithRoom, close: () => database.close().then(close) };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The same as one connection. Does not change the tables. @param isBare a new one has none. @throws DataDirInUse */
export async function connectEmbedded(dataDir: string, isBare = false): Promise<OpenConnection> {
  const { pglite, close } = await startPglite(dataDir, isBare);
  return { ...connectionOf(pglite), close };
}

/** The same for a process that has locked `dataDir`. */
export async function connectLocked(dataDir: string): Promise<OpenConnection> {
  const pglite = await openFolder(dataDir);
  return { ...connectionOf(pglite), close: () => pglite.close() };
}

/** Others have their turn before each statement: thousands in a row would leave no request an answer. */
const connectionOf = (pglite: PGlite): SqlConnection => ({
  script: (sql) => turn().then(() => pglite.exec(sql)),
  query: (sql, values) => turn().then(() => pglite.query(sql, values)),
});

/** Starts it for this process only. @returns also a function that stops it and gives back the folder. */
async function startPglite(
  dataDir: string,
  isBare = false,
): Promise<{ pglite: PGlite; close(): Promise<void> }> {
  const unlock = await lockDataDir(dataDir);
  try {
    const pglite = await openFolder(dataDir, isBare);
    const close = async () => {
      if (!pglite.closed) await pglite.close();
      await unlock();
    };
    return { pglite, close };
  } catch (error) {
    await unlock();
    throw error;
  }
}

/** @throws UnusableDatabase if the disk is full. */
async function openFolder(dataDir: string, isBare = false): Promise<PGlite> {
  try {
    return await openFiles(dataDir, isBare);
  } catch (error) {
    throw await explainDisk(error, dataDir);
  }
}

async function openFiles(dataDir: string, isBare: boolean): Promise<PGlite> {
  const folder = embeddedFolder(dataDir);
  if (!isBare && !existsSync(folder)) await copyPrepared(folder);
  // Also before the start, so that nobody can read the files during it.
  await closeToOthers(dataDir);
  compileOnce();
  const pglite = await programFor(folder);
  await pglite.waitReady;
  await closeToOthers(dataDir);
  return pglite;
}

/** The major version of PostgreSQL that wrote a folder; null if there is no folder. */
export const majorOf = (folder: string): Promise<string | null> =>
  readFile(join(folder, 'PG_VERSION'), 'utf8').then(
    (text) => text.trim(),
    () => null,
  );

/** PostgreSQL opens only folders of its own major version. */
async function programFor(folder: string): Promise<PGlite> {
  const written = (await majorOf(folder)) ?? major;
  if (written === major) return new PreparedPglite(folder, { startParams });
  if (written !== '17')
    throw new UnusableDatabase(
      `The embedded database in ${folder} is of PostgreSQL ${written}: run the Holdfast that wrote it.`,
    );
  const { PGlite: Pglite17 } = await import('pglite-17');
  const params = withLittleMemory(Pglite17.defaultStartParams);
  // Their classes differ in private members alone.
  return new Pglite17(folder, { startParams: params }) as unknown as PGlite;
}

/**
 * Stops V8 from compiling PostgreSQL a second time with more optimization. Measured: that takes 500 MiB for a moment,
 * 70 MiB from then on, and two thirds of the processor time of a start. It saves about a sixth of the time of a
 * statement.
 */
function compileOnce(): void {
  // V8 applies the implications of a flag only from its command line, so this sets all three.
  for (const flag of ['--liftoff-only', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering'])
    setFlagsFromString(flag);
}

/** Sets folders to 0700 and files to 0600: an earlier version, a restored copy or PGlite may have used other modes. */
async function closeToOthers(dataDir: string): Promise<void> {
  await chmod(dataDir, 0o700);
  const entries = await readdir(dataDir, { withFileTypes: true, recursive: true });
  for (const entry of entries) {
    if (!entry.isDirectory() && !entry.isFile()) continue;
    await chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o700 : 0o600);
  }
}

/** A running PGlite as the service's database. Tests pass a clone of a migrated one. */
export async function wrapPglite(pglite: PGlite, trouble = new KnownTrouble()): Promise<Database> {
  const connection = connectionOf(pglite);
  await refuseUnfinishedImport(connection);
  await migrate(connection);
  const prisma = new PrismaClient({ adapter: new PrismaPGlite(pglite), transactionOptions });
  const { promise: ended, resolve: end } = Promise.withResolvers<DatabaseTrouble>();
  if (pglite instanceof PreparedPglite) {
    pglite.onTrouble = (found) => trouble.note(found);
    pglite.onEnd = end;
  }
  return {
    prisma,
    sql: sqlOfPglite(pglite),
    trouble,
    ended,
    async listen(channel, hear) {
      const close = await pglite.listen(channel, hear);
      hear(null);
      return { close };
    },
    keepUp: () => keepUp(pglite),
    close: async () => {
      await prisma.$disconnect();
      await pglite.close();
    },
  };
}

// What a PostgreSQL server does in processes of its own, and the embedded database has none: checkpoints and vacuum.
/** Bytes of write-ahead log that the next start reads again after a crash. */
const longestLog = 32 * 1024 * 1024;

/**
 * Tables that grew by more than a fifth since they were last vacuumed, or to more than 32 pages before the first time.
 * Deleted rows keep their place until then, and the planner does not know what is in the table.
 */
const grown = `
  SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind = 'r' AND n.nspname = 'public'
    AND pg_relation_size(c.oid) / current_setting('block_size')::int > 32 + 1.2 * greatest(c.relpages, 0)
  ORDER BY c.oid`;

const unread = `SELECT (pg_current_wal_lsn() - redo_lsn)::float8 AS bytes FROM pg_control_checkpoint()`;

/**
 * Vacuums and analyzes tables that grew, one after another, and writes a checkpoint if the log is long. Other statements
 * run in between.
 */
export async function keepUp(pglite: Pick<PGliteInterface, 'query' | 'exec'>): Promise<void> {
  const { rows: tables } = await pglite.query<{ name: string }>(grown);
  for (const { name } of tables) await pglite.exec(`VACUUM (ANALYZE) ${name}`);
  const { rows } = await pglite.query<{ bytes: number }>(unread);
  if (rows[0]!.bytes > longestLog) await pglite.exec('CHECKPOINT');
}

// An empty PostgreSQL takes seconds and much memory to make. The installation makes one, and a first start copies it.

/** In the folder that npm installs into: `npm ci` deletes it too. */
const installedFolder = fileURLToPath(new URL('../../node_modules/.cache/holdfast/', import.meta.url));

/** The major version of PGlite's PostgreSQL, which opens only folders of its own. `renewFolder` moves older ones. */
export const major = '18';

/** Its name depends on PostgreSQL and on the migrations: after they change, the old files are not found. */
async function preparedFolder(cache: string): Promise<string> {
  const checksum = createHash('sha256').update(major);
  for (const migration of await readMigrations()) checksum.update(migration.checksum);
  return join(cache, `postgres-${checksum.digest('hex').slice(0, 16)}`);
}

/** Copies the prepared database to `to`, completely or not at all. @returns whether there was one to copy. */
export async function copyPrepared(to: string, cache = installedFolder): Promise<boolean> {
  const half = `${to}.new`;
  await rm(half, { recursive: true, force: true });
  try {
    // Nothing else runs yet, and this takes half as long as `cp`.
    cpSync(await preparedFolder(cache), half, { recursive: true });
  } catch (error) {
    await rm(half, { recursive: true, force: true });
    if ((error as { code?: string }).code === 'ENOENT') return false;
    throw error;
  }
  await rename(half, to);
  return true;
}

/** Prepares the files, unless they exist. @param make opens a database below the given folder, and closes it. */
export async function prepareEmbedded(
  make: (dataDir: string) => Promise<void>,
  cache = installedFolder,
): Promise<void> {
  const prepared = await preparedFolder(cache);
  await mkdir(cache, { recursive: true });
  const existing = await readdir(cache);
  if (existing.some((name) => join(cache, name) === prepared)) return;
  for (const name of existing)
    if (name.startsWith('postgres-')) await rm(join(cache, name), { recursive: true, force: true });
  const workplace = await mkdtemp(join(cache, 'making-'));
  try {
    await make(workplace);
    await openToAll(join(workplace, 'postgres'));
    await rename(join(workplace, 'postgres'), prepared);
  } finally {
    await rm(workplace, { recursive: true, force: true });
  }
}

/** Another account than the one that installs can start the service. These files hold nothing secret. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true }))
    await chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
}
