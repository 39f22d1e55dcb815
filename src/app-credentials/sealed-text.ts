import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** The text was sealed under another key, for another purpose, or was changed since. */
export class CannotUnseal extends Error {}

const version = 'v1';
const ivBytes = 12;
const tagBytes = 16;

/** A key of its own for each use of SECRET_KEY (HKDF-SHA-256): what is signed tells nothing of what is encrypted. */
export const deriveKey = (secretKey: string, use: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secretKey, '', `holdfast ${use}`, 32));

const keyOf = (secretKey: string) => deriveKey(secretKey, 'app credentials');

/**
 * Encrypts a text with AES-256-GCM.
 * @param purpose is authenticated with it: a sealed text does not open in another's place.
 */
export function seal(secretKey: string, purpose: string, text: string): string {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv('aes-256-gcm', keyOf(secretKey), iv).setAAD(Buffer.from(purpose));
  const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `${version}.${sealed.toString('base64url')}`;
}

/** @throws CannotUnseal */
export function unseal(secretKey: string, purpose: string, sealed: string): string {
  const [given, encoded = ''] = sealed.split('.');
  const bytes = Buffer.from(encoded, 'base64url');
  if (given !== version || bytes.length < ivBytes + tagBytes) throw new CannotUnseal();
  const iv = bytes.subarray(0, ivBytes);
  const decipher = createDecipheriv('aes-256-gcm', keyOf(secretKey), iv, { authTagLength: tagBytes })
    .setAAD(Buffer.from(purpose))
    .setAuthTag(bytes.subarray(-tagBytes));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(ivBytes, -tagBytes)), decipher.final()]).toString();
  } catch {
    throw new CannotUnseal();
  }
}
