// What can be wrong with the database itself, not with what it is asked. Pure: one table for answers, the log, `/readyz`,
// doctor, metrics and the start.

/** `until`: for how many milliseconds the last failure counts; without it, until the database answers. */
type TroubleRow = { codes: RegExp; messages?: RegExp; sentence: string; until?: number };

/**
 * The kinds, from their codes of PostgreSQL, Node and Prisma, and from messages of drivers that have no code. A database
 * that takes reads can still refuse writes or connections, so an answer does not show that those kinds are over.
 */
const rows = {
  unresolved: {
    codes: /^(?:ENOTFOUND|EAI_\w+)$/,
    sentence:
      'The host name in DATABASE_URL cannot be looked up: check the name server, or correct the name.',
  },
  unreachable: {
    codes:
      /^(?:ECONN(?:REFUSED|RESET|ABORTED)|E(?:HOST|NET)(?:UNREACH|DOWN)|EPIPE|EADDRNOTAVAIL|ETIMEDOUT|ENOENT|EACCES|08\w{3}|P100[12]|P1017)$/,
    messages:
      /^(?:Connection terminated|Client has encountered a connection error|Client was closed|timeout expired)/,
    sentence: 'PostgreSQL does not answer at DATABASE_URL: start it, or open the way to it.',
  },
  silent: {
    codes: /^(?:57014|25P0[34]|P1008|P2024|P2028)$/,
    messages: /timeout exceeded|read timeout/i,
    sentence: 'The database does not answer in time: check its load, its locks, and the way to it.',
  },
  stopping: {
    codes: /^57P0\d$/,
    sentence: 'PostgreSQL is starting or shutting down: wait, or see its log.',
  },
  connections: {
    codes: /^(?:53300|P2037)$/,
    sentence:
      'PostgreSQL has no connection left for Holdfast: raise max_connections, or the CONNECTION LIMIT of the user or database. Each process uses up to 18.',
    until: 5_000,
  },
  read_only: {
    codes: /^25006$/,
    sentence:
      'The database is read-only, so nothing can be saved: name the primary in DATABASE_URL, or allow writes.',
    until: 70_000,
  },
  full: {
    codes: /^(?:53100|ENOSPC|EDQUOT)$/,
    messages: /No space left on device|Disk quota exceeded|could not (?:extend|write) file.*wrote only/i,
    sentence: 'The disk of the database is full, so nothing can be saved: make room on it.',
    until: 70_000,
  },
  failing: {
    codes: /^(?:53[24]\w{2}|53000|58\w{3}|EIO|EMFILE|ENFILE|XX001|XX002)$/,
    sentence: 'The database fails for lack of memory or because of its disk: see its log.',
    until: 5_000,
  },
  refused: {
    codes: /^(?:28\w{3}|3D000|42501|P1000|P1003|P1010)$/,
    sentence: 'PostgreSQL refuses the user, the password or the database of DATABASE_URL: correct it.',
  },
  encryption: {
    codes:
      /^(?:ERR_TLS\w*|ERR_SSL\w*|CERT_\w+|\w*SELF_SIGNED\w*|UNABLE_TO_\w+|HOSTNAME_MISMATCH|EPROTO|P1011)$/,
    messages: /does not support SSL connections|establishing an SSL connection/,
    sentence:
      'The encrypted connection to PostgreSQL fails: check sslmode and sslrootcert in DATABASE_URL, and the certificate.',
  },
  pooler: {
    // Prepared statements that another client made, or that are on another connection.
    codes: /^(?:26000|42P05)$/,
    messages: /unsupported startup parameter|prepared statement name is already in use/,
    sentence:
      'A pooler in transaction mode is between Holdfast and PostgreSQL: set its pool_mode to session, or name PostgreSQL itself in DATABASE_URL.',
    until: 5_000,
  },
} satisfies Record<string, TroubleRow>;

/** The word for what is wrong. */
export type TroubleKind = keyof typeof rows;

export const troubleKinds = Object.keys(rows) as TroubleKind[];

/** What is wrong, in one sentence that says what to do. */
export const sentenceOf = (kind: TroubleKind): string => rows[kind].sentence;

/** For how many milliseconds a failure counts; null: until the database answers. */
export const lastsFor = (kind: TroubleKind): number | null => (rows[kind] as TroubleRow).until ?? null;

/**
 * What is wrong with the database, for an error of a connection to it or of its files; null if the error is about what it
 * was asked. Of any other connection, the codes of the network would mean something else: see `troubleOf`.
 */
export function kindOf(error: unknown): TroubleKind | null {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  const is = (pattern: RegExp | undefined, text: unknown) =>
    typeof text === 'string' && !!pattern?.test(text);
  const saidBy = (kind: TroubleKind) => is((rows[kind] as TroubleRow).messages, message);
  const found = saysMore.test(typeof code === 'string' ? code : '') ? troubleKinds.find(saidBy) : undefined;
  return found ?? troubleKinds.find((kind) => is(rows[kind].codes, code)) ?? null;
}

/** Without a code, and with those that stand for much, the message tells what it is. Others can quote what was asked. */
const saysMore = /^$|^(?:08P01|53000|58\w{3}|XX\w{3})$/;

/** The database could not do what it was asked, for a reason that has nothing to do with the question. */
export class DatabaseTrouble extends Error {
  readonly kind: TroubleKind;
  /** Whether the change may be saved, because no answer came. */
  readonly isUncertain: boolean;

  /** @param cause the error of the driver. */
  constructor(kind: TroubleKind, isUncertain: boolean, cause?: unknown) {
    super(sentenceOf(kind), { cause });
    this.name = 'DatabaseTrouble';
    this.kind = kind;
    this.isUncertain = isUncertain;
  }

  /** Whether the connection is gone, so that another one may answer. */
  get isLost(): boolean {
    return this.isUncertain || this.kind === 'unreachable' || this.kind === 'stopping';
  }
}

/** Kinds after which nobody knows whether the last statement was done. */
const broken: ReadonlySet<TroubleKind> = new Set(['unreachable', 'silent', 'stopping', 'encryption']);

/**
 * The error to throw for one of a connection to the database.
 * @param wasAsked whether a statement had been sent, not only a connection been asked for.
 */
export function explainTrouble(error: unknown, wasAsked: boolean): unknown {
  if (error instanceof DatabaseTrouble) return error;
  const kind = kindOf(error);
  return kind ? new DatabaseTrouble(kind, wasAsked && broken.has(kind) && !isAnswer(error), error) : error;
}

/** PostgreSQL itself says that it did not do what it was asked. */
const isAnswer = (error: unknown): boolean => error instanceof Error && 'severity' in error;

/** Prisma's own: it has no connection or no transaction in time. */
const ofPrisma = /^P\d{4}$/;

/** What only `pg` says. */
const ofDriver = /^(?:Connection terminated|Client has encountered a connection error)/;

/** The trouble that an error of any part stands for; null if it is none of the database. */
export function troubleOf(error: unknown): DatabaseTrouble | null {
  if (error instanceof DatabaseTrouble) return error;
  if (error instanceof AggregateError)
    return error.errors.map((each) => troubleOf(each)).find((each) => each !== null) ?? null;
  if (!(error instanceof Error)) return null;
  const { code = '' } = error as { code?: unknown };
  if (code === '' && ofDriver.test(error.message)) return new DatabaseTrouble('unreachable', true, error);
  const kind =
    error.name === 'PrismaClientInitializationError'
      ? 'unreachable'
      : ofPrisma.test(String(code))
        ? kindOf({ code })
        : null;
  return kind && new DatabaseTrouble(kind, false, error);
}
