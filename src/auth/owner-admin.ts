import type { Deps } from '../deps.ts';
import type { InstalledAccount } from '../installations/find-account.ts';
import type { Person } from './github-token.ts';

type Membership = { role: string; state: string; organization: { id: number } };

/** Whether a membership is the one of an admin of the organization: by id, for names change hands. */
export const isActiveAdmin = (
  { role, state, organization }: Membership,
  owner: Pick<InstalledAccount, 'id'>,
): boolean => role === 'admin' && state === 'active' && BigInt(organization.id) === owner.id;

/**
 * Whether GitHub says, asked as the installation, that a person is an admin of the organization.
 * @throws what GitHub answers; `isRefusal` tells which of it means no.
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
