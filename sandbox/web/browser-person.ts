import { html } from 'hono/html';
import { getCookie, setCookie } from 'hono/cookie';
import type { Api, ApiContext, Parts } from '../http/api.ts';
import type { Account, Role } from '../state/model.ts';
import { fullNameOf, type World } from '../state/world.ts';
import { type Html, webPage } from './web-page.ts';

const cookie = 'sandbox_login';

/** The page on which people allow an App to see who they are. Its parameter `login` names the chosen account. */
export const authorizePath = '/login/oauth/authorize';

/**
 * The person who is signed in to GitHub in the browser: from the sandbox's verbs, or else from the cookie with the
 * chosen person; null: nobody.
 */
export const personAt = (c: ApiContext, world: World): Account | null =>
  world.signIns.person ?? chosen(c, world);

function chosen(c: ApiContext, world: World): Account | null {
  const found = world.findAccount(getCookie(c, cookie) ?? '');
  return found?.type === 'User' ? found : null;
}

/** The page on which people choose a person. GitHub asks for a password instead. */
export function signInPages(api: Api, { world }: Parts): void {
  api.get('/login', (c) => {
    return c.html(choosePerson(c, world, 'Sign in to GitHub', c.req.query('return_to') ?? '/'));
  });

  api.post('/login', async (c) => {
    const given = new URLSearchParams(await c.req.text());
    const { login } = world.account(given.get('login') ?? '');
    setCookie(c, cookie, login, { httpOnly: true, sameSite: 'Lax', path: '/' });
    // Never redirects to another site.
    const to = new URL(given.get('return_to') ?? '/', world.url);
    if (to.pathname === authorizePath) to.searchParams.set('login', login);
    return c.redirect(new URL(c.req.url).origin + to.pathname + to.search);
  });
}

/**
 * Asks who you want to be: a list of people with their rights.
 * @param to path and query of the page to open afterwards.
 */
export function choosePerson(c: ApiContext, world: World, title: string, to: string): Html {
  const people = [...world.accounts.values()].filter(({ type }) => type === 'User');
  const present = chosen(c, world);
  return webPage(
    title,
    html`<p>Who are you?</p>
      <form method="post" action="/login" class="choices">
        <input type="hidden" name="return_to" value="${to}" />
        ${people.map(
          (person) =>
            html`<button name="login" value="${person.login}">
              <strong>${person.login}</strong>${person === present ? ' (as before)' : ''}
              <span class="muted">${whatTheyMay(world, person)}</span>
            </button>`,
        )}
      </form>`,
  );
}

const verbs: Record<Role, string> = {
  read: 'reads',
  triage: 'triages',
  write: 'writes to',
  maintain: 'maintains',
  admin: 'administers',
};

/** The rights of a person in a few words, as in GitHub's settings. */
function whatTheyMay(world: World, person: Account): string {
  const organizations = [...world.accounts.values()].filter(({ members }) => members.has(person.id));
  const administered = organizations.filter(({ members }) => members.get(person.id) === 'admin');
  const given = [...world.repositories.values()].filter(
    ({ owner, roles }) => roles.has(person.id) && !administered.includes(owner),
  );
  const byRole = Map.groupBy(given, ({ roles }) => verbs[roles.get(person.id)!]);
  const roles = [...byRole].map(
    ([verb, repositories]) => `${verb} ${repositories.map(fullNameOf).join(', ')}`,
  );
  const said = [
    ...organizations.map(
      (each) => `${administered.includes(each) ? 'administers' : 'is a member of'} ${each.login}`,
    ),
    ...roles,
  ];
  return said.length > 0 ? said.join('; ') : 'sees what is public';
}
