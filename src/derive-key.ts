import { hkdfSync } from 'node:crypto';
import type { Config } from './config.ts';

/** A key of its own for each use of the secret key (HKDF-SHA-256): what is signed tells nothing of what is encrypted. */
export const deriveKey = (secretKey: string, use: string): Buffer<ArrayBuffer> =>
  Buffer.from(hkdfSync('sha256', secretKey, '', `holdfast ${use}`, 32));

/** SECRET_KEY, and the one before it. */
export type SecretKeys = Pick<Config, 'secretKey' | 'secretKeyPrevious'>;

/** The keys that open what was signed or sealed. New things are made with SECRET_KEY alone, which is the first. */
export const openingKeys = ({ secretKey, secretKeyPrevious }: SecretKeys): string[] =>
  [secretKey, secretKeyPrevious].filter((key) => key !== null);
