/** The codes of refusals, each with its HTTP status. */
export const refusalStatus = {
  'start-already-passed': 400,
  forbidden: 403,
  'not-found': 404,
  conflict: 409,
  'too-large': 413,
  invalid: 422,
  'too-many-requests': 429,
  unavailable: 503,
} as const;

type RefusalCode = keyof typeof refusalStatus;

/** One bad field. `path` starts with `path`, `query`, `header` or `body`. */
export type Problem = { path: (string | number)[]; message: string; type: string };

/**
 * A request that the service understands but refuses. Clients see the message, so it says what to do next and
 * contains no secret. Any other error that is thrown becomes an opaque 500.
 */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly problems: Problem[];
  /** In seconds. Set only for `unavailable` and `too-many-requests`. */
  readonly retryAfter: number | undefined;
  /** Until when GitHub's rate limit stands in the way. */
  readonly limitedUntil: Date | undefined;

  constructor(
    code: RefusalCode,
    message: string,
    more: { problems?: Problem[]; retryAfter?: number; limitedUntil?: Date } = {},
  ) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.problems = more.problems ?? [];
    this.retryAfter = more.retryAfter;
    this.limitedUntil = more.limitedUntil;
  }
}

export const forbidden = (message: string) => new Refusal('forbidden', message);
export const notFound = (message: string) => new Refusal('not-found', message);
export const conflict = (message: string) => new Refusal('conflict', message);

export const isConflict = (error: unknown): error is Refusal =>
  error instanceof Refusal && error.code === 'conflict';

/** Handles an error: null for a refusal with one of these codes. @throws every other error. */
export const nullIf =
  (...codes: RefusalCode[]) =>
  (error: unknown): null => {
    if (error instanceof Refusal && codes.includes(error.code)) return null;
    throw error;
  };

/** Handles an error: a refusal with one of these codes becomes the answer. @throws every other error. */
export const refusedIf =
  (...codes: RefusalCode[]) =>
  (error: unknown): Refusal => {
    if (error instanceof Refusal && codes.includes(error.code)) return error;
    throw error;
  };

/** GitHub or the database cannot answer now. Nothing was granted and nothing changed. */
export const unavailable = (message: string, retryAfter = 10) =>
  new Refusal('unavailable', message, { retryAfter });

/** GitHub answers no more questions before an instant. @param now milliseconds since the epoch, as `until`. */
export const limited = (message: string, until: number, now: number) =>
  new Refusal('unavailable', message, {
    retryAfter: Math.max(1, Math.ceil((until - now) / 1000)),
    limitedUntil: new Date(until),
  });

export const isUnavailable = (error: unknown): error is Refusal =>
  error instanceof Refusal && error.code === 'unavailable';

/** A limit is used up. Nothing was asked and nothing changed. @param retryAfter in seconds. */
export const tooManyRequests = (message: string, retryAfter: number) =>
  new Refusal('too-many-requests', message, { retryAfter });

export const isTooManyRequests = (error: unknown): error is Refusal =>
  error instanceof Refusal && error.code === 'too-many-requests';

/** Refuses a request with all of its bad fields. */
export const invalid = (problems: Problem[]) =>
  new Refusal('invalid', problems.map((problem) => problem.message).join(' '), { problems });

/** What succeeded, and why the rest was refused. */
export type PartialOutcome<Done> = { done: Done[]; refusals: Refusal[] };

/**
 * Changes several things, each on its own, so that one refusal does not stop the others. What somebody else ended
 * meanwhile counts as done.
 */
export async function eachByItself<Done>(acts: (() => Promise<Done>)[]): Promise<PartialOutcome<Done>> {
  const done: Done[] = [];
  const refusals: Refusal[] = [];
  for (const act of acts) {
    try {
      done.push(await act());
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.code !== 'not-found') refusals.push(error);
    }
  }
  return { done, refusals };
}
