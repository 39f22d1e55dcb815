import { forbidden, type Refusal } from '../errors.ts';
import { fetchThroughProxy, type Proxies } from '../github/through-proxy.ts';
import { webUrlOf } from '../github/web-url.ts';
import type { InstalledAccount } from '../installations/find-account.ts';
import type { FoundRepository } from '../installations/find-repository.ts';
import { unlessRefused } from './verdict-cache.ts';
import type { AuthDeps } from './auth-deps.ts';

export type Person = { id: number; login: string };

/** The limits of a token, no matter what the person behind it can do. */
type Grant =
  /** Classic and OAuth tokens. */
  | { by: 'scopes'; scopes: string[] }
  /** Fine-grained tokens and those of other Apps: GitHub does not name scopes, so we try each place. */
  | { by: 'trial' }
  /** It comes from signing in to this App, which shows who somebody is and nothing else. */
  | { by: 'sign-in' };

export type TokenHolder = { person: Person; grant: Grant };

/** Prefixes of tokens of people. They are only a hint: GitHub decides, and lengths say nothing. */
const personal = ['ghp_', 'github_pat_', 'gho_', 'ghu_'];

/** Whether the credential looks like a person's GitHub token. Installation tokens (`ghs_`) belong to nobody. */
export const looksLikePersonalToken = (credential: string): boolean =>
  personal.some((prefix) => credential.startsWith(prefix));

type Asking = Pick<AuthDeps, 'github' | 'clock' | 'config'>;

/** Asks GitHub who holds a token, and what it was granted; null if GitHub does not know it or no person holds it. */
export const askTokenHolder = (deps: Asking, token: string): Promise<TokenHolder | null> =>
  unlessRefused<TokenHolder | null>(deps, null, async () => {
    const { data, headers } = await deps.github.asPerson(token).rest.users.getAuthenticated();
    const grant = await grantOf(deps, token, headers['x-oauth-scopes']);
    return { person: { id: data.id, login: data.login }, grant };
  });

/** @param scopes the header `X-OAuth-Scopes`, which every answer to a classic or OAuth token has. It can be empty. */
async function grantOf(deps: Asking, token: string, scopes: string | undefined): Promise<Grant> {
  if (scopes !== undefined) {
    const named = scopes.split(',').map((scope) => scope.trim());
    return { by: 'scopes', scopes: named.filter((scope) => scope !== '') };
  }
  const { oauth } = deps.config.app;
  const isOwn = token.startsWith('ghu_') && oauth !== null && (await isOwnToken(deps, oauth, token));
  return { by: isOwn ? 'sign-in' : 'trial' };
}

/** What GitHub shows the holder of the token that they can do with the repository; null if it does not show it to them. */
export const standingOfHolder = (
  deps: Asking,
  token: string,
  id: bigint,
): Promise<'admin' | 'write' | 'read' | null> =>
  unlessRefused(deps, null, async () => {
    const { request } = deps.github.asPerson(token);
    const { data } = (await request('GET /repositories/{repository_id}', { repository_id: Number(id) })) as {
      data: { permissions?: { admin?: boolean; push?: boolean; pull?: boolean } };
    };
    const { admin, push, pull } = data.permissions ?? {};
    return admin ? 'admin' : push ? 'write' : pull ? 'read' : null;
  });

/** The same for the organization: its admins and its other members. */
export const membershipOfHolder = (
  deps: Asking,
  token: string,
  owner: Pick<InstalledAccount, 'id' | 'login'>,
): Promise<'admin' | 'member' | null> =>
  unlessRefused(deps, null, async () => {
    const { rest } = deps.github.asPerson(token);
    const { data } = await rest.orgs.getMembershipForAuthenticatedUser({ org: owner.login });
    if (BigInt(data.organization.id) !== owner.id) return null;
    return isActiveAdmin(data, owner) ? 'admin' : 'member';
  });

type Membership = { role: string; state: string; organization: { id: number } };

/** Whether this is the membership of an admin of the organization. By id, because a name can get another owner. */
export const isActiveAdmin = (
  { role, state, organization }: Membership,
  owner: Pick<InstalledAccount, 'id'>,
): boolean => role === 'admin' && state === 'active' && BigInt(organization.id) === owner.id;

// Fine-grained tokens and those of other Apps name no scopes. We learn what such a token can do by trying it: each of
// these questions reads something for which the token itself needs Administration.

/** `hidden`: the token cannot see it. */
export type TrialVerdict = 'yes' | 'no' | 'hidden';

