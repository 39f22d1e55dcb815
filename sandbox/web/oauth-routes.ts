import { createHash } from 'node:crypto';
import { html } from 'hono/html';
import type { Api, ApiContext, Parts } from '../http/api.ts';
import { GitHubError, notFound } from '../http/github-error.ts';
import { accountJson } from '../json/account-json.ts';
import { people } from '../actions/people.ts';
import type { UserToken } from '../state/model.ts';
import type { World } from '../state/world.ts';
import { webPage } from './web-page.ts';

const codeLife = 10 * 60_000;

/**
 * The web application flow by which people sign in with a GitHub App
 * (docs.github.com: "Generating a user access token for a GitHub App", "Troubleshooting … request errors").
 * The page with the button is ours; that somebody who is not signed in may choose who to be is the sandbox's.
 */
export function oauthRoutes(api: Api, { world }: Parts): void {
  api.get('/login/oauth/authorize', (c) => {
    const asked = c.req.query();
    const { redirectUri, refusal } = checkRequest(world, asked);
    if (refusal) return sendBack(c, redirectUri, asked['state'], refusal);
    const { person, authorized } = world.signIns;
    if (!person) return c.html(choosePerson(world, c.req.url));
    if (authorized.has(person.id)) return sendCode(c, world, redirectUri, asked);
    return c.html(authorizePage(world, person.login, asked));
  });

  /** The button of the page. */
  api.post('/login/oauth/authorize', async (c) => {
    const asked = Object.fromEntries(new URLSearchParams(await c.req.text()));
    const { redirectUri, refusal } = checkRequest(world, asked);
    if (refusal) return sendBack(c, redirectUri, asked['state'], refusal);
    const { person, authorized } = world.signIns;
    if (!person) throw new GitHubError(401, 'Requires authentication');
    if (asked['authorize'] !== '1') {
      const denied = 'The user has denied your application access.';
      return sendBack(c, redirectUri, asked['state'], { error: 'access_denied', description: denied });
    }
    authorized.add(person.id);
    return sendCode(c, world, redirectUri, asked);
  });

  /** Signs the browser in as a person of the sandbox. */
  api.post('/login', async (c) => {
    const given = new URLSearchParams(await c.req.text());
    world.signIns.person = world.account(given.get('login') ?? '');
    const { pathname, search } = new URL(given.get('return_to') ?? '/', world.url);
    return c.redirect(pathname + search, 302);
  });

  api.post('/login/oauth/access_token', async (c) => {
    const answer = exchange(world, await parametersOf(c));
    const wantsJson = c.req.header('accept')?.includes('json');
    if (wantsJson) return c.json(answer);
    return c.body(new URLSearchParams(answer as Record<string, string>).toString(), 200, {
      'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8',
    });
  });

  /** The App asks whether it was given a token. */
  api.post('/applications/:client_id/token', async (c) => {
    const { user } = await ownToken(c, world);
    return c.json({
      app: { client_id: world.app.clientId, name: world.app.name },
      user: accountJson(world, user),
    });
  });

  /** The App gives a token back. */
  api.delete('/applications/:client_id/token', async (c) => {
    world.userTokens.delete((await ownToken(c, world)).token);
    return c.body(null, 204);
  });
}

/** The token of the body, which must be one that somebody gave this App. */
async function ownToken(c: ApiContext, world: World): Promise<UserToken> {
  if (c.get('principal').kind !== 'client') throw new GitHubError(401, 'Requires authentication');
  const { access_token: token } = (await c.req.json()) as { access_token?: string };
  const found = token ? world.userTokens.get(token) : undefined;
  if (c.req.param('client_id') !== world.app.clientId || !found?.ownApp) throw notFound();
  return found;
}

type Asked = Record<string, string>;
type OAuthRefusal = { error: string; description: string };

/** Where to send the person back to, and what is wrong with the request. */
function checkRequest({ app }: World, asked: Asked): { redirectUri: string; refusal?: OAuthRefusal } {
  const [first] = app.callbackUrls;
  if (asked['client_id'] !== app.clientId || first === undefined) throw notFound();
  const redirectUri = asked['redirect_uri'] ?? first;
  if (!app.callbackUrls.includes(redirectUri)) return { redirectUri: first, refusal: mismatch };
  if (asked['code_challenge'] !== undefined && asked['code_challenge_method'] !== 'S256') {
    const description = 'The code_challenge_method must be S256.';
    return { redirectUri, refusal: { error: 'invalid_request', description } };
  }
  return { redirectUri };
}

function sendBack(c: ApiContext, redirectUri: string, state: string | undefined, refusal: OAuthRefusal) {
  const url = new URL(redirectUri);
  url.searchParams.set('error', refusal.error);
  url.searchParams.set('error_description', refusal.description);
  if (state !== undefined) url.searchParams.set('state', state);
  return c.redirect(url.href, 302);
}

function sendCode(c: ApiContext, world: World, redirectUri: string, asked: Asked) {
  const { person, codes } = world.signIns;
  const code = world.ids.characters(`code ${world.ids.next('code', 0)}`, 20).toLowerCase();
  codes.set(code, {
    user: person!,
    redirectUri,
    challenge: asked['code_challenge'] ?? null,
    issuedAt: world.now(),
  });
  const url = new URL(redirectUri);
  url.searchParams.set('code', code);
  if (asked['state'] !== undefined) url.searchParams.set('state', asked['state']);
  return c.redirect(url.href, 302);
}

const mismatch: OAuthRefusal = {
  error: 'redirect_uri_mismatch',
  description: 'The redirect_uri MUST match the registered callback URL for this application.',
};

/** GitHub answers 200 to all of them. */
const refuse = ({ error, description }: OAuthRefusal) => ({
  error,
  error_description: description,
  error_uri: `https://docs.github.com/apps/managing-oauth-apps/troubleshooting-oauth-app-access-token-request-errors/#${error}`,
});

function exchange(world: World, given: Asked): Record<string, string | number> {
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
    return refuse(mismatch);
  const { login } = found.user;
  return {
    access_token: people(world).addToken(login, {
      kind: 'user-to-server',
      scopes: [],
      // It can do what both the App and the person may.
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
async function parametersOf(c: ApiContext): Promise<Asked> {
  const body = await c.req.text();
  const isJson = c.req.header('content-type')?.includes('json');
  const fields = isJson ? (JSON.parse(body) as Asked) : Object.fromEntries(new URLSearchParams(body));
  return { ...c.req.query(), ...fields };
}

const authorizePage = ({ app }: World, login: string, asked: Asked) =>
  webPage(
    `Authorize ${app.name}`,
    html`<p>${app.name} would like to verify the GitHub identity of ${login}.</p>
      <form method="post" action="/login/oauth/authorize">
        ${Object.entries(asked).map(
          ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
        )}
        <button name="authorize" value="0">Cancel</button>
        <button name="authorize" value="1">Authorize ${app.name}</button>
      </form>`,
  );

function choosePerson(world: World, url: string) {
  const { pathname, search } = new URL(url);
  const logins = [...world.accounts.values()].filter(({ type }) => type === 'User');
  return webPage(
    'Sign in to GitHub',
    html`<form method="post" action="/login">
      <input type="hidden" name="return_to" value="${pathname + search}" />
      ${logins.map(({ login }) => html`<button name="login" value="${login}">${login}</button> `)}
    </form>`,
  );
}
