import type { Account } from '../state/model.ts';
import type { World } from '../state/world.ts';

/** The default person behind a change of an account: the account itself, or its first admin. */
export function ownerSender(world: World, owner: Account): Account {
  const admin = owner.members.entries().find(([, role]) => role === 'admin');
  if (!admin) return owner;
  return world.accounts.values().find((account) => account.id === admin[0]) ?? owner;
}
