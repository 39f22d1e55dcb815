import type { Connection } from './database.ts';

/** The code of an error of `pg` or PGlite, which are PostgreSQL's, or of the network. Empty if it has none. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** Whether PostgreSQL ended a transaction because of another one, so that it can be tried again: also by a deadlock. */
export const isConflict = (error: unknown): boolean => ['40001', '40P01'].includes(codeOf(error));

/** The database that DATABASE_URL names cannot be used. The message says what to do, and contains no secret. */
export class UnusableDatabase extends Error {}

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

/** Seconds to wait for an answer. */
export const patience = 10;

const absent = 'PostgreSQL does not answer at DATABASE_URL: start it, or correct the URL.';

/** What to do about each failure, by the code of the system or of PostgreSQL. */
const remedies: Record<string, (url: URL) => string> = {
  ECONNREFUSED: () => absent,
  ENOTFOUND: ({ hostname }) => `There is no host ${hostname}: correct DATABASE_URL.`,
  EAI_AGAIN: ({ hostname }) =>
    `The name ${hostname} of DATABASE_URL cannot be looked up: correct it, or the name server.`,
  ETIMEDOUT: () => late,
  // No such role, or no such password.
  '28P01': ({ username }) => refusedUser(username),
  '28000': ({ username }) => refusedUser(username),
  '3D000': ({ pathname }) =>
    `PostgreSQL has no database ${decodeURIComponent(pathname.slice(1))}: create it, or correct DATABASE_URL.`,
  '42501': ({ username }) =>
    `The user ${decodeURIComponent(username)} of DATABASE_URL may not create or use tables: make it the owner of the database and of its tables.`,
};

const late = `PostgreSQL did not answer at DATABASE_URL within ${patience} seconds: correct the address, or open the way to it.`;

const refusedUser = (username: string): string =>
  `PostgreSQL refuses the user ${decodeURIComponent(username)} or its password: correct DATABASE_URL.`;

/** The error to throw for a failure of PostgreSQL: an `UnusableDatabase` if we know what to do. */
export function explainFailure(error: unknown, connectionString: string): unknown {
  const { code, message = '' } = error as { code?: string; message?: string };
  const url = URL.parse(connectionString);
  const remedy = code === undefined ? undefined : remedies[code];
  if (url && remedy) return new UnusableDatabase(remedy(url), { cause: error });
  return /timeout expired|connection timeout/i.test(message)
    ? new UnusableDatabase(late, { cause: error })
    : error;
}

/** Only a part of an archive is in the database. */
export class UnfinishedImport extends Error {
  /** @param file the archive, as it was named to the import. */
  constructor(file: string) {
    super(
      `The import of ${file} into this database is not finished. Run it again, and it goes on where it stopped: npx --no-install holdfast db import ${file}`,
    );
  }
}

/** @throws UnfinishedImport: without the rest, Holdfast would let go what freezes hold. */
export async function refuseUnfinishedImport(connection: Connection): Promise<void> {
  const { rows: found } = await connection.query(
    `SELECT to_regclass('public.unfinished_imports') IS NOT NULL AS "isThere"`,
  );
  if (!found[0]!['isThere']) return;
  const { rows } = await connection.query('SELECT file FROM unfinished_imports');
  if (rows[0]) throw new UnfinishedImport(rows[0]['file'] as string);
}
