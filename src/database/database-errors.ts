import type { SqlConnection } from './database.ts';
import { kindOf, sentenceOf } from './trouble.ts';

/** The code of an error of `pg` or PGlite, which are PostgreSQL's, or of the network. Empty if it has none. */
export const errorCodeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** Whether PostgreSQL ended a transaction because of another one, so that it can be tried again: also by a deadlock. */
export const isWriteConflict = (error: unknown): boolean => ['40001', '40P01'].includes(errorCodeOf(error));

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
export const databasePatience = 10;

const absent = 'PostgreSQL does not answer at DATABASE_URL: start it, or correct the URL.';

const unknownAuthority = (): string =>
  'The certificate of PostgreSQL is from an authority that this machine does not know: add sslrootcert=FILE with the certificate of the authority to DATABASE_URL, or name that file in NODE_EXTRA_CA_CERTS.';

/** What to do about each failure, by the code of the system or of PostgreSQL. */
const remedies: Record<string, (url: URL) => string> = {
  ECONNREFUSED: () => absent,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  ERR_TLS_CERT_ALTNAME_INVALID: ({ hostname }) =>
    `The certificate of PostgreSQL is not for ${hostname}: write the host in DATABASE_URL as the certificate names it.`,
  CERT_HAS_EXPIRED: () => 'The certificate of PostgreSQL has expired: renew it on the server.',
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

const late = `PostgreSQL did not answer at DATABASE_URL within ${databasePatience} seconds: correct the address, or open the way to it.`;

const refusedUser = (username: string): string =>
  `PostgreSQL refuses the user ${decodeURIComponent(username)} or its password: correct DATABASE_URL.`;

/** The same by what is said, where a code stands for several things or there is none. */
const saidRemedies: [said: RegExp, (url: URL) => string][] = [
  [/timeout expired|connection timeout/i, () => late],
  [
    /no pg_hba\.conf entry .*(?:no encryption|SSL off)/,
    ({ username }) =>
      `PostgreSQL lets the user ${decodeURIComponent(username)} connect from here only with encryption, or not at all: add sslmode=verify-full to DATABASE_URL, or an entry for this machine to pg_hba.conf.`,
  ],
  [
    /no pg_hba\.conf entry/,
    ({ username }) =>
      `PostgreSQL does not let the user ${decodeURIComponent(username)} connect from here: add an entry for this machine to pg_hba.conf.`,
  ],
  [
    /does not support SSL connections/,
    ({ host }) =>
      `PostgreSQL at ${host} has no encryption: remove sslmode from DATABASE_URL, or turn ssl on in postgresql.conf.`,
  ],
  [
    /Connection terminated unexpectedly|establishing an SSL connection|Received unexpected/i,
    ({ host }) =>
      `What answers at ${host} is not PostgreSQL, or ends connections at once: correct the host and port in DATABASE_URL, or see the log of PostgreSQL.`,
  ],
];

/** The error to throw for a failure of PostgreSQL: an `UnusableDatabase` if we know what to do. */
export function explainFailure(error: unknown, connectionString: string): unknown {
  const { code = '', message = '' } = error as { code?: string; message?: string };
  const url = URL.parse(connectionString);
  if (!url) return error;
  const remedy = saidRemedies.find(([said]) => said.test(message))?.[1] ?? remedies[code];
  const kind = kindOf(error);
  const what = remedy ? remedy(url) : kind && sentenceOf(kind);
  return what ? new UnusableDatabase(what, { cause: error }) : error;
}

/** The driver cannot even begin with a URL: it reads the files that the URL names first. */
export function explainUrl(error: unknown, connectionString: string): UnusableDatabase {
  const { code, path, message } = error as NodeJS.ErrnoException;
  const names = [...(URL.parse(connectionString)?.searchParams ?? [])];
  const [name] = names.find(([, value]) => value === path) ?? [];
  return new UnusableDatabase(
    path !== undefined
      ? `${name ?? 'A file'} in DATABASE_URL names ${path}, which cannot be read (${code}): correct it, or let the user of this process read the file.`
      : `DATABASE_URL cannot be used: ${message}`,
    { cause: error },
  );
}

/** Only a part of an archive is in the database. Versions up to 1.0.0 left that of an import that was interrupted. */
export class UnfinishedImport extends Error {
  /** @param file the archive, as it was named to the import. */
  constructor(file: string) {
    super(
      `The import of ${file} into this database is not finished. An older version of Holdfast was interrupted: create the database again, and import the file again: npx --no-install holdfast db import ${file}`,
    );
  }
}

/** @throws UnfinishedImport: without the rest, Holdfast would let go what freezes hold. */
export async function refuseUnfinishedImport(connection: SqlConnection): Promise<void> {
  const { rows: found } = await connection.query(
    `SELECT to_regclass('public.unfinished_imports') IS NOT NULL AS "isThere"`,
  );
  if (!found[0]!['isThere']) return;
  const { rows } = await connection.query('SELECT file FROM unfinished_imports');
  if (rows[0]) throw new UnfinishedImport(rows[0]['file'] as string);
}
