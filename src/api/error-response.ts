import type { Context } from 'hono';
import type { Logger } from 'pino';
import { codeOf, isConflict } from '../database/database-errors.ts';
import { Refusal, refusalStatus } from '../errors.ts';
import { Prisma } from '../generated/prisma/client.ts';

/** Prisma's codes for "the database is not available" and "the pool is exhausted". */
const databaseAway = ['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028'];
const writeConflict = 'P2034';
/** PostgreSQL's codes for the same, which Prisma may pass on: it shuts down, starts, or has no connection left. */
const serverAway = /Code: `(?:57P0[1-5]|53300|08[0-9A-Z]{3})`/;

/** The driver's messages, without a code, for a connection that breaks during a transaction or its commit. */
const connectionLost = /^(?:Connection terminated|Client has encountered a connection error)/;

// The same for `database/sql.ts`.
const isAway = (error: unknown): boolean =>
  error instanceof Error &&
  !('status' in error) &&
  (/^(?:57P0[1-5]|53300|08[0-9A-Z]{3})$/.test(codeOf(error)) ||
    ('address' in error && codeOf(error) === 'ECONNREFUSED'));

/** Turns an error into an API response. `errorPage` does the same for pages. */
export function errorResponse(error: unknown, context: Context, log: Logger): Response {
  const refusal = refusalOf(error);
  if (!refusal) {
    const { requestId } = context.var;
    log.error({ err: error, requestId }, 'a request failed');
    const detail = `Something went wrong on our side. Give your Holdfast administrators the request ID ${requestId}.`;
    return context.json({ detail }, 500);
  }
  if (refusal.retryAfter !== undefined) context.header('Retry-After', String(refusal.retryAfter));
  const detail =
    refusal.problems.length > 0
      ? refusal.problems.map(({ path, message, type }) => ({ loc: path, msg: message, type }))
      : refusal.message;
  return context.json({ detail }, refusalStatus[refusal.code]);
}

/** The refusal that was thrown or that a database error stands for; null for any other error. */
export const refusalOf = (error: unknown): Refusal | null =>
  error instanceof Refusal ? error : translate(error);

/** The database errors that a client can act on. */
function translate(error: unknown): Refusal | null {
  const code =
    error instanceof Prisma.PrismaClientKnownRequestError
      ? error.code
      : error instanceof Prisma.PrismaClientInitializationError
        ? 'P1001'
        : null;
  if (code === writeConflict || isConflict(error))
    return new Refusal('conflict', 'The resource changed at the same time. Read it and try again.');
  if ((code && (databaseAway.includes(code) || serverAway.test((error as Error).message))) || isAway(error)) {
    return new Refusal(
      'unavailable',
      'The database does not answer. Nothing was changed. Try again in a moment.',
      {
        retryAfter: 5,
      },
    );
  }
  if (error instanceof Error && connectionLost.test(error.message)) {
    return new Refusal(
      'unavailable',
      'The connection to the database broke, so the change may or may not be saved. Read the resource, or send the request again with the same Idempotency-Key.',
      { retryAfter: 5 },
    );
  }
  return null;
}
