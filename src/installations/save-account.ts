import type { Tx } from '../database/database.ts';
import { defaultProducts } from './product.ts';

/** A person or an organization, as GitHub shows it inside other objects. */
export type GitHubAccount = { id: number; login: string; type: string };

/** Keeps an account's present login; a new account starts with the default products. */
export async function saveAccount(tx: Tx, account: GitHubAccount, now: Date): Promise<bigint> {
  const id = BigInt(account.id);
  const known = {
    login: account.login,
    loginKey: account.login.toLowerCase(),
    type: account.type,
    seenAt: now,
  };
  await tx.account.upsert({
    where: { id },
    create: { id, ...known, defaultProducts: [...defaultProducts] },
    update: known,
  });
  return id;
}