/** Tries whether a token can administer a repository. @throws GitHub's errors that give no verdict. */
export async function tryOnRepository(
  deps: Asking,
  token: string,
  { id, private: isPrivate }: Pick<FoundRepository, 'id' | 'private'>,
): Promise<TrialVerdict> {
  const { request } = deps.github.asPerson(token);
  const repository_id = Number(id);
  const answers = (route: string, more = {}) =>
    unlessRefused(deps, false, () => request(route, { repository_id, ...more }).then(() => true));
  if (await answers('GET /repositories/{repository_id}/keys', { per_page: 1 })) return 'yes';
  if (!isPrivate) return 'no';
  return (await answers('GET /repositories/{repository_id}')) ? 'no' : 'hidden';
}

/** Tries whether a token can administer an organization. @throws as above. */
export const tryOnOrganization = (deps: Asking, token: string, org: string): Promise<TrialVerdict> =>
  unlessRefused<TrialVerdict>(deps, 'no', async () => {
    await deps.github.asPerson(token).rest.orgs.listAppInstallations({ org, per_page: 1 });
    return 'yes';
  });

/** The scopes of classic and OAuth tokens that Holdfast needs. */
export type Scope = 'public_repo' | 'repo' | 'read:org' | 'admin:org';

/** GitHub names only the widest scopes. Each includes these narrower ones. */
const widerThan: Record<Scope, readonly string[]> = {
  public_repo: ['repo'],
  repo: [],
  'read:org': ['write:org', 'admin:org'],
  'admin:org': [],
};

/** Whether one of the scopes is the wanted one, or includes it. */
export const hasScope = (scopes: readonly string[], wanted: Scope): boolean =>
  [wanted, ...widerThan[wanted]].some((scope) => scopes.includes(scope));

// Why we refuse a valid token of a person, and what to add to it.

type GitHub = { config: { githubApiUrl: string } & Proxies };

/** For a token from signing in: the person agreed only to show who they are. */
export const fromSignIn = (): Refusal =>
  forbidden(
    'This token comes from signing in to Holdfast, which only shows who you are. Use your own token or an admin application key.',
  );

/** @param what completes "which … needs". */
export function lacksScope({ config }: GitHub, token: string, scope: Scope, what: string): Refusal {
  const add = token.startsWith('gho_')
    ? `Run gh auth refresh -s ${scope}, and send the token that gh auth token prints then`
    : `Add it at ${webUrlOf(config.githubApiUrl)}/settings/tokens; it counts within a minute`;
  return forbidden(
    `This token lacks the scope ${scope}, which ${what} needs. ${add}. Or use an admin application key.`,
  );
}

/** @param place the repository or the owner. */
export function lacksAdministration({ config }: GitHub, token: string, place: string): Refusal {
  const add = token.startsWith('github_pat_')
    ? `Add it at ${webUrlOf(config.githubApiUrl)}/settings/personal-access-tokens`
    : 'The App that it was given to needs it';
  return forbidden(
    `This token lacks the permission Administration (read) of ${place}. ${add}. Or use an admin application key.`,
  );
}

// Tokens that people gave our own App. With the App's client id and secret, GitHub describes and revokes them.

type Client = { clientId: string; clientSecret: string };

const requestTimeout = 12_000;

/**
 * Whether a token belongs to our own App. Here GitHub gives the same answer for another App's token and a wrong one.
 * @throws Error if GitHub says neither yes nor no.
 */
async function isOwnToken(asking: GitHub, client: Client, token: string): Promise<boolean> {
  const { status } = await send(asking, client, 'POST', token);
  if (status === 200 || status === 404) return status === 200;
  throw new Error(`GitHub answered ${status} to whether a token is our own App's`);
}

/** Revokes a token of our own App. @throws Error if GitHub did not do it. */
export async function giveTokenBack(asking: GitHub, client: Client, token: string): Promise<void> {
  const response = await send(asking, client, 'DELETE', token);
  if (!response.ok) throw new Error(`GitHub answered ${response.status}`);
}

function send(
  { config }: GitHub,
  client: Client,
  method: 'POST' | 'DELETE',
  token: string,
): Promise<Response> {
  const { clientId, clientSecret } = client;
  const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
  return fetchThroughProxy(config)(`${config.githubApiUrl}/applications/${clientId}/token`, {
    method,
    headers: { Authorization: `Basic ${basic}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ access_token: token }),
    signal: AbortSignal.timeout(requestTimeout),
  });
}
