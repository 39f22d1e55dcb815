import type { ApplicationKey, Account } from '../generated/prisma/client.ts';
import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { forbidden } from '../errors.ts';
import type { Actor } from '../events/actor.ts';
import { hashKey, isWellFormedKey, looksLikeKey, sameHash } from './application-key.ts';
import { type GitHubTokens, looksLikePersonalToken, type TokenHolder } from './github-token.ts';
import { noteUse } from './note-use.ts';

/** A credential that was found good. What it may do is `authorize`'s question. */
export type Credential =
  | { kind: 'application-key'; key: ApplicationKey & { account: Account } }
  | ({ kind: 'github-token'; token: string } & TokenHolder);

/** Begins with the words that clients of the interface look for, as the texts below do. */
export const missingHeader =
  'Not authenticated: the Authorization header is missing. Send `Authorization: Bearer <token>`.';
const malformedHeader =
  'Not authenticated: the Authorization header is malformed. Send `Authorization: Bearer <token>`.';
/** One text for every credential that is not good, so that it tells nothing of why, nor whether there is such a key. */
const notAccepted =
  'Not authenticated: this credential is not accepted. It may be mistyped, expired or revoked. Send an application key, or a GitHub token of a person.';

/** The credential in an `Authorization` header; null where there is none. */
export const bearerOf = (authorization: string | undefined): string | null =>
  /^bearer +([\x21-\x7e]{1,4096})$/i.exec(authorization?.trim() ?? '')?.[1] ?? null;

/**
 * Judges the `Authorization` header.
 * @throws Refusal forbidden for a missing, malformed, unknown, revoked or expired credential; unavailable when
 *   GitHub must be asked and cannot answer.
 */
export async function authenticate(
  deps: Deps,
  tokens: GitHubTokens,
  authorization: string | undefined,
): Promise<Credential> {
  if (!authorization?.trim()) throw forbidden(missingHeader);
  const credential = bearerOf(authorization);
  if (!credential) throw forbidden(malformedHeader);
  if (looksLikeKey(credential)) {
    const key = await findKey(deps, credential);
    if (!key) throw forbidden(notAccepted);
    await noteUse(deps, key);
    return { kind: 'application-key', key };
  }
  if (!looksLikePersonalToken(credential)) throw forbidden(notAccepted);
  const holder = await tokens.identify(deps, credential);
  if (!holder) throw forbidden(notAccepted);
  return { kind: 'github-token', token: credential, ...holder };
}

/** Read on every request, never cached: a revoked key is refused at once by every replica. */
async function findKey(deps: Deps, credential: string) {
  if (!isWellFormedKey(credential)) return null;
  const secretHash = hashKey(credential);
  const key = await deps.db.applicationKey.findUnique({
    relationLoadStrategy: 'join',
    where: { secretHash },
    include: { account: true },
  });
  if (!key || !sameHash(key.secretHash, secretHash)) return null;
  const isExpired = key.expiresAt !== null && key.expiresAt <= nowOf(deps.clock);
  return key.revokedAt !== null || isExpired ? null : key;
}

/** The credential as the audit log names it. */
export function actorOf(credential: Credential): Actor {
  return credential.kind === 'application-key'
    ? { type: 'application', id: credential.key.id, name: credential.key.name }
    : { type: 'user', id: credential.person.id, name: credential.person.login };
}
