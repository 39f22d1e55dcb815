import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { deriveKey } from './derive-key.ts';

/** The text was sealed under another key, for another purpose, or was changed since. */
export class CannotUnseal extends Error {}

const version = 'v1';
const ivBytes = 12;
const tagBytes = 16;

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
