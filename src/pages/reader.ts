import type { Context, Handler } from 'hono';
import { html } from 'hono/html';
import { owner as ownerShape, readUuid, repositoryParams } from '../api/fields.ts';
import { assertStorable } from '../api/read-request.ts';
import { authorizeReader } from '../auth/authorize.ts';
import type { Person } from '../auth/github-token.ts';
import type { Recency, RepositoryPermission } from '../auth/permissions.ts';
import { hasRole } from '../auth/role-verdict.ts';
import { missingForSignIn, signInSettings } from '../auth/sign-in/github-identity.ts';
import { readSession, type Session } from '../auth/sign-in/sessions.ts';
import type { Deps } from '../deps.ts';
import { isTooManyRequests, isUnavailable, nullIf, Refusal } from '../errors.ts';
import type { ExplanationsForPages } from '../explanations/explanations-for-pages.ts';
import { hasActed } from '../events/list-events.ts';
import { reservedUntil } from '../github/ask-github.ts';
import type { CallerLimits } from '../github/limits/caller-limits.ts';
import { type InstalledAccount, knownAccount } from '../installations/find-account.ts';
import {
  type FoundRepository,
  fullName,
  knownRepository,
  type RepositoryPath,
} from '../installations/find-repository.ts';
import { repositoryPath as repositoryPagePath, signInPath } from '../page-paths.ts';
import { type Role, type RolePlace, roles } from '../settings/role-holders.ts';
import type { RoleHolder } from '../installations/setting-fields.ts';
import { readOwnerSettings, readSettings } from '../settings/settings.ts';
import { webUrlOf } from '../github/web-url.ts';
import { nowOf } from '../time/clock.ts';
import type { Html } from './html.ts';
import type { Opens, LayoutPage } from './layout.ts';
import type { OpenStreams } from './live.ts';
import { messagePage } from './message-page.ts';
import { opensFor } from './opens.ts';
import { instantText, readerZone, type Times } from './text.ts';

/** The dependencies of a page. */
export type PageDeps = Deps & {
  explanations: ExplanationsForPages;
  limits: CallerLimits;
  streams: OpenStreams;
};

/** Remembers that the person got access, so that the limits for strangers do not apply to them. */
export const rememberReader = (deps: PageDeps, person: Person): Promise<void> =>
  deps.limits.remember(deps, person);

/** Who is signed in. */
export type Viewer = (Session & Pick<NonNullable<LayoutPage['viewer']>, 'opens'>) | null;

/** A request for a page, and when it came. Its questions to GitHub count for the viewer. */
export type Visit = { deps: PageDeps; context: Context; viewer: Viewer; openedAt: number };

/** The page of a repository that the viewer may read. */
export type RepositoryVisit = Visit & { repository: FoundRepository };

/** The dependencies for one request, whose questions to GitHub count. */
const forRequest = (deps: PageDeps, context: Context): PageDeps => ({
  ...deps,
  questions: deps.limits.questionsOf(deps, context, async () => {
    const person = await readSession(deps, context);
    return person && { type: 'user', id: person.id };
  }),
});

/**
 * Handles a page that decides itself what the viewer may see. While GitHub does not say that, the answer is 503. A query that
 * the database could not compare with anything is refused.
 */
export const openPage =
  (given: PageDeps, show: (visit: Visit) => Response | Promise<Response>): Handler =>
  async (context) => {
    assertStorable(context.req.queries(), 'query');
    const deps = forRequest(given, context);
    const openedAt = deps.clock.now();
    const visit = { deps, context, openedAt, viewer: await readSession(deps, context) };
    try {
      return await show(visit);
    } catch (error) {
      return unlessSilent(visit, error);
    }
  };

/**
 * Handles a page of the repository of the path (`:owner`, `:repository`), if the viewer may read it. Public repositories
 * need no sign-in. A repository that does not exist and one that the viewer may not see get the same answer: the sign-in
 * page, or `absentPage` for a person who is signed in.
 */
export const repositoryPage = (
  given: PageDeps,
  show: (visit: RepositoryVisit) => Response | Promise<Response>,
  recency?: Recency,
): Handler =>
  openPage(given, async (visit) => {
    const { context } = visit;
    const path = repositoryParams.safeParse(context.req.param());
    if (!path.success) return absentOrSignIn(visit);
    const repository = await findObservable(visit, path.data, recency);
    if (!repository) return (await suspendedPage(visit, path.data)) ?? absentOrSignIn(visit);
    return isNamed(repository, path.data)
      ? show({ ...visit, repository, viewer: whoOpens({ ...visit, repository }) })
      : context.redirect(underItsName(context, repository), 302);
  });

/** The viewer with the pages of the owner that they may open: as far as GitHub says so of an admin of the repository. */
export function whoOpens<V extends Visit['viewer']>(visit: RepositoryVisit & { viewer: V }): V {
  const { deps, repository, viewer } = visit;
  if (!viewer) return viewer;
  const { account, installation } = repository;
  const ask = async (): Promise<Opens> => {
    const isAdmin = (await permissionOf(visit)) === 'admin';
    const isOwners =
      isAdmin && (await deps.permissions.isOwnerAdmin(deps, viewer, { ...account, installation }));
    const standing = isOwners ? 'owner' : isAdmin ? 'admin' : null;
    return opensFor({ deps, viewer, account, installation }, standing);
  };
  return { ...viewer, opens: ask().catch(() => []) };
}

