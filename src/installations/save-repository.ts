import type { Tx } from '../database/database.ts';
import { type GitHubAccount, saveAccount } from './save-account.ts';

/** What GitHub says of a repository, as far as it is kept. */
export type GitHubRepository = {
  id: number;
  name: string;
  private: boolean;
  archived: boolean;
  owner: GitHubAccount;
};

/**
 * Keeps what GitHub says of a repository under its id, which survives renames and transfers. One that is new
 * takes its owner's default products.
 */
export async function saveRepository(
  tx: Tx,
  repository: GitHubRepository,
  installationId: bigint | null,
  now: Date,
): Promise<bigint> {
  const accountId = await saveAccount(tx, repository.owner, now);
  const id = BigInt(repository.id);
  const known = {
    accountId,
    installationId,
    name: repository.name,
    nameKey: repository.name.toLowerCase(),
    private: repository.private,
    archived: repository.archived,
    seenAt: now,
  };
  const existing = await tx.repository.findUnique({ where: { id }, select: { id: true } });
  if (existing) {
    await tx.repository.update({ where: { id }, data: known });
  } else {
    const { defaultProducts } = await tx.account.findUniqueOrThrow({ where: { id: accountId } });
    await tx.repository.upsert({
      where: { id },
      create: { id, ...known, products: defaultProducts, reconcileRequestedAt: now },
      update: known,
    });
  }
  return id;
}
