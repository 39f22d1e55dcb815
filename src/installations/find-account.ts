import type { Tx } from '../database/database.ts';
import { nowOf } from '../time/clock.ts';
import { notFound } from '../errors.ts';
import type { Account, Installation } from '../generated/prisma/client.ts';
import { askGitHub } from '../github/ask-github.ts';
import { cachePerService } from '../github/cache.ts';
import { nullIf404 } from '../github/github-error.ts';
import { jobs } from '../database/queue/jobs.ts';
import { readInstallation, saveInstallation } from './sync-installations.ts';
import type { GitHubDeps } from '../github/github-deps.ts';

export type InstalledAccount = Account & { installation: Installation };

export const notInstalled = (login: string) =>
  notFound(`Holdfast is not installed on ${login}. Install the App there, then try again.`);

/** The account with this login, in any letter case, if the database knows one where the App is installed. */
export async function knownAccount(
  deps: Pick<GitHubDeps, 'db'>,
  login: string,
): Promise<InstalledAccount | null> {
  const installation = await deps.db.installation.findFirst({
    where: { deletedAt: null, account: { loginKey: login.toLowerCase() } },
    include: { account: true },
    // A login may belong to another account now. The account that we saw last has it.
    orderBy: [{ account: { seenAt: 'desc' } }, { id: 'desc' }],
  });
  return installation && { ...installation.account, installation };
}

/** The accounts of the installations that still exist, by login. */
export async function accountsOf(
  { db }: Pick<GitHubDeps, 'db'>,
  installationIds: bigint[],
): Promise<InstalledAccount[]> {
  const installations = await db.installation.findMany({
    where: { id: { in: installationIds }, deletedAt: null },
    include: { account: true },
    orderBy: { account: { loginKey: 'asc' } },
  });
  return installations.map(({ account, ...installation }) => ({ ...account, installation }));
}

/**
 * The account with this login, in any letter case. Asks GitHub about an unknown account.
 * @throws Refusal not-found if the App is not installed; unavailable while GitHub does not answer; too-many-requests if
 *   the caller asked for too many names.
 */
export async function findAccount(deps: GitHubDeps, login: string): Promise<InstalledAccount> {
  const known = await knownAccount(deps, login);
  return known ?? deps.github.once(`account ${login}`.toLowerCase(), () => lookUp(deps, login));
}

/** Logins that GitHub did not know as owners with the App. */
const absentLogins = cachePerService<string, true>(10_000, 600_000);

async function lookUp(deps: GitHubDeps, login: string): Promise<InstalledAccount> {
  await deps.questions?.beforeName(login.toLowerCase());
  const absent = absentLogins(deps);
  if (absent.get(login.toLowerCase())) throw notInstalled(login);
  await deps.questions?.beforeAppName();
  const app = await deps.github.asApp();
  const found = await askGitHub(deps, 'App', `whether Holdfast is installed on ${login}`, async () => {
    // This endpoint answers for organizations as well as for people.
    const answer = await nullIf404(app.rest.apps.getUserInstallation({ username: login }));
    return answer && readInstallation(answer.data);
  });
  if (!found) {
    absent.set(login.toLowerCase(), true);
    throw notInstalled(login);
  }
  await deps.sql.transaction(async (tx) => {
    const id = await saveInstallation(tx, found, nowOf(deps.clock));
    await deps.queue.send([jobs.syncInstallation(id)], tx);
  });
  const { account, ...installation } = await deps.db.installation.findUniqueOrThrow({
    where: { id: BigInt(found.id) },
    include: { account: true },
  });
  return { ...account, installation };
}

/**
 * The repositories that the caller may freeze, by name in lower case; null for all current and future repositories, as
 * for the owner's admins.
 */
export type Administered = ReadonlySet<string> | null;

/** Whether the caller may freeze all of these. @param names in any letter case; null for a pattern. */
export const administersAll = (administered: Administered, names: string[] | null): boolean =>
  administered === null || (names?.every((name) => administered.has(name.toLowerCase())) ?? false);

/** Locks the account until the transaction ends. Other transactions that lock it wait. */
export async function lockAccount(tx: Tx, id: bigint): Promise<void> {
  await tx.$queryRaw`SELECT 1 FROM accounts WHERE id = ${id} FOR NO KEY UPDATE`;
}