/** How the reader of a page sees times. */
export const readerTimes = (visit: Pick<Visit, 'context' | 'deps'>): Times => ({
  zone: readerZone(visit.context),
  now: nowOf(visit.deps.clock),
});

/** The id in the path with this name; null if it is none. */
export const uuidOf = ({ context }: Pick<Visit, 'context'>, name: string): string | null =>
  readUuid(context.req.param(name));

type OfViewer = Pick<RepositoryVisit, 'deps' | 'repository'> & { viewer: Person | null };

/** An answer about somebody's rights; null while nobody can say. */
export const unlessUnsaid = <Answer>(answer: Promise<Answer>): Promise<Answer | null> =>
  answer.catch(nullIf('unavailable', 'too-many-requests'));

/**
 * Whether the viewer may do what admins of the repository and people with a role may. GitHub's answers may be a minute
 * old; a form that is sent asks GitHub again.
 * @throws Refusal unavailable or too-many-requests while nobody can say.
 */
export async function actsAs(visit: OfViewer, role: Role, recency: Recency = {}): Promise<boolean> {
  const { deps, repository, viewer } = visit;
  if (!viewer) return false;
  const permission = await deps.permissions.ofRepository(deps, viewer, repository, recency);
  if (permission === 'admin' || permission === 'none') return permission === 'admin';
  const { [roles[role]]: holders } = await readSettings(deps.db, repository.id);
  return isAmongRepositories(deps, viewer, repository, holders, recency);
}

/** The same for whether to show forms: no, while nobody can say. */
export const mayAs = async (visit: OfViewer, role: Role, recency: Recency = {}): Promise<boolean> =>
  (await unlessUnsaid(actsAs(visit, role, recency))) ?? false;

/**
 * Whether the viewer is a freezer or approver of the repository, and so reads its audit log. Errors as `actsAs`.
 * @param permission the viewer's, who is no admin.
 */
export async function hasAnyRole(
  { deps, viewer, repository }: OfViewer,
  permission: RepositoryPermission | 'unknown',
): Promise<boolean> {
  if (!viewer || permission === 'none' || permission === 'unknown') return false;
  const { freezers, approvers } = await readSettings(deps.db, repository.id);
  return isAmongRepositories(deps, viewer, repository, [...freezers, ...approvers]);
}

/** Whether the settings of an owner make the viewer a freezer. Errors as `actsAs`. */
export async function isOwnerFreezer(
  deps: PageDeps,
  viewer: Person,
  account: InstalledAccount,
  recency: Recency = {},
): Promise<boolean> {
  const { freezers } = await readOwnerSettings(deps.db, account.id);
  return isAmongRepositories(
    deps,
    viewer,
    { account, installation: account.installation },
    freezers,
    recency,
  );
}

/** Whether a list of people and teams names the viewer. Errors as `actsAs`. */
export async function isAmongRepositories(
  deps: PageDeps,
  viewer: Person,
  place: RolePlace,
  holders: RoleHolder[],
  recency: Recency = {},
): Promise<boolean> {
  const verdict = await hasRole(deps, viewer, place, holders, recency);
  if (verdict instanceof Refusal) throw verdict;
  return verdict === 'yes';
}

/** The viewer's permission for the repository; `unknown` while GitHub does not answer. */
export async function permissionOf(
  visit: OfViewer,
  recency: Recency = {},
): Promise<RepositoryPermission | 'unknown'> {
  const { deps, repository, viewer } = visit;
  if (!viewer) return 'none';
  return (await unlessUnsaid(deps.permissions.ofRepository(deps, viewer, repository, recency))) ?? 'unknown';
}

/** Visitors who are not signed in cost no question to GitHub: they only see repositories in the database. */
async function findObservable(
  { deps, viewer }: Visit,
  { owner, repository: name }: RepositoryPath,
  recency?: Recency,
): Promise<FoundRepository | null> {
  if (!viewer) {
    const known = await knownRepository(deps, owner, name);
    return known?.private ? null : known;
  }
  const caller = { kind: 'session', person: viewer } as const;
  const path = { owner, repository: name };
  const repository = await authorizeReader(deps, caller, path, recency).catch(nullIfAbsent);
  if (repository?.private) await rememberReader(deps, viewer);
  return repository;
}

function nullIfAbsent(error: unknown): null {
  if (error instanceof Refusal && !isUnavailable(error) && !isTooManyRequests(error)) return null;
  throw error;
}

const isNamed = (repository: FoundRepository, path: RepositoryPath): boolean =>
  fullName(repository).toLowerCase() === `${path.owner}/${path.repository}`.toLowerCase();

/** The URL of the page under the repository's current name. */
function underItsName({ req }: Context, repository: FoundRepository): string {
  const { pathname, search } = new URL(req.url);
  // The part after `/repos/{owner}/{repository}`.
  const rest = pathname.split('/').slice(4);
  return [repositoryPagePath(repository), ...rest].join('/') + search;
}

