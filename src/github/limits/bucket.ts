import { createHmac } from 'node:crypto';
import type { Deps } from '../../deps.ts';
import { deriveKey } from '../../database/secret-key.ts';

type Keeper = Pick<Deps, 'config'>;

/** The number of rows for a kind of stranger, for any number of strangers. */
export const mostBuckets = 4096;

/** The same on every replica, and not in the database. Each replica has SECRET_KEY, or the App's private key. */
const keyOf = ({ config }: Keeper, use: string): Buffer =>
  deriveKey(config.secretKey ?? config.app.privateKey, use);

/** HMAC-SHA-256 in hexadecimal. A reader learns nothing about the text, and cannot make an HMAC. */
export const hmacOf = (deps: Keeper, use: string, text: string): string =>
  createHmac('sha256', keyOf(deps, use)).update(text).digest('hex');

/** Which of a fixed number of rows counts for a stranger. It is keyed, so nobody can choose another one's row. */
export const bucketOf = (deps: Keeper, kind: string, stranger: string): string =>
  `${kind} ${parseInt(hmacOf(deps, 'buckets', `${kind} ${stranger}`).slice(0, 8), 16) % mostBuckets}`;
