import type { KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';

/** Seconds. GitHub takes tokens that live for ten minutes at most, by its own clock. Ours may be a minute off. */
const datedBack = 60;
const tokenLife = 600;

/** The App's own token. @param now milliseconds since the epoch, by the clock that everything goes by. */
export async function appToken(id: number, key: KeyObject, now: number) {
  const issuedAt = Math.floor(now / 1000) - datedBack;
  const expiresAt = issuedAt + tokenLife;
  const jwt = await new SignJWT()
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
    .setIssuer(String(id))
    .setIssuedAt(issuedAt)
    .setExpirationTime(expiresAt)
    .sign(key);
  return { jwt, expiresAt: new Date(expiresAt * 1000).toISOString() };
}
