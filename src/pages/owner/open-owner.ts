import type { Context } from 'hono';
import pLimit from 'p-limit';
import { owner as ownerShape } from '../../api/path-params.ts';
import type { Person } from '../../auth/github-token.ts';
import { readSession } from '../../auth/sign-in/read-session.ts';
import { signInSettings } from '../../auth/sign-in/sign-in-settings.ts';
import { isTooManyRequests, isUnavailable } from '../../errors.ts';
import { type InstalledAccount, knownAccount } from '../../installations/find-account.ts';
import { repositoriesOfIds } from '../../installations/repository-rows.ts';
import { signInPath } from '../../installations/page-paths.ts';
import { absentPage, type PageDeps, rememberReader, silentPage, type Viewer } from '../reader.ts';
import { repositoryStates, type RepositoryState } from '../../explanations/repository-states.ts';

/** An owner as the viewer may see it. */
export type OpenedOwner = {
  account: InstalledAccount;
  viewer: Viewer;
  /** The repositories that the viewer can read, the most important first. */
  repositories: RepositoryState[];
  /** Whether GitHub says that the viewer is an admin of the owner, and so of every repository. */
  isAdmin: boolean;
  /** Whether private repositories that the viewer can read may be missing. */
  isPartial: boolean;
};

/** About how many private repositories GitHub is asked for a viewer who is not an admin of the owner. */
export const mostAsked = 20;
const sideBySide = 5;

/**
 * The owner of a page's path (`:owner`), with the repositories that the viewer can read. A viewer who can read none of
 * them gets the same answer as for an unknown owner.
 * @returns the response to send if there is no page to show.
 */
export async function openOwnerPage(deps: PageDeps, context: Context): Promise<OpenedOwner | Response> {
  const viewer = await readSession(deps, context);
  const name = ownerShape.safeParse(context.req.param('owner'));
  try {
    const account = name.success ? await knownAccount(deps, name.data) : null;
    if (account) {
      const all = (await repositoryStates(deps, [account.id])).get(account.id) ?? [];
      const seen = await seenBy(deps, viewer, account, all);
      if (seen.isAdmin || seen.repositories.length > 0) return { account, viewer, ...seen };
    }
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    return silentPage(context, viewer);
  }
  if (viewer || !signInSettings(deps.config)) return absentPage(deps, context, viewer);
  const { pathname, search } = new URL(context.req.url);
  return context.redirect(signInPath(pathname + search), 302);
}

type Seen = Pick<OpenedOwner, 'repositories' | 'isAdmin' | 'isPartial'>;

/** Which repositories of an owner a viewer can read. Costs GitHub no question for visitors, and one for admins. */
export async function seenBy(
  deps: PageDeps,
  viewer: Viewer,
  account: InstalledAccount,
  all: RepositoryState[],
): Promise<Seen> {
  const open = { repositories: all.filter((each) => !each.private), isAdmin: false, isPartial: false };
  if (!viewer) return open;
  if (await deps.permissions.isOwnerAdmin(deps, viewer, account)) {
    await rememberReader(deps, viewer);
    return { repositories: all, isAdmin: true, isPartial: false };
  }
  const closed = all.filter((each) => each.private);
  const readable = await readableOf(deps, viewer, closed.slice(0, mostAsked));
  const isSeen = (each: RepositoryState) => !each.private || readable.has(each.id);
  // True for everybody but admins, so that it does not reveal whether private repositories exist.
  return { repositories: all.filter(isSeen), isAdmin: false, isPartial: true };
}

/** The ids of the repositories that GitHub lets a person read. Leaves out those that GitHub cannot be asked about now. */
async function readableOf(deps: PageDeps, viewer: Person, some: RepositoryState[]): Promise<Set<bigint>> {
  const readable = new Set<bigint>();
  if (some.length === 0) return readable;
  const ids = some.map(({ id }) => id);
  await pLimit(sideBySide).map(await repositoriesOfIds(deps.sql, ids), async (repository) => {
    try {
      if ((await deps.permissions.ofRepository(deps, viewer, repository)) !== 'none')
        readable.add(repository.id);
    } catch (error) {
      if (!isTooManyRequests(error)) throw error;
    }
  });
  if (readable.size > 0) await rememberReader(deps, viewer);
  return readable;
}
