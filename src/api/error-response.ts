import type { Context } from 'hono';
import type { Logger } from 'pino';
import { isWriteConflict } from '../database/database-errors.ts';
import { type DatabaseTrouble, type TroubleKind, troubleOf } from '../database/trouble.ts';
import { Refusal, refusalStatus } from '../errors.ts';
import { Prisma } from '../generated/prisma/client.ts';

/** Prisma's code for a transaction that another one ended. */
const writeConflict = 'P2034';

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
  const isConflicting = error instanceof Prisma.PrismaClientKnownRequestError && error.code === writeConflict;
  if (isConflicting || isWriteConflict(error))
    return new Refusal('conflict', 'The resource changed at the same time. Read it and try again.');
  const trouble = troubleOf(error);
  return trouble && new Refusal('unavailable', detailText(trouble), { retryAfter: 5 });
}

/** For callers, who cannot put the database right. */
function detailText({ kind, isUncertain }: DatabaseTrouble): string {
  if (isUncertain)
    return 'The connection to the database broke, so the change may or may not be saved. Read the resource, or send the request again with the same Idempotency-Key.';
  const what = savesNothing.has(kind) ? 'cannot save anything' : 'does not answer';
  return `The database ${what}. Nothing was changed. Try again in a moment.`;
}

const savesNothing: ReadonlySet<TroubleKind> = new Set(['full', 'read_only']);
