import { html } from 'hono/html';
import type { Api, ApiContext, Parts } from '../http/api.ts';
import { notFound } from '../http/github-error.ts';
import type { Account } from '../state/model.ts';
import type { World } from '../state/world.ts';
import { authorizePath, choosePerson, personAt } from './browser-person.ts';
import { webPage } from './web-page.ts';

/**
 * The web application flow by which people sign in with a GitHub App, up to the code
 * (docs.github.com: "Generating a user access token for a GitHub App", "Troubleshooting … request errors").
 * If a browser has several accounts, GitHub asks for one. The sandbox's browser has everybody's.
 */
export function oauthPages(api: Api, { world }: Parts): void {
  api.get(authorizePath, (c) => {
    const asked = c.req.query();
    const { redirectUri, refusal } = checkRequest(world, asked);
    if (refusal) return sendBack(c, redirectUri, asked['state'], refusal);
    const person = whoAuthorizes(c, world, asked);
    if (!person) return c.html(chooseAccount(c, world));
    if (world.signIns.authorized.has(person.id)) return sendCode(c, world, person, redirectUri, asked);
    return c.html(authorizePage(world, person.login, asked));
  });

  /** The button of the page. */
  api.post(authorizePath, async (c) => {
    const asked = Object.fromEntries(new URLSearchParams(await c.req.text()));
    const { redirectUri, refusal } = checkRequest(world, asked);
    if (refusal) return sendBack(c, redirectUri, asked['state'], refusal);
    const person = whoAuthorizes(c, world, asked);
    if (!person) return c.html(chooseAccount(c, world), 401);
    if (asked['authorize'] !== '1') {
      const denied = 'The user has denied your application access.';
      return sendBack(c, redirectUri, asked['state'], { error: 'access_denied', description: denied });
    }
    world.signIns.authorized.add(person.id);
    return sendCode(c, world, person, redirectUri, asked);
  });
}

export type OAuthRefusal = { error: string; description: string };

type Asked = Record<string, string>;

/** The person who decides: the signed-in person, after they chose this account. */
function whoAuthorizes(c: ApiContext, world: World, asked: Asked): Account | null {
  const person = personAt(c, world);
  return person === world.signIns.person || person?.login === asked['login'] ? person : null;
}

/** Returns to the same question, with the chosen account. */
const chooseAccount = (c: ApiContext, world: World) => {
  const { pathname, search } = new URL(c.req.url);
  return choosePerson(c, world, `Sign in to ${world.app.name} with GitHub`, pathname + search);
};

/** Where to send the person back to, and what is wrong with the request. */
function checkRequest({ app }: World, asked: Asked): { redirectUri: string; refusal?: OAuthRefusal } {
  const [first] = app.callbackUrls;
  if (asked['client_id'] !== app.clientId || first === undefined) throw notFound();
  const redirectUri = asked['redirect_uri'] ?? first;
  if (!app.callbackUrls.includes(redirectUri)) return { redirectUri: first, refusal: redirectUriMismatch };
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

function sendCode(c: ApiContext, world: World, person: Account, redirectUri: string, asked: Asked) {
  const code = world.ids.characters(`code ${world.ids.next('code', 0)}`, 20).toLowerCase();
  world.signIns.codes.set(code, {
    user: person,
    redirectUri,
    challenge: asked['code_challenge'] ?? null,
    issuedAt: world.now(),
  });
  const url = new URL(redirectUri);
  url.searchParams.set('code', code);
  if (asked['state'] !== undefined) url.searchParams.set('state', asked['state']);
  return c.redirect(url.href, 302);
}

export const redirectUriMismatch: OAuthRefusal = {
  error: 'redirect_uri_mismatch',
  description: 'The redirect_uri MUST match the registered callback URL for this application.',
};

const authorizePage = ({ app }: World, login: string, asked: Asked) =>
  webPage(
    `Authorize ${app.name}`,
    html`<p>${app.name} would like to verify the GitHub identity of ${login}.</p>
      <form method="post" action="${authorizePath}">
        ${Object.entries(asked).map(
          ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
        )}
        <button name="authorize" value="0">Cancel</button>
        <button class="go" name="authorize" value="1">Authorize ${app.name}</button>
      </form>`,
  );