/** Sends the viewer to the sign-in, and then back to this page. */
export const signInFirst = ({ context }: Visit): Response => context.redirect(signInAndReturn(context), 302);

export function signInAndReturn({ req }: Context): string {
  const { pathname, search } = new URL(req.url);
  return signInPath(pathname + search);
}

/** For a page that does not exist or that the viewer may not see: a visitor signs in first, if that is set up. */
export const absentOrSignIn = (visit: Visit): Response | Promise<Response> =>
  visit.viewer || !signInSettings(visit.deps.config) ? absentPage(visit) : signInFirst(visit);

/** Answers with the same bytes for a page that does not exist and for one that the viewer may not see. */
export function absentPage({ deps: { config }, context, viewer }: Visit): Promise<Response> {
  const operator = signInSettings(config)
    ? ''
    : ` To see pages of private repositories, people must sign in. Sign-in is not set up: ask the people who run this service to set ${missingForSignIn(config)}.`;
  const text = `The page does not exist, or it belongs to a private repository that you cannot read on GitHub. Check the address. If it is correct, ask an admin of the repository for access.${operator}`;
  return messagePage(context, { status: 404, title: 'Page not found', text }, viewer);
}

/**
 * For somebody who was an admin while the installation of a repository was active. While it is suspended, GitHub answers
 * nothing about people, and to everybody else the repository looks as if it did not exist. Null if it is not that.
 */
async function suspendedPage(
  { deps, context, viewer }: Visit,
  { owner, repository: name }: RepositoryPath,
): Promise<Response | null> {
  if (!viewer) return null;
  const repository = await knownRepository(deps, owner, name);
  if (!repository?.installation.suspendedAt || !(await wasAdmin(deps, viewer, repository))) return null;
  const { account, installation } = repository;
  const of = account.type === 'Organization' ? `organizations/${account.login}/` : '';
  const href = `${webUrlOf(deps.config.githubApiUrl)}/${of}settings/installations/${installation.id}`;
  const text = `Holdfast’s installation on ${account.login} is suspended. No freeze of ${fullName(repository)} begins or ends on GitHub until somebody unsuspends it.`;
  const link = { href, text: 'Open the installation on GitHub' };
  return messagePage(context, { status: 409, title: 'The App is suspended', text, link }, viewer);
}

/** As GitHub said within the hour, or by what they did there. */
async function wasAdmin(deps: PageDeps, viewer: Person, repository: FoundRepository): Promise<boolean> {
  if (
    repository.account.id === BigInt(viewer.id) ||
    deps.permissions.hadRight(viewer, repository) === 'admin'
  )
    return true;
  return hasActed(deps.sql, repository, viewer);
}

/** Shown while GitHub does not say what exists or what the viewer may see. @param error that said so, if one did. */
export function silentPage(
  visit: Visit & { repository?: FoundRepository },
  error?: Pick<Refusal, 'limitedUntil'>,
): Promise<Response> {
  const { deps, context, viewer, repository } = visit;
  const limitedUntil = limitedUntilBy(deps, repository, error);
  const text = 'Holdfast cannot check whether you may see this page.';
  const seconds = limitedUntil ? (limitedUntil.getTime() - deps.clock.now()) / 1000 : 10;
  context.header('Retry-After', String(Math.max(1, Math.ceil(seconds))));
  const message = limitedUntil
    ? {
        title: 'GitHub’s rate limit is used up',
        text,
        more: waysWithoutGitHub(limitedUntil, readerTimes(visit)),
      }
    : { title: 'GitHub is not available', text: `${text} Reload it in a moment.` };
  return messagePage(context, { status: 503, ...message }, viewer);
}

/** When GitHub answers again, if its rate limit is used up; null if it is not that. */
export function limitedUntilBy(
  deps: PageDeps,
  repository: FoundRepository | undefined,
  error?: Pick<Refusal, 'limitedUntil'>,
): Date | null {
  if (error?.limitedUntil) return error.limitedUntil;
  const until = repository ? reservedUntil(deps, repository.installation.id) : null;
  return until === null ? null : new Date(until);
}

/** Until when GitHub answers no questions about people, and what works meanwhile. */
export const waysWithoutGitHub = (until: Date, times: Times): Html =>
  html`<p>
    GitHub answers again after ${instantText(until, times)}. Until then, freezes begin, hold and end as
    planned. To change or end one now, use <a href="/help/command-line">the command line</a> or
    <a href="/help/api">the API</a> with an admin application key: that needs no answer of GitHub.
  </p>`;

/** What a page answers to an error: that GitHub is not available, if it is that. @throws the error, if it is another. */
function unlessSilent(visit: Visit, error: unknown): Promise<Response> {
  if (!isUnavailable(error)) throw error;
  return silentPage(visit, error);
}

/** The owner of the path (`:owner`) of a page; null if there is none. */
export async function ownerOfPath({ deps, context }: Visit): Promise<InstalledAccount | null> {
  const name = ownerShape.safeParse(context.req.param('owner'));
  return name.success ? knownAccount(deps, name.data) : null;
}
