import type { Person } from '../auth/github-token.ts';
import { hasRole } from '../auth/role-verdict.ts';
import type { InstalledAccount } from '../installations/find-account.ts';
import type { RoleHolder } from '../installations/setting-fields.ts';
import { readRolesOfOwner } from '../settings/settings.ts';
import type { Opens } from './layout.ts';
import type { PageDeps } from './reader.ts';

// One rule for the tabs of all pages: a tab stands there for whoever its page does not refuse. The page of a tab decides for
// itself, and asks GitHub; tabs go by what GitHub said within the hour, and show nothing while nobody can say.

/** How many people and teams with a role are compared with the reader: each team may cost a question to GitHub. */
const mostHoldersCompared = 50;

type OfReader = {
  deps: PageDeps;
  viewer: Person;
  account: Pick<InstalledAccount, 'id' | 'login' | 'type'>;
  installation: Pick<InstalledAccount['installation'], 'id' | 'suspendedAt'>;
};

/** What a reader is to an owner: its admin, or somebody with rights in one of its repositories. */
type Rights = Record<'admin' | 'writer' | 'freezer' | 'approver', boolean>;

const opensWith = ({ admin, writer, freezer, approver }: Rights): Opens => [
  ...(admin || writer || approver ? (['exemptions'] as const) : []),
  ...(admin || writer ? (['deployments'] as const) : []),
  ...(admin || freezer || approver ? (['audit'] as const) : []),
];

const nothing: Rights = { admin: false, writer: false, freezer: false, approver: false };

/** Whom no page of the owner refuses. */
export const opensAll: Opens = ['exemptions', 'deployments', 'audit', 'settings'];

/**
 * The pages of an owner that a person may open, of those that not everybody may.
 * @param standing what the page knows already: an admin of the owner or of one of its repositories; null for neither.
 * @param seen the repositories that the person can read, as far as the page knows that: only there does a role count.
 */
export async function opensFor(
  reader: OfReader,
  standing: 'owner' | 'admin' | null,
  seen?: ReadonlySet<bigint>,
): Promise<Opens> {
  if (standing === 'owner') return opensAll;
  if (standing === 'admin') return opensWith({ ...nothing, admin: true });
  return opensWith(await rightsOf(reader, seen).catch(() => nothing));
}

async function rightsOf(
  { deps, viewer, ...place }: OfReader,
  seen: ReadonlySet<bigint> | undefined,
): Promise<Rights> {
  const all = await readRolesOfOwner(deps.db, place.account.id);
  const lists = all.filter(({ ids }) => !seen || ids.some((id) => seen.has(id)));
  const isAny = (isIt: (id: bigint) => boolean, some = lists) => some.some(({ ids }) => ids.some(isIt));
  if (isAny((id) => deps.permissions.hadRight(viewer, { id }) === 'admin'))
    return { ...nothing, admin: true };
  const used = lists.filter(({ archived }) => !archived);
  const has = async (role: 'freezer' | 'approver') => {
    const holders = new Map<string, RoleHolder>();
    for (const { holders: its } of lists)
      for (const each of its[role]) holders.set(JSON.stringify(each), each);
    const compared = holders.values().take(mostHoldersCompared).toArray();
    return compared.length > 0 && (await hasRole(deps, viewer, place, compared)) === 'yes';
  };
  return {
    admin: false,
    writer: isAny((id) => deps.permissions.hadRight(viewer, { id }) !== undefined, used),
    freezer: await has('freezer'),
    approver: await has('approver'),
  };
}

/** The same for a page that has looked at the owner. */
export const opensOfSeen = (seen: {
  deps: PageDeps;
  viewer: Person;
  account: InstalledAccount;
  isAdmin: boolean;
  repositories: { id: bigint }[];
  archived: { id: bigint }[];
}): Promise<Opens> =>
  opensFor(
    { ...seen, installation: seen.account.installation },
    seen.isAdmin ? 'owner' : null,
    new Set([...seen.repositories, ...seen.archived].map(({ id }) => id)),
  );
