/** The code of an error of `pg` or PGlite, which are PostgreSQL's, or of the network. Empty if it has none. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** Whether PostgreSQL ended a transaction because of another one, so that it can be tried again: also by a deadlock. */
export const isConflict = (error: unknown): boolean => ['40001', '40P01'].includes(codeOf(error));
