import { hkdfSync } from 'node:crypto';
import type { Config } from '../config.ts';

/** Derives a key for each use of the secret key (HKDF-SHA-256): a signature says nothing about what is encrypted. */
export const deriveKey = (secretKey: string, use: string): Buffer<ArrayBuffer> =>
  Buffer.from(hkdfSync('sha256', secretKey, '', `holdfast ${use}`, 32));

/** SECRET_KEY, and the one before it. */
export type SecretKeys = Pick<Config, 'secretKey' | 'secretKeyPrevious'>;

/** The keys that open what was signed or sealed. New values use only SECRET_KEY, which is the first. */
export const openingKeys = ({ secretKey, secretKeyPrevious }: SecretKeys): string[] =>
  [secretKey, secretKeyPrevious].filter((key) => key !== null);
