import { createHmac } from 'node:crypto';
import type { Deps } from '../../deps.ts';
import { deriveKey } from '../../derive-key.ts';

type Keeper = Pick<Deps, 'config'>;

/** Rows for a kind of stranger, however many of them there are. */
export const mostBuckets = 4096;

/** The same on every replica, and not in the database. Each has SECRET_KEY, or else the App's private key. */
const keyOf = ({ config }: Keeper, use: string): Buffer =>
  deriveKey(config.secretKey ?? config.app.privateKey, use);

/** HMAC-SHA-256 in hexadecimal: who reads it learns nothing of the text, and cannot make one. */
export const hmacOf = (deps: Keeper, use: string, text: string): string =>
  createHmac('sha256', keyOf(deps, use)).update(text).digest('hex');

/** Which of a fixed number of rows a stranger counts in. Keyed, so that nobody can choose to share another's. */
export const bucketOf = (deps: Keeper, kind: string, stranger: string): string =>
  `${kind} ${parseInt(hmacOf(deps, 'buckets', `${kind} ${stranger}`).slice(0, 8), 16) % mostBuckets}`;
