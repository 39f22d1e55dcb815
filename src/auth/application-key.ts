// The form of application keys: `hf_<scope>_<32 random base62 characters><6 of checksum>`. With the checksum, we refuse
// a mistyped key without asking the database, and secret scanners can tell a key from a lookalike.
import { createHash, randomInt, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

export const keyScopes = ['admin', 'ci'] as const;
export type KeyScope = (typeof keyScopes)[number];

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const shape = /^hf_(admin|ci)_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let place = 0; place < 6; place++) {
    digits = alphabet[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** A new secret: 190 bits of randomness. Shown once, never stored. */
export function generateKey(scope: KeyScope): string {
  const random = Array.from({ length: 32 }, () => alphabet[randomInt(62)]).join('');
  const body = `hf_${scope}_${random}`;
  return body + checksum(body);
}

/** Whether a credential looks like an application key, well-formed or not. */
export const looksLikeKey = (credential: string): boolean => credential.startsWith('hf_');

/** Whether the credential has the form of a key and its checksum is right. */
export function isWellFormedKey(credential: string): boolean {
  const match = shape.exec(credential);
  return match !== null && checksum(credential.slice(0, -6)) === match[3];
}

/** The stored form of a key: SHA-256 in hexadecimal. The secret is random, so it needs no salt or stretching. */
export const hashKey = (credential: string): string => createHash('sha256').update(credential).digest('hex');

/** Compares two SHA-256 hashes in constant time. */
export const sameHash = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
