// The database is real: a clone of a migrated PGlite, or, with TEST_DATABASE_URL, a fresh PostgreSQL database. A boot
// costs a second of processor time, so a worker lends one to file after file, emptied in between.
import { randomBytes } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { inject } from 'vitest';
import { connectDatabase } from '../../src/database/connect.ts';
import type { Database } from '../../src/database/database.ts';
import { startParams, wrapPglite } from '../../src/database/embedded.ts';
import { PreparedPglite } from '../../src/database/prepared-pglite.ts';
import { administer, databaseUrl } from './postgres.ts';

/** What nobody uses now. Vitest keeps modules from file to file, and with them this. */
const idle: Prepared[] = [];

type Prepared = {
  database: Database;
  tables: string[];
  /** The tables that are not empty in a new database, with their rows as JSON. */
  filled: { table: string; rows: string }[];
};

/** A migrated, empty database, the caller's alone until it closes it. */
export async function openTestDatabase(): Promise<Database> {
  const prepared = idle.pop() ?? (await prepare());
  const { database } = prepared;
  let isOpen = true;
  return {
    ...database,
    close: async () => {
      if (!isOpen) return;
      isOpen = false;
      if (await empty(prepared)) idle.push(prepared);
      else await database.close();
    },
  };
}

/** Closes what nobody uses: nothing lends its statistics and plans on. The next database is a new one. */
export async function closeIdleDatabases(): Promise<void> {
  await Promise.all(idle.splice(0).map(({ database }) => database.close()));
}

async function prepare(): Promise<Prepared> {
  const server = inject('postgresUrl');
  const database = await (server ? openPostgres(server) : openPglite());
  const tables = await tablesOf(database);
  const filled = [];
  for (const table of await filledOf(database, tables)) {
    const all = `SELECT json_agg(one)::text AS rows FROM ${table} one`;
    const [found] = await database.prisma.$queryRawUnsafe<{ rows: string }[]>(all);
    filled.push({ table, rows: found!.rows });
  }
  return { database, tables, filled };
}

async function tablesOf({ prisma }: Database): Promise<string[]> {
  const found = await prisma.$queryRaw<{ name: string }[]>`
    SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
    WHERE schemaname = 'public' ORDER BY 1`;
  return found.map(({ name }) => name);
}

/** Those that have rows. */
async function filledOf({ prisma }: Database, tables: string[]): Promise<string[]> {
  const asked = tables.map((table) => `SELECT '${table}' AS name WHERE EXISTS (SELECT FROM ${table})`);
  const found = await prisma.$queryRawUnsafe<{ name: string }[]>(asked.join(' UNION ALL '));
  return found.map(({ name }) => name);
}

/** Nothing outlives the process, so nothing is written twice for a crash. */
const withoutCrashes = ['full_page_writes=off', 'synchronous_commit=off'];
/** Tables of tests are small, so a plan for each set of values costs more than it saves. */
const plannedOnce = ['plan_cache_mode=force_generic_plan'];
const settings = [...withoutCrashes, ...plannedOnce].flatMap((setting) => ['-c', setting]);

async function openPglite(): Promise<Database> {
  const image = await openAsBlob(inject('pgliteImage'));
  const pglite = new PreparedPglite({ loadDataDir: image, startParams: [...startParams, ...settings] });
  await pglite.waitReady;
  return wrapPglite(pglite);
}

/** `prepare-database.ts` drops it at the end of the run. */
async function openPostgres(server: string): Promise<Database> {
  const template = inject('postgresTemplate');
  const name = `${template}_${randomBytes(4).toString('hex')}`;
  await administer(server, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  return connectDatabase({ connectionString: databaseUrl(server, name) });
}

/** Bytes of a table from which on new files cost less than to delete its rows. */
const large = 65_536;

/** @returns whether it is as new; not where a test made, renamed or dropped a table. */
async function empty({ database, tables, filled }: Prepared): Promise<boolean> {
  if ((await tablesOf(database)).join() !== tables.join()) return false;
  const { prisma } = database;
  const sizes = await prisma.$queryRaw<{ name: string; isLarge: boolean }[]>`
    SELECT name, pg_relation_size(name::regclass) > ${large} AS "isLarge"
    FROM unnest(${await filledOf(database, tables)}::text[]) name`;
  const namesOf = (isLarge: boolean) =>
    sizes.filter((each) => each.isLarge === isLarge).map(({ name }) => name);
  await prisma.$transaction([
    prisma.$executeRaw`SET LOCAL session_replication_role = replica`,
    ...namesOf(true).map((name) => prisma.$executeRawUnsafe(`TRUNCATE ${name} CASCADE`)),
    ...namesOf(false).map((name) => prisma.$executeRawUnsafe(`DELETE FROM ${name}`)),
    prisma.$executeRaw`SELECT setval(seqrelid::regclass, seqstart, false) FROM pg_sequence`,
    ...filled.map(({ table, rows }) =>
      prisma.$executeRawUnsafe(
        `INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1::json)`,
        rows,
      ),
    ),
  ]);
  return true;
}
