import { hkdfSync } from 'node:crypto';

/** A key of its own for each use of the secret key (HKDF-SHA-256): what is signed tells nothing of what is encrypted. */
export const deriveKey = (secretKey: string, use: string): Buffer<ArrayBuffer> =>
  Buffer.from(hkdfSync('sha256', secretKey, '', `holdfast ${use}`, 32));
