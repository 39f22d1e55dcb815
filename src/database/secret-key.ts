import { hkdfSync, createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Config } from '../config.ts';

/** Derives a key for each use of the secret key (HKDF-SHA-256): a signature says nothing about what is encrypted. */
export const deriveKey = (secretKey: string, use: string): Buffer<ArrayBuffer> =>
  Buffer.from(hkdfSync('sha256', secretKey, '', `holdfast ${use}`, 32));

export type SecretKeys = Pick<Config, 'secretKey' | 'secretKeyPrevious'>;

/** The keys that open what was signed or sealed. New values use only SECRET_KEY, which is the first. */
export const openingKeys = ({ secretKey, secretKeyPrevious }: SecretKeys): string[] =>
  [secretKey, secretKeyPrevious].filter((key) => key !== null);

/** The text was sealed under another key, for another purpose, or was changed since. */
export class CannotUnseal extends Error {}

const version = 'v1';
const ivBytes = 12;
const tagBytes = 16;

const derivedKeyOf = (secretKey: string) => deriveKey(secretKey, 'app credentials');

/**
 * Encrypts a text with AES-256-GCM.
 * @param purpose is authenticated with it: a sealed text does not open in another's place.
 */
export function seal(secretKey: string, purpose: string, text: string): string {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv('aes-256-gcm', derivedKeyOf(secretKey), iv).setAAD(Buffer.from(purpose));
  const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `${version}.${sealed.toString('base64url')}`;
}

/** @throws CannotUnseal */
export function unseal(secretKey: string, purpose: string, sealed: string): string {
  const [given, encoded = ''] = sealed.split('.');
  const bytes = Buffer.from(encoded, 'base64url');
  if (given !== version || bytes.length < ivBytes + tagBytes) throw new CannotUnseal();
  const iv = bytes.subarray(0, ivBytes);
  const decipher = createDecipheriv('aes-256-gcm', derivedKeyOf(secretKey), iv, { authTagLength: tagBytes })
    .setAAD(Buffer.from(purpose))
    .setAuthTag(bytes.subarray(-tagBytes));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(ivBytes, -tagBytes)), decipher.final()]).toString();
  } catch {
    throw new CannotUnseal();
  }
}

/** Decrypts a text that was sealed with SECRET_KEY, or with the one before it. @throws CannotUnseal */
export function unsealWithAny(keys: SecretKeys, purpose: string, sealed: string): string {
  for (const key of openingKeys(keys))
    try {
      return unseal(key, purpose, sealed);
    } catch (error) {
      if (!(error instanceof CannotUnseal)) throw error;
    }
  throw new CannotUnseal();
}

/** What only SECRET_KEY_PREVIOUS opens, sealed anew with SECRET_KEY; anything else as it is. */
export function sealedAnew(
  { secretKey, secretKeyPrevious }: SecretKeys,
  purpose: string,
  sealed: string,
): string {
  if (secretKey === null || secretKeyPrevious === null) return sealed;
  try {
    return seal(secretKey, purpose, unseal(secretKeyPrevious, purpose, sealed));
  } catch (error) {
    if (error instanceof CannotUnseal) return sealed;
    throw error;
  }
}
