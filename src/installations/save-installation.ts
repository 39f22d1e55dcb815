import type { Tx } from '../database/database.ts';
import { saveAccount, type GitHubAccount } from './save-account.ts';

/** What GitHub says of an installation, as far as it is kept. */
export type GitHubInstallation = {
  id: number;
  account: GitHubAccount;
  permissions: Record<string, string>;
  suspendedAt: string | null;
};

/** Keeps what GitHub says of an installation and of its account. */
export async function saveInstallation(tx: Tx, installation: GitHubInstallation, now: Date): Promise<bigint> {
  const accountId = await saveAccount(tx, installation.account, now);
  const known = {
    accountId,
    permissions: installation.permissions,
    suspendedAt: installation.suspendedAt ? new Date(installation.suspendedAt) : null,
    deletedAt: null,
  };
  const id = BigInt(installation.id);
  await tx.installation.upsert({ where: { id }, create: { id, ...known }, update: known });
  return id;
}

/** The App is gone from an account. Its repositories, with their freezes, wait for it to come back. */
export async function markUninstalled(tx: Tx, id: bigint, now: Date): Promise<void> {
  await tx.installation.updateMany({ where: { id, deletedAt: null }, data: { deletedAt: now } });
  await tx.repository.updateMany({ where: { installationId: id }, data: { installationId: null } });
}
