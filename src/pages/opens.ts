import type { Person } from '../auth/github-token.ts';
import { hasRole } from '../auth/role-verdict.ts';
import type { InstalledAccount } from '../installations/find-account.ts';
import { readRolesOfOwner } from '../settings/settings.ts';
import type { Opens } from './layout.ts';
import type { PageDeps } from './reader.ts';

/** How many people and teams with a role are compared with the reader: each team may cost a question to GitHub. */
const mostHoldersCompared = 50;

type OfReader = {
  deps: PageDeps;
  viewer: Person;
  account: Pick<InstalledAccount, 'id' | 'login' | 'type'>;
  installation: Pick<InstalledAccount['installation'], 'id' | 'suspendedAt'>;
};

/**
 * The pages for insiders of an owner that a person may open, by one rule for the tabs of all pages: `owner` is its admins,
 * `inside` whoever administers one of its repositories or has a role in one.
 */
export const opensBy: Record<'owner' | 'inside', Opens> = { owner: ['audit', 'settings'], inside: ['audit'] };

/**
 * The same of a person about whom the page may not know it. Who administers a repository counts as far as GitHub was asked
 * within the hour.
 * @param standing null if the page does not know.
 * @returns none while nobody can say.
 */
export async function opensFor(reader: OfReader, standing: keyof typeof opensBy | null): Promise<Opens> {
  if (standing) return opensBy[standing];
  return (await isInsideOwner(reader).catch(() => false)) ? opensBy.inside : [];
}

async function isInsideOwner({ deps, viewer, ...place }: OfReader): Promise<boolean> {
  const lists = await readRolesOfOwner(deps.db, place.account.id);
  if (lists.some(({ ids }) => ids.some((id) => deps.permissions.wasAdmin(viewer, { id })))) return true;
  const holders = new Map(lists.flatMap((each) => each.holders).map((each) => [JSON.stringify(each), each]));
  const compared = holders.values().take(mostHoldersCompared).toArray();
  return (await hasRole(deps, viewer, place, compared)) === 'yes';
}

/** The same for a page that has looked at the owner. */
export const opensOfSeen = (seen: {
  deps: PageDeps;
  viewer: Person;
  account: InstalledAccount;
  isAdmin: boolean;
  mayFreeze: boolean | 'unknown';
}): Promise<Opens> =>
  opensFor(
    { ...seen, installation: seen.account.installation },
    seen.isAdmin ? 'owner' : seen.mayFreeze === true ? 'inside' : null,
  );
