import type { Context } from 'hono';
import { repositoryPath } from '../api/path-params.ts';
import type { Person } from '../auth/github-token.ts';
import type { Deps } from '../deps.ts';
import { isTooManyRequests, isUnavailable } from '../errors.ts';
import type { ExplanationsForPages } from '../explanations/explanations-for-pages.ts';
import type { StrangerLimits } from '../github/limits/stranger-limits.ts';
import { type FoundRepository, fullName, knownRepository } from '../installations/find-repository.ts';
import type { RepositoryPermission } from '../auth/repository-permission.ts';
import { readSession } from '../auth/sign-in/read-session.ts';
import type { RepositoryReaders } from '../auth/sign-in/repository-readers.ts';
import { missingForSignIn, signInSettings } from '../auth/sign-in/sign-in-settings.ts';
import { messagePage } from './message-page.ts';
import { repositoryPath as repositoryPagePath, signInPath } from '../page-paths.ts';

/** What a page needs of the outside world. */
export type PageDeps = Deps & {
  readers: RepositoryReaders;
  explanations: ExplanationsForPages;
  strangers: StrangerLimits;
};

/** Somebody who is signed in, as a credential. */
const readerOf = ({ id }: Person): string => `person ${id}`;

/** Somebody who was let in: what strangers do is not held against them for a day. */
export const rememberReader = (deps: PageDeps, person: Person): Promise<void> =>
  deps.strangers.known.remember(deps, readerOf(person));

/** What the page of one request needs: its questions to GitHub count, unless who is signed in was let in before. */
export function forRequest(deps: PageDeps, context: Context): PageDeps {
  return deps.strangers.guard(deps, context, async () => {
    const person = await readSession(deps, context);
    return person && readerOf(person);
  });
}

/** Who is signed in. */
export type Viewer = Person | null;

/**
 * The repository of a page's path (`:owner`, `:repository`), for somebody who may read it: public ones need no sign-in.
 * What is not there and what one may not see get the same answer: somebody who is not signed in is sent to sign in,
 * and who is gets `absentPage`.
 * @returns the answer itself where there is no page to show.
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
 * Whether to show the viewer of a page what admins of its repository do there, as GitHub said a minute ago at most.
 * What they then send is asked anew.
 */
export async function mayAdminister(
  deps: PageDeps,
  repository: FoundRepository,
  viewer: Viewer,
): Promise<boolean> {
  return (await permissionOf(deps, repository, viewer)) === 'admin';
}

/** What the viewer of a page may do with its repository; `unknown` while GitHub does not say. */
export async function permissionOf(
  deps: PageDeps,
  repository: FoundRepository,
  viewer: Viewer,
): Promise<RepositoryPermission | 'unknown'> {
  if (!viewer) return 'none';
  try {
    return await deps.readers.permission(deps, viewer, repository);
  } catch (error) {
    if (!isUnavailable(error) && !isTooManyRequests(error)) throw error;
    return 'unknown';
  }
}

type RepositoryPath = { owner: string; repository: string };

/** Nobody's requests cost no question to GitHub: what the database does not know is not there for them. */
async function findObservable(
  deps: PageDeps,
  person: Person | null,
  { owner, repository: name }: RepositoryPath,
): Promise<FoundRepository | null> {
  const known = await knownRepository(deps, owner, name);
  const repository = known ?? (person && (await deps.readers.lookUp(deps, person, owner, name)));
  if (!repository?.private) return repository;
  if (!person) return null;
  if ((await deps.readers.permission(deps, person, repository)) === 'none') return null;
  await rememberReader(deps, person);
  return repository;
}

const isNamed = (repository: FoundRepository, path: RepositoryPath): boolean =>
  fullName(repository).toLowerCase() === `${path.owner}/${path.repository}`.toLowerCase();

/** The address of the page, with the repository's name of now for a former one. */
function underItsName({ req }: Context, repository: FoundRepository): string {
  const { pathname, search } = new URL(req.url);
  // Behind `/repos/{owner}/{repository}`.
  const rest = pathname.split('/').slice(4);
  return [repositoryPagePath(repository), ...rest].join('/') + search;
}

/** For everything that is not there, or not for the viewer to see: the same bytes for both. */
export function absentPage({ config }: Deps, context: Context, viewer: Viewer): Promise<Response> {
  const operator = signInSettings(config)
    ? ''
    : ` Pages of private repositories need people to sign in, and that is not set up: whoever runs this service has to set ${missingForSignIn(config)}.`;
  const text = `Or it belongs to a private repository that you may not read on GitHub. Check the address; if it is right, ask an admin of the repository for access.${operator}`;
  return messagePage(context, { status: 404, title: 'There is no such page', text }, viewer);
}

/** While GitHub cannot say what the viewer may see, or what there is. */
export function silentPage(context: Context, viewer: Viewer): Promise<Response> {
  context.header('Retry-After', '10');
  const text = 'So Holdfast cannot tell whether you may see this page. Load it again in a moment.';
  return messagePage(context, { status: 503, title: 'GitHub could not be asked', text }, viewer);
}
