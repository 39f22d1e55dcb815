import type { Context } from 'hono';
import { repositoryPath } from '../api/fields.ts';
import type { Person } from '../auth/github-token.ts';
import type { Deps } from '../deps.ts';
import { isTooManyRequests, isUnavailable, Refusal } from '../errors.ts';
import type { ExplanationsForPages } from '../explanations/explanations-for-pages.ts';
import type { CallerLimits } from '../github/limits/caller-limits.ts';
import { authorizeReader } from '../auth/authorize.ts';
import { type FoundRepository, fullName, knownRepository } from '../installations/find-repository.ts';
import type { RepositoryPath } from '../installations/repository-rows.ts';
import type { RepositoryPermission } from '../auth/permissions.ts';
import { readSession } from '../auth/sign-in/sessions.ts';
import { missingForSignIn, signInSettings } from '../auth/sign-in/github-identity.ts';
import { messagePage } from './message-page.ts';
import { repositoryPath as repositoryPagePath, signInPath } from '../installations/page-paths.ts';

/** The dependencies of a page. */
export type PageDeps = Deps & {
  explanations: ExplanationsForPages;
  limits: CallerLimits;
};

/** Remembers that the person got access, so that the limits for strangers do not apply to them. */
export const rememberReader = (deps: PageDeps, person: Person): Promise<void> =>
  deps.limits.remember(deps, person);

/** The dependencies for one request, whose questions to GitHub count. */
export const forRequest = (deps: PageDeps, context: Context): PageDeps => ({
  ...deps,
  questions: deps.limits.questionsOf(deps, context, async () => {
    const person = await readSession(deps, context);
    return person && { type: 'user', id: person.id };
  }),
});

/** Who is signed in. */
export type Viewer = Person | null;

/**
 * The repository of a page's path (`:owner`, `:repository`), if the viewer may read it. Public repositories need no
 * sign-in. A repository that does not exist and one that the viewer may not see get the same answer: the sign-in page, or
 * `absentPage` for a person who is signed in.
 * @returns the response to send if there is no page to show.
 */
export async function openRepositoryPage(
  deps: PageDeps,
  context: Context,
): Promise<{ repository: FoundRepository; viewer: Viewer } | Response> {
  const person = await readSession(deps, context);
  const path = repositoryPath.safeParse(context.req.param());
  try {
    const repository = path.success ? await findObservable(deps, person, path.data) : null;
    if (repository && path.success)
      return isNamed(repository, path.data)
        ? { repository, viewer: person }
        : context.redirect(underItsName(context, repository), 302);
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    return silentPage(context, person);
  }
  if (person || !signInSettings(deps.config)) return absentPage(deps, context, person);
  const { pathname, search } = new URL(context.req.url);
  return context.redirect(signInPath(pathname + search), 302);
}

/**
 * Whether to show the viewer the forms for admins of the repository. GitHub's answer may be a minute old; a form that
 * is sent asks GitHub again.
 */
export async function mayAdminister(
  deps: PageDeps,
  repository: FoundRepository,
  viewer: Viewer,
): Promise<boolean> {
  return (await permissionOf(deps, repository, viewer)) === 'admin';
}

/** The viewer's permission for the repository; `unknown` while GitHub does not answer. */
export async function permissionOf(
  deps: PageDeps,
  repository: FoundRepository,
  viewer: Viewer,
): Promise<RepositoryPermission | 'unknown'> {
  if (!viewer) return 'none';
  try {
    return await deps.permissions.ofRepository(deps, viewer, repository);
  } catch (error) {
    if (!isUnavailable(error) && !isTooManyRequests(error)) throw error;
    return 'unknown';
  }
}

/** Visitors who are not signed in cost no question to GitHub: they only see repositories in the database. */
async function findObservable(
  deps: PageDeps,
  person: Person | null,
  { owner, repository: name }: RepositoryPath,
): Promise<FoundRepository | null> {
  if (!person) {
    const known = await knownRepository(deps, owner, name);
    return known?.private ? null : known;
  }
  const caller = { kind: 'session', person } as const;
  const repository = await authorizeReader(deps, caller, { owner, repository: name }).catch(nullIfAbsent);
  if (repository?.private) await rememberReader(deps, person);
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

/** Answers with the same bytes for a page that does not exist and for one that the viewer may not see. */
export function absentPage({ config }: Deps, context: Context, viewer: Viewer): Promise<Response> {
  const operator = signInSettings(config)
    ? ''
    : ` To see pages of private repositories, people must sign in. Sign-in is not set up: ask the people who run this service to set ${missingForSignIn(config)}.`;
  const text = `The page does not exist, or it belongs to a private repository that you cannot read on GitHub. Check the address. If it is correct, ask an admin of the repository for access.${operator}`;
  return messagePage(context, { status: 404, title: 'Page not found', text }, viewer);
}

/** Shown while GitHub does not say what exists or what the viewer may see. */
export function silentPage(context: Context, viewer: Viewer): Promise<Response> {
  context.header('Retry-After', '10');
  const text = 'Holdfast cannot check whether you may see this page. Reload it in a moment.';
  return messagePage(context, { status: 503, title: 'GitHub is not available', text }, viewer);
}
