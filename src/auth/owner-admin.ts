import type { Deps } from '../deps.ts';
import type { InstalledAccount } from '../installations/find-account.ts';
import type { Person } from './github-token.ts';

type Membership = { role: string; state: string; organization: { id: number } };

/** Whether this is the membership of an admin of the organization. By id, because a name can get another owner. */
export const isActiveAdmin = (
  { role, state, organization }: Membership,
  owner: Pick<InstalledAccount, 'id'>,
): boolean => role === 'admin' && state === 'active' && BigInt(organization.id) === owner.id;

/**
 * Asks GitHub, as the installation, whether a person is an admin of the organization.
 * @throws GitHub's errors; `isRefusal` says which of them mean no.
 */
export async function askOwnerAdmin(
  deps: Pick<Deps, 'github'>,
  person: Person,
  owner: Pick<InstalledAccount, 'id' | 'login' | 'installation'>,
): Promise<boolean> {
  const client = await deps.github.asInstallation(owner.installation.id);
  const { data } = await client.rest.orgs.getMembershipForUser({
    org: owner.login,
    username: person.login,
  });
  return isActiveAdmin(data, owner) && data.user?.id === person.id;
}
