import { createHash } from 'node:crypto';

/** Names what is said, so that the same is known again. */
export const digestOf = (said: unknown): string =>
  createHash('sha256').update(JSON.stringify(said)).digest('base64url').slice(0, 22);
