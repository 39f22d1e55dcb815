import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { SqlConnection } from './database.ts';
import { isWriteConflict, UnusableDatabase } from './database-errors.ts';

const migrationsUrl = new URL('../../prisma/migrations/', import.meta.url);

type Migration = { name: string; sql: string; checksum: string };

/** In the order in which they are applied. */
export async function readMigrations(folder: URL = migrationsUrl): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      const sql = await readFile(new URL(`${name}/migration.sql`, folder), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/**
 * What a database may have applied under a name whose file changed since, by its SHA-256. What was done then is done in
 * another way now, and comes to the same.
 */
const formerFiles = new Map([
  // It also filled the column in one statement, which held the audit log of a large database for a minute, and made two
  // indexes, which have migrations of their own now.
  ['20261125161500_audit_actors', 'f6022d467411366d1f396216905a78778a1507890de349623274b5c4a8c8897f'],
]);

// Exactly Prisma's own table, so that `prisma migrate deploy` agrees with us where it can run.
const createTable = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY NOT NULL,
  "checksum" VARCHAR(64) NOT NULL,
  "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL,
  "logs" TEXT,
  "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
  "applied_steps_count" INTEGER NOT NULL DEFAULT 0
)`;

/**
 * The names of the migrations that a database has; none if it does not belong to Holdfast.
 * @throws UnusableDatabase if one did not finish, or if its file has changed since.
 */
export async function appliedMigrations(connection: SqlConnection, folder?: URL): Promise<string[]> {
  const { rows: found } = await connection.query(
    `SELECT to_regclass('public._prisma_migrations') IS NOT NULL AS "isThere"`,
  );
  if (!found[0]!['isThere']) return [];
  const { rows } = await connection.query(
    `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS "isFinished"
     FROM "_prisma_migrations" WHERE rolled_back_at IS NULL ORDER BY 1`,
  );
  const known = new Map((await readMigrations(folder)).map(({ name, checksum }) => [name, checksum]));
  for (const { name, checksum, isFinished } of rows as {
    name: string;
    checksum: string;
    isFinished: boolean;
  }[]) {
    if (!known.has(name)) continue;
    if (checksum !== known.get(name) && checksum !== formerFiles.get(name))
      throw new UnusableDatabase(`The migration ${name} changed after it was applied: restore its file.`);
    if (!isFinished)
      throw new UnusableDatabase(
        `The migration ${name} did not finish: if nothing of it is in the database, run prisma migrate resolve --rolled-back ${name}, or else restore a copy from before it.`,
      );
  }
  return rows.map(({ name }) => name as string);
}

/** The key of Prisma's advisory lock, so that `prisma migrate deploy` and we wait for each other. */
const advisoryLock = 72_707_369;

/** The migrations among these that this version lacks. */
export async function unknownMigrations(names: string[]): Promise<string[]> {
  const known = new Set((await readMigrations()).map(({ name }) => name));
  return names.filter((name) => !known.has(name));
}

/**
 * Whether code that lacks a migration must not start after it. Such code sees only the name of the migration, so the
 * name says it. All other migrations only add things that older code does not need.
 */
export const isBreaking = (name: string): boolean => name.endsWith('_breaking');

/**
 * Applies the migrations that the database lacks, in order, each in a transaction with its record. Safe when
 * two processes start at once: the second one waits for the first and finds nothing to do.
 * @param folder of the migrations, for tests. @param among leaves out all others.
 * @returns the names applied.
 * @throws UnusableDatabase like `appliedMigrations`, if the database is another program's, or if it has a breaking
 *   migration that this version lacks.
 */
export async function migrate(
  connection: SqlConnection,
  folder?: URL,
  among?: ReadonlySet<string>,
): Promise<string[]> {
  await lock(connection);
  try {
    const missing = (await missingMigrations(connection, folder)).filter(
      ({ name }) => among?.has(name) ?? true,
    );
    for (const migration of missing) await apply(connection, migration);
    return missing.map(({ name }) => name);
  } finally {
    await connection.query('SELECT pg_advisory_unlock($1)', [advisoryLock]);
  }
}

/** Lets nobody else migrate until the transaction of the caller ends. Waits for whoever does. */
export const lockMigrations = (connection: SqlConnection): Promise<unknown> =>
  connection.query('SELECT pg_advisory_xact_lock($1)', [advisoryLock]);

/**
 * Applies what the database lacks as part of the transaction of the caller, who has locked migrations and alone uses the
 * database. @param among leaves out all others.
 */
export async function migrateWithin(connection: SqlConnection, among?: ReadonlySet<string>): Promise<void> {
  for (const migration of await missingMigrations(connection))
    if (among?.has(migration.name) ?? true)
      await connection.script(`${migration.sql.replaceAll(concurrently, '')}\n;${recordOf(migration)}`);
}

/**
 * Asks again and again: a statement that waits counts as a reader of everything, and the build of an index beside
 * readers waits for those.
 */
async function lock(connection: SqlConnection): Promise<void> {
  for (;;) {
    const { rows } = await connection.query('SELECT pg_try_advisory_lock($1) AS "isOurs"', [advisoryLock]);
    if (rows[0]!['isOurs']) return;
    await delay(100);
  }
}

async function missingMigrations(connection: SqlConnection, folder?: URL): Promise<Migration[]> {
  const migrations = await readMigrations(folder);
  const applied = new Set(await appliedMigrations(connection, folder));
  await refuseForeign(connection, [...applied]);
  const known = new Set(migrations.map(({ name }) => name));
  const beyond = [...applied].filter((name) => !known.has(name) && isBreaking(name));
  if (beyond.length > 0) {
    throw new UnusableDatabase(
      `The database was migrated by a newer Holdfast (${beyond.join(', ')}): run that version.`,
    );
  }
  await connection.script(createTable);
  return migrations.filter(({ name }) => !applied.has(name));
}

const recordOf = ({ name, checksum }: Migration): string =>
  `INSERT INTO "_prisma_migrations" (id, checksum, finished_at, migration_name, applied_steps_count)
   VALUES ('${randomUUID()}', '${checksum}', now(), '${name.replaceAll("'", "''")}', 1)`;

/** @throws UnusableDatabase if the database has tables, and none of our migrations. */
async function refuseForeign(connection: SqlConnection, applied: string[]): Promise<void> {
  const unknown = await unknownMigrations(applied);
  if (unknown.length < applied.length) return;
  const { rows } = await connection.query(
    `SELECT tablename AS name FROM pg_tables
     WHERE schemaname = 'public' AND (tablename <> '_prisma_migrations' OR $1) ORDER BY 1 LIMIT 1`,
    [applied.length > 0],
  );
  if (rows[0])
    throw new UnusableDatabase(
      `The database has tables of another program, such as ${String(rows[0]['name'])}: give Holdfast an empty database of its own.`,
    );
}

const mostTries = 5;

/** The version before may run meanwhile, and lock tables in another order. PostgreSQL ends one of the two then. */
async function apply(connection: SqlConnection, migration: Migration): Promise<void> {
  const index = concurrentIndex.exec(migration.sql)?.[1];
  for (let tries = 1; ; tries++) {
    try {
      if (index) await buildBeside(connection, migration, index);
      else await connection.script(`BEGIN;\n${migration.sql}\n;${recordOf(migration)};\nCOMMIT;`);
      return;
    } catch (error) {
      await connection.script('ROLLBACK');
      if (isWriteConflict(error) && tries < mostTries) continue;
      throw new UnusableDatabase(`The migration ${migration.name} failed: ${String(error)}`, {
        cause: error,
      });
    }
  }
}

// The index of a large table is built while others read and write, which PostgreSQL does outside of transactions. So it
// is the only statement of its migration.
const concurrently = /\bCONCURRENTLY\b/g;
const concurrentIndex = /\bINDEX CONCURRENTLY IF NOT EXISTS "(\w+)"/;

async function buildBeside(connection: SqlConnection, migration: Migration, index: string): Promise<void> {
  // A build that was interrupted leaves an index that nobody uses.
  const { rows } = await connection.query(
    `SELECT FROM pg_index WHERE indexrelid = to_regclass('public."${index}"') AND NOT indisvalid`,
  );
  if (rows.length > 0) await connection.script(`DROP INDEX "${index}"`);
  await connection.script(migration.sql);
  await connection.script(recordOf(migration));
}
