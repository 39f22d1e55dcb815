/** What can be refused, each with the one HTTP status that tells a client of it. */
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

export type RefusalCode = keyof typeof refusalStatus;

/** One bad field. `path` starts at `path`, `query`, `header` or `body`. */
export type Problem = { path: (string | number)[]; message: string; type: string };

/**
 * A request that the service understood and will not carry out. The message is shown to the client, so it
 * says what to do next and holds no secret. Everything else that is thrown becomes an opaque 500.
 */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly problems: Problem[];
  /** Seconds; only for `unavailable` and `too-many-requests`. */
  readonly retryAfter: number | undefined;

  constructor(code: RefusalCode, message: string, more: { problems?: Problem[]; retryAfter?: number } = {}) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.problems = more.problems ?? [];
    this.retryAfter = more.retryAfter;
  }
}

export const forbidden = (message: string) => new Refusal('forbidden', message);
export const notFound = (message: string) => new Refusal('not-found', message);
export const conflict = (message: string) => new Refusal('conflict', message);

export const isConflict = (error: unknown): error is Refusal =>
  error instanceof Refusal && error.code === 'conflict';

/** GitHub or the database cannot answer now; nothing was granted and nothing was changed. */
export const unavailable = (message: string, retryAfter = 10) =>
  new Refusal('unavailable', message, { retryAfter });

export const isUnavailable = (error: unknown): error is Refusal =>
  error instanceof Refusal && error.code === 'unavailable';

/** A limit is used up; nothing was asked and nothing was changed. @param retryAfter seconds. */
export const tooManyRequests = (message: string, retryAfter: number) =>
  new Refusal('too-many-requests', message, { retryAfter });

export const isTooManyRequests = (error: unknown): error is Refusal =>
  error instanceof Refusal && error.code === 'too-many-requests';

/** Bad fields, all of them at once. */
export const invalid = (problems: Problem[]) =>
  new Refusal('invalid', problems.map((problem) => problem.message).join(' '), { problems });
