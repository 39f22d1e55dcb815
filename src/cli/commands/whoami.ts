import { command, type Connection } from '../command.ts';
import { hostOf } from '../service/address.ts';
import { readJson } from '../service/answers.ts';
import { patience } from '../service/service.ts';
import { notKnown, refused } from '../stop.ts';
import type { World } from '../world.ts';

/** Whom a credential stands for. */
type Self = {
  kind: 'application key' | 'GitHub token' | 'OIDC token of a job';
  name: string;
  /** What it may do: the scope of a key, or the scopes of a classic token. Null if it does not say. */
  scope: string | null;
  owner: string | null;
  expires_at: string | null;
};

export const whoami = command<object, []>({
  usage: 'whoami',
  summary: 'show whose credential the commands use, what it may do and when it expires',
  examples: [['holdfast whoami', 'See whether you use an application key or your own token']],
  notes:
    'For an application key, this asks Holdfast. For a GitHub token, it asks GitHub, at GITHUB_API_URL or GH_HOST. The OIDC\ntoken of a job says it itself.',
  async run({ connect, world, output }) {
    const self = await selfOf(await connect(), world);
    const { describeMoment } = await import('../times.ts');
    const { kind, name, scope, owner, expires_at } = self;
    output.table(
      ['KIND', 'NAME', 'SCOPE', 'OWNER', 'EXPIRES'],
      [
        [
          ...[kind, name, scope ?? 'unknown', owner ?? 'none'],
          expires_at === null ? 'never' : describeMoment(Date.parse(expires_at), world.zone, world.zone),
        ],
      ],
    );
    output.json(self);
  },
});

async function selfOf({ service, token }: Connection, world: World): Promise<Self> {
  if (token.startsWith('hf_')) {
    const { name, scope, account_scope, expires_at } = await service.get('/application', {});
    return { kind: 'application key', name, scope, owner: account_scope.login, expires_at };
  }
  return claimsOf(token) ?? personOf(token, world);
}

/** The claims that GitHub puts into the token of a job; null for other credentials. The service checks them, not this. */
function claimsOf(token: string): Self | null {
  const [, payload, signature] = token.split('.');
  if (payload === undefined || signature === undefined) return null;
  const claims = readJson(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown> | null;
  const { repository, workflow, run_id: run, exp } = claims ?? {};
  if (typeof repository !== 'string') return null;
  return {
    kind: 'OIDC token of a job',
    name: `${repository} ${String(workflow)} run ${String(run)}`,
    scope: null,
    owner: repository.split('/')[0]!,
    expires_at: typeof exp === 'number' ? new Date(exp * 1000).toISOString() : null,
  };
}

async function personOf(token: string, world: World): Promise<Self> {
  const host = hostOf(world);
  const api =
    world.env.GITHUB_API_URL?.trim() ||
    (host === 'github.com' ? 'https://api.github.com' : `https://${host}/api/v3`);
  const headers = { Authorization: `Bearer ${token}`, Accept: 'application/vnd.github+json' };
  const signal = AbortSignal.timeout(patience);
  const response = await fetch(`${api.replace(/\/+$/, '')}/user`, {
    headers,
    redirect: 'error',
    signal,
  }).catch((error: unknown) => {
    throw notKnown(`GitHub does not answer at ${api} (${(error as Error).message}).`);
  });
  const { login } = (readJson(await response.text()) ?? {}) as { login?: unknown };
  if (response.status === 401)
    throw refused(`GitHub at ${api} does not know this token. Use another one, or set GH_HOST.`, 401);
  if (!response.ok || typeof login !== 'string')
    throw notKnown(`GitHub at ${api} answers ${response.status} and does not say whose token this is.`);
  const expiry = response.headers.get('github-authentication-token-expiration');
  const expiresAt = expiry === null ? NaN : Date.parse(expiry.replace(' UTC', 'Z').replace(' ', 'T'));
  return {
    kind: 'GitHub token',
    name: login,
    scope: response.headers.get('x-oauth-scopes') || null,
    owner: null,
    expires_at: Number.isNaN(expiresAt) ? null : new Date(expiresAt).toISOString(),
  };
}
