import { type Actor, onRoad, type Road, type SlackVia } from '../events/actor.ts';
import { webUrlOf } from '../github/web-url.ts';
import { type Person, type TokenHolder, looksLikePersonalToken } from './github-token.ts';
import { type KeyRow, hashKey, isWellFormedKey, looksLikeKey, readKey } from './application-key.ts';
import type { JobOfToken, OidcRule } from './oidc/oidc-rule.ts';
import { nowOf } from '../time/clock.ts';
import { forbidden } from '../errors.ts';
import type { ApplicationKey } from '../generated/prisma/client.ts';
import type { RepositoryPath, RepositoryRead } from '../installations/find-repository.ts';
import { type JobTokens, looksLikeJobToken } from './oidc/job-token.ts';
import type { AuthDeps } from './auth-deps.ts';

/** Who asks for something, on every road. It says who they are, and `authorize` decides what they may do. */
export type Caller =
  | ({ kind: 'application-key' } & KeyRow)
  | ({ kind: 'github-token'; token: string } & TokenHolder)
  | { kind: 'job-token'; job: JobOfToken; rule: OidcRule }
  /** Somebody who is signed in on the pages. */
  | { kind: 'session'; person: Person }
  /** The author of a comment, as GitHub's webhook says. */
  | { kind: 'comment'; person: Person }
  /** Somebody in Slack who linked their account. */
  | { kind: 'slack'; person: Person; via: SlackVia };

export type KeyCaller = Extract<Caller, { kind: 'application-key' }>;
export type JobCaller = Extract<Caller, { kind: 'job-token' }>;
/** A caller whose rights are those of a person at GitHub. */
export type PersonCaller = Exclude<Caller, KeyCaller | JobCaller>;

/** The caller in the audit log: who, and by which road. */
export const actorOf = (deps: Pick<AuthDeps, 'config'>, caller: Caller): Actor =>
  onRoad(whoIs(deps, caller), roadTakenBy(caller));

function roadTakenBy(caller: Caller): Road {
  switch (caller.kind) {
    case 'session':
      return { trigger: 'page' };
    case 'comment':
      return { trigger: 'comment' };
    case 'slack':
      return { trigger: 'slack', via: caller.via };
    default:
      return { trigger: 'api' };
  }
}

function whoIs({ config }: Pick<AuthDeps, 'config'>, caller: Caller): Actor {
  switch (caller.kind) {
    case 'application-key':
      return { type: 'application', id: caller.key.id, name: caller.key.name };
    case 'job-token': {
      const { repository, workflow, runId, attempt } = caller.job;
      const run = `${webUrlOf(config.githubApiUrl)}/${repository}/actions/runs/${runId}/attempts/${attempt}`;
      const name = `${repository} ${workflow} run ${runId}`;
      return { type: 'application', id: caller.rule.id, name, run };
    }
    default:
      return { type: 'user', id: caller.person.id, name: caller.person.login };
  }
}

/** Begins with the words that clients of the interface look for, like the texts below. */
export const missingHeader =
  'Not authenticated: the Authorization header is missing. Send `Authorization: Bearer <token>`.';
const malformedHeader =
  'Not authenticated: the Authorization header is malformed. Send `Authorization: Bearer <token>`.';
/** One text for every refused credential, so that it does not say why, or whether such a key exists. */
const notAccepted =
  'Not authenticated: this credential is not accepted. It may be mistyped, expired or revoked. Send an application key, or a GitHub token of a person.';

/** The credential in an `Authorization` header, or null. OIDC tokens are the longest: owners add claims. */
export const bearerOf = (authorization: string | undefined): string | null =>
  /^bearer +([\x21-\x7e]{1,8192})$/i.exec(authorization?.trim() ?? '')?.[1] ?? null;

/**
 * Judges the `Authorization` header.
 * @param path what the request is about. One statement reads its repository and the key.
 * @param read what to read of that repository with it. It authorizes nobody.
 * @throws Refusal forbidden for a missing, malformed, unknown, revoked or expired credential; unavailable if
 *   GitHub must be asked and cannot answer.
 */
export async function authenticate(
  deps: AuthDeps,
  jobs: JobTokens,
  authorization: string | undefined,
  path: RepositoryPath | null,
  read: RepositoryRead<unknown> | null,
): Promise<Caller> {
  if (!authorization?.trim()) throw forbidden(missingHeader);
  const credential = bearerOf(authorization);
  if (!credential) throw forbidden(malformedHeader);
  if (looksLikeKey(credential)) {
    const found = await findKey(deps, credential, path, read);
    if (!found) throw forbidden(notAccepted);
    await noteUse(deps, found.key);
    return { kind: 'application-key', ...found };
  }
  if (looksLikeJobToken(deps, credential)) {
    const found = await jobs.identify(deps, credential);
    if (!found) throw forbidden(notAccepted);
    return { kind: 'job-token', ...found };
  }
  if (!looksLikePersonalToken(credential)) throw forbidden(notAccepted);
  const holder = await deps.permissions.holderOf(deps, credential);
  if (!holder) throw forbidden(notAccepted);
  return { kind: 'github-token', token: credential, ...holder };
}

/** Every request reads it, without a cache, so every replica refuses a revoked key at once. */
async function findKey(
  deps: AuthDeps,
  credential: string,
  path: RepositoryPath | null,
  read: RepositoryRead<unknown> | null,
) {
  if (!isWellFormedKey(credential)) return null;
  const found = await readKey(deps.sql, hashKey(credential), path, read);
  if (!found) return null;
  const { revokedAt, expiresAt } = found.key;
  const isExpired = expiresAt !== null && expiresAt <= nowOf(deps.clock);
  return revokedAt !== null || isExpired ? null : found;
}

/** Milliseconds between two writes of a key's use, for any number of requests and replicas. */
const useStep = 60_000;

/** Saves that a key was used. The saved time is at most a minute old. */
async function noteUse(
  deps: Pick<AuthDeps, 'db' | 'clock'>,
  key: Pick<ApplicationKey, 'id' | 'lastUsedAt'>,
): Promise<void> {
  const now = nowOf(deps.clock);
  const stale = new Date(now.getTime() - useStep);
  if (key.lastUsedAt !== null && key.lastUsedAt > stale) return;
  // The statement checks again: of several requests at the same time, one writes.
  await deps.db.applicationKey.updateMany({
    where: { id: key.id, OR: [{ lastUsedAt: null }, { lastUsedAt: { lte: stale } }] },
    data: { lastUsedAt: now },
  });
}
