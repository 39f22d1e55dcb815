import { createHash } from 'node:crypto';

/** A short digest that recognizes the same content again. */
export const digestOf = (said: unknown): string =>
  createHash('sha256').update(JSON.stringify(said)).digest('base64url').slice(0, 22);
