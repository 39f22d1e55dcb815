import type { Principal } from '../state/access.ts';
import type { World } from '../state/world.ts';
import { badCredentials, GitHubError } from './github-error.ts';
import { isIssuedBy, verifyAppJwt } from './app-jwt.ts';

export type TokenKind = 'none' | 'client' | 'jwt' | 'installation' | 'user' | 'unknown';

/** The kind of a credential, for the request log. */
export function tokenKind(world: World, authorization: string | undefined): TokenKind {
  if (authorization?.startsWith('Basic ')) return 'client';
  const token = tokenIn(authorization);
  if (!token) return 'none';
  if (world.userTokens.has(token)) return 'user';
  if (token.startsWith('ghs_')) return world.installationTokens.has(token) ? 'installation' : 'unknown';
  return looksLikeJwt(token) ? 'jwt' : 'unknown';
}

/** The caller. Refuses an invalid credential for every request. */
export function authenticate(world: World, authorization: string | undefined): Principal {
  const token = tokenIn(authorization);
  if (!token) {
    if (authorization === basicOf(world.app)) return { kind: 'client' };
    if (authorization) throw badCredentials();
    return { kind: 'anonymous' };
  }
  const user = world.userTokens.get(token);
  if (user) return { kind: 'user', token: user };
  const issued = world.installationTokens.get(token);
  if (issued) {
    if (issued.expiresAt.getTime() <= Date.now()) throw badCredentials();
    if (issued.installation.suspendedAt) {
      throw new GitHubError(403, 'This installation has been suspended');
    }
    return { kind: 'installation', token: issued };
  }
  if (token.startsWith('ghs_') || !looksLikeJwt(token)) throw badCredentials();
  const app = world.apps.find((each) => isIssuedBy(token, each));
  if (!app) throw new GitHubError(404, 'Integration not found');
  verifyAppJwt(
    token,
    app,
    [world.now(), world.before()].map((at) => (at.getTime() + world.clockAhead) / 1000),
  );
  return { kind: 'app', app };
}

const basicOf = ({ clientId, clientSecret }: World['app']): string =>
  `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;

function tokenIn(authorization: string | undefined): string | undefined {
  return /^(?:bearer|token)\s+(\S+)\s*$/i.exec(authorization ?? '')?.[1];
}

function looksLikeJwt(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);
}
