import { createHash } from 'node:crypto';
import { people } from '../actions/people.ts';
import type { Api, ApiContext, Parts } from '../http/api.ts';
import { GitHubError, notFound } from '../http/github-error.ts';
import { accountJson } from '../json/account-json.ts';
import type { UserToken } from '../state/model.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import type { World } from '../state/world.ts';
import { redirectUriMismatch, type OAuthRefusal } from '../web/oauth-pages.ts';

const codeLife = 10 * 60_000;

type Given = Record<string, string>;

/** What an App does with the code from `oauth-pages.ts`: it gets a token, checks it and revokes it. */
export function oauthTokenRoutes(api: Api, { world, webhooks }: Parts): void {
  api.post('/login/oauth/access_token', async (c) => {
    const answer = exchange(world, webhooks, await parametersOf(c));
    const wantsJson = c.req.header('accept')?.includes('json');
    if (wantsJson) return c.json(answer);
    return c.body(new URLSearchParams(answer as Record<string, string>).toString(), 200, {
      'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8',
    });
  });

  /** The App asks whether a token belongs to it. */
  api.post('/applications/:client_id/token', async (c) => {
    const { user } = await ownToken(c, world);
    return c.json({
      app: { client_id: world.app.clientId, name: world.app.name },
      user: accountJson(world, user),
    });
  });

  /** The App revokes a token. */
  api.delete('/applications/:client_id/token', async (c) => {
    world.userTokens.delete((await ownToken(c, world)).token);
    return c.body(null, 204);
  });
}

/** The token in the body. It must belong to this App. */
async function ownToken(c: ApiContext, world: World): Promise<UserToken> {
  if (c.get('principal').kind !== 'client') throw new GitHubError(401, 'Requires authentication');
  const { access_token: token } = (await c.req.json()) as { access_token?: string };
  const found = token ? world.userTokens.get(token) : undefined;
  if (c.req.param('client_id') !== world.app.clientId || !found?.ownApp) throw notFound();
  return found;
}

/** GitHub answers 200 to all of them. */
const refuse = ({ error, description }: OAuthRefusal) => ({
  error,
  error_description: description,
  error_uri: `https://docs.github.com/apps/managing-oauth-apps/troubleshooting-oauth-app-access-token-request-errors/#${error}`,
});

function exchange(world: World, webhooks: Webhooks, given: Given): Record<string, string | number> {
  const { app, signIns } = world;
  if (given['client_id'] !== app.clientId || given['client_secret'] !== app.clientSecret) {
    const description = 'The client_id and/or client_secret passed are incorrect.';
    return refuse({ error: 'incorrect_client_credentials', description });
  }
  const found = signIns.codes.get(given['code'] ?? '');
  signIns.codes.delete(given['code'] ?? '');
  const isOld = found && world.now().getTime() - found.issuedAt.getTime() >= codeLife;
  if (!found || isOld || !verifies(given['code_verifier'], found.challenge)) {
    const description = 'The code passed is incorrect or expired.';
    return refuse({ error: 'bad_verification_code', description });
  }
  if (given['redirect_uri'] !== undefined && given['redirect_uri'] !== found.redirectUri)
    return refuse(redirectUriMismatch);
  const { login } = found.user;
  return {
    access_token: people(world, webhooks).addToken(login, {
      kind: 'user-to-server',
      scopes: [],
      // It can do what both the App and the person can do.
      administration: 'administration' in app.permissions,
      ownApp: true,
    }),
    expires_in: 28_800,
    refresh_token: `ghr_${world.ids.characters(`refresh ${world.ids.next('refresh token', 0)}`, 76)}`,
    refresh_token_expires_in: 15_897_600,
    scope: '',
    token_type: 'bearer',
  };
}

/** RFC 7636, which GitHub follows for S256. */
const verifies = (verifier: string | undefined, challenge: string | null): boolean =>
  challenge === null ||
  createHash('sha256')
    .update(verifier ?? '')
    .digest('base64url') === challenge;

/** From the query, a form or JSON: GitHub takes all three. */
async function parametersOf(c: ApiContext): Promise<Given> {
  const body = await c.req.text();
  const isJson = c.req.header('content-type')?.includes('json');
  const fields = isJson ? (JSON.parse(body) as Given) : Object.fromEntries(new URLSearchParams(body));
  return { ...c.req.query(), ...fields };
}
