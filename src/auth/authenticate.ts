import type { ApplicationKey, Account } from '../generated/prisma/client.ts';
import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { forbidden } from '../errors.ts';
import type { Actor } from './actor.ts';
import { hashKey, isWellFormedKey, looksLikeKey, sameHash } from './application-key.ts';
import { type GitHubTokens, looksLikePersonalToken, type Person } from './github-token.ts';

/** A credential that was found good. What it may do is `authorize`'s question. */
export type Credential =
  | { kind: 'application-key'; key: ApplicationKey & { account: Account } }
  | { kind: 'github-token'; token: string; person: Person };

/** One text for every credential that is not good, so that it tells nothing of why. */
const notAuthenticated = () => forbidden('Not authenticated');

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
  const credential = bearerOf(authorization);
  if (!credential) throw notAuthenticated();
  if (looksLikeKey(credential)) {
    const key = await findKey(deps, credential);
    if (!key) throw notAuthenticated();
    return { kind: 'application-key', key };
  }
  if (!looksLikePersonalToken(credential)) throw notAuthenticated();
  const person = await tokens.identify(deps, credential);
  if (!person) throw notAuthenticated();
  return { kind: 'github-token', token: credential, person };
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
