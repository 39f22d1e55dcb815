import type { SignedIn } from '../../auth/sign-in/sessions.ts';
import { nowOf } from '../../clock.ts';
import { isTooManyRequests } from '../../errors.ts';
import { type ExemptionRecord, waitingRequests } from '../../exemptions/exemption-store.ts';
import { accountsOf, type InstalledAccount } from '../../installations/find-account.ts';
import { type FoundRepository, repositoriesOfIds } from '../../installations/repository-rows.ts';
import { withKnownEnforcement } from '../owner/enforced.ts';
import { seenBy } from '../owner/open-owner.ts';
import { type RepositoryState, repositoryStates } from '../owner/repository-states.ts';
import type { PageDeps } from '../reader.ts';

/** An owner, with its repositories that the viewer can read. */
export type SeenOwner = { account: InstalledAccount; isAdmin: boolean; repositories: RepositoryState[] };

/** A request that the viewer may decide on. */
export type Request = { exemption: ExemptionRecord; repository: FoundRepository };

/** How many owners the page shows. Each may cost a question to GitHub. */
const mostOwners = 12;
const mostRequests = 20;
/** For how many repositories of other owners GitHub is asked whether the viewer is an admin. */
const mostAsked = 5;

/** What a person who is signed in sees first: every owner where they can read something. */
export async function loadHome(
  deps: PageDeps,
  viewer: SignedIn,
): Promise<{ owners: SeenOwner[]; requests: Request[] }> {
  const accounts = (await accountsOf(deps, viewer.installationIds)).slice(0, mostOwners);
  const states = await repositoryStates(
    deps,
    accounts.map(({ id }) => id),
  );
  const owners = await Promise.all(
    accounts.map(async (account) => {
      const { repositories, isAdmin } = await seenBy(deps, viewer, account, states.get(account.id) ?? []);
      return {
        account,
        isAdmin,
        repositories: isAdmin ? await withKnownEnforcement(deps, repositories) : repositories,
      };
    }),
  );
  const shown = owners.filter(({ isAdmin, repositories }) => isAdmin || repositories.length > 0);
  return { owners: shown, requests: await requestsFor(deps, viewer, shown) };
}

async function requestsFor(deps: PageDeps, viewer: SignedIn, owners: SeenOwner[]): Promise<Request[]> {
  const withRequests = (owner: SeenOwner) => owner.repositories.filter(({ requests }) => requests > 0);
  const ids = (of: SeenOwner[]) => of.flatMap(withRequests).map(({ id }) => id);
  const own = ids(owners.filter(({ isAdmin }) => isAdmin));
  const others = ids(owners.filter(({ isAdmin }) => !isAdmin)).slice(0, mostAsked);
  if (own.length + others.length === 0) return [];
  const repositories = await repositoriesOfIds(deps.sql, [...own, ...others]);
  const decided = await Promise.all(
    repositories.map(async (each) => own.includes(each.id) || (await isAdminOf(deps, viewer, each))),
  );
  const theirs = repositories.filter((_, index) => decided[index]);
  const exemptions = await waitingRequests(
    deps.db,
    theirs.map(({ id }) => id),
    viewer.id,
    nowOf(deps.clock),
    mostRequests,
  );
  return exemptions.map((exemption) => ({
    exemption,
    repository: theirs.find(({ id }) => id === exemption.repositoryId)!,
  }));
}

async function isAdminOf(deps: PageDeps, viewer: SignedIn, repository: FoundRepository): Promise<boolean> {
  try {
    return (await deps.permissions.ofRepository(deps, viewer, repository)) === 'admin';
  } catch (error) {
    if (!isTooManyRequests(error)) throw error;
    return false;
  }
}
