// `installations/` knows where the App is installed: owners, installations and repositories by GitHub's ids, and which
// products are on.
import type { Tx } from '../database/database.ts';
import { believed, type SqlRow, type SqlTx } from '../database/sql.ts';
import type { Account, Installation, Repository } from '../generated/prisma/client.ts';
import type { Product } from './product.ts';
import { settingSql } from './setting-fields.ts';
import { cachePerService } from '../github/cache.ts';
import { nowOf } from '../time/clock.ts';
import { conflict, notFound, Refusal } from '../errors.ts';
import { askGitHub } from '../github/ask-github.ts';
import { classifyGitHubError, isGitHubStatus } from '../github/github-error.ts';
import { knownAccount } from './find-account.ts';
import {
  readInstallation,
  saveInstallation,
  type GitHubRepository,
  saveRepositories,
} from './sync-installations.ts';
import { jobs } from '../database/queue/jobs.ts';
import type { GitHubDeps } from '../github/github-deps.ts';

/** What a request is about, by its path. */
export type RepositoryPath = { owner: string; repository: string };

// How statements in frequent requests read a repository with its account and installation.

export type FoundRepository = Pick<
  Repository,
  | 'id'
  | 'accountId'
  | 'installationId'
  | 'name'
  | 'private'
  | 'archived'
  | 'products'
  | 'reconcileRequestedAt'
  | 'reconciledAt'
  | 'observations'
  | 'stacks'
  | 'rulesVersion'
> & {
  /** The setting that counts: the repository's own, else its owner's. */
  longestOpenEndHours: number | null;
  account: Pick<Account, 'id' | 'login' | 'type'>;
  installation: Pick<Installation, 'id' | 'permissions' | 'suspendedAt' | 'pausedUntil' | 'readsPausedUntil'>;
};

const installedSql = `
  SELECT r.id AS repository_id, r.name AS repository_name, r.private, r.archived, r.products::text[] AS products,
    r.reconcile_requested_at, ${believed('r.reconciled_at', 'job_now()')} AS reconciled_at, r.observations, ${settingSql('longestOpenEndHours')}::int AS longest_open_end_hours, r.stacks, r.rules_version,
    a.id AS owner_id, a.login AS owner_login, a.type AS owner_type,
    i.id AS installation_id, i.permissions, i.suspended_at, i.paused_until, i.reads_paused_until
  FROM repositories r JOIN accounts a ON a.id = r.account_id JOIN installations i ON i.id = r.installation_id`;

/** SQL that selects a repository by its id, `$1`. */
export const repositoryOfId = `${installedSql} WHERE r.id = $1`;

/** The repositories with these ids, in the order of the ids. */
export async function repositoriesOfIds(sql: SqlTx, ids: bigint[]): Promise<FoundRepository[]> {
  const rows = await sql.query('read-repositories', `${installedSql} WHERE r.id = ANY ($1)`, [ids]);
  const found = new Map(rows.map((row) => [row['repository_id'], repositoryOfRow(row)!]));
  return ids.flatMap((id) => found.get(id) ?? []);
}

/**
 * SQL that selects the repository with a name, in lower case. A name may belong to another repository now: the
 * repository that we saw last has it.
 * @param owner the parameter with the owner's login, such as `$1`. @param name the parameter with its name.
 */
export const findByName = (owner: string, name: string): string => `
  ${installedSql}
  WHERE r.name_key = ${name} AND a.login_key = ${owner} AND i.deleted_at IS NULL
  ORDER BY r.seen_at DESC LIMIT 1`;

/** A row of one of these. Every column is null if an outer join found none. */
export function repositoryOfRow(row: SqlRow): FoundRepository | null {
  if (row['repository_id'] === null) return null;
  const accountId = row['owner_id'] as bigint;
  const installationId = row['installation_id'] as bigint;
  return {
    id: row['repository_id'] as bigint,
    accountId,
    installationId,
    name: row['repository_name'] as string,
    private: row['private'] as boolean,
    archived: row['archived'] as boolean,
    products: row['products'] as Product[],
    reconcileRequestedAt: row['reconcile_requested_at'] as Date | null,
    reconciledAt: row['reconciled_at'] as Date | null,
    observations: row['observations'] as bigint,
    longestOpenEndHours: row['longest_open_end_hours'] as number | null,
    stacks: row['stacks'] as Repository['stacks'],
    rulesVersion: row['rules_version'] as number,
    account: { id: accountId, login: row['owner_login'] as string, type: row['owner_type'] as string },
    installation: {
      id: installationId,
      permissions: row['permissions'] as Installation['permissions'],
      suspendedAt: row['suspended_at'] as Date | null,
      pausedUntil: row['paused_until'] as Date | null,
      readsPausedUntil: row['reads_paused_until'] as Date | null,
    },
  };
}

/**
 * One JSON value about a repository. The statement that finds the key and the repository of a request can read it along:
 * a second statement costs the frequent requests too much processor time (`npm run bench -- api`).
 */
export type RepositoryRead<Value> = {
  /** The name of the statement. The same SQL always has the same name. */
  name: string;
  /** A scalar subquery about `named.repository_id` and `named.owner_id` that returns JSON. Its parameters begin at $1. */
  sql: string;
  values: unknown[];
  valueOf(json: unknown, repository: Pick<FoundRepository, 'id' | 'accountId'>): Value;
};

/** Reads the value with a statement of its own. */
export async function readAlone<Value>(
  connection: SqlTx,
  { name, sql, values, valueOf }: RepositoryRead<Value>,
  { id, accountId }: Pick<FoundRepository, 'id' | 'accountId'>,
): Promise<Value> {
  const [first, second] = [values.length + 1, values.length + 2];
  const text = `
    SELECT (${sql}) AS value FROM (SELECT $${first}::int8 AS repository_id, $${second}::int8 AS owner_id) named`;
  const [row] = await connection.query<{ value: unknown }>(name, text, [...values, id, accountId]);
  return valueOf(row!.value, { id, accountId });
}

/** Locks the repository until the transaction ends. Other transactions that lock it wait. */
export async function lockRepository(tx: Tx, id: bigint): Promise<void> {
  await tx.$queryRaw`SELECT 1 FROM repositories WHERE id = ${id} FOR UPDATE`;
}

/** `owner/name`, as people write it. */
export const fullName = ({ account, name }: { account: { login: string }; name: string }): string =>
  `${account.login}/${name}`;

export const repositoryAbsent = (owner: string, name: string) =>
  notFound(`There is no repository ${owner}/${name} with Holdfast installed that this credential can see.`);

/**
 * The repository with this name, in any letter case. Asks GitHub about an unknown repository.
 * @throws Refusal not-found if the App is not installed; unavailable while GitHub does not answer; conflict if its
 *   installation was suspended before we ever saw the repository; too-many-requests if the caller asked for too many names.
 */
export async function findRepository(
  deps: GitHubDeps,
  owner: string,
  name: string,
): Promise<FoundRepository> {
  return (await knownRepository(deps, owner, name)) ?? lookUpRepository(deps, owner, name);
}

/**
 * Asks GitHub about a repository that the database does not know. Of an owner with the App, it first asks the
 * installation: only what that can see costs a question of the App.
 * @throws like `findRepository`.
 */
export async function lookUpRepository(
  deps: GitHubDeps,
  owner: string,
  name: string,
): Promise<FoundRepository> {
  // In a URL to GitHub, these two names would leave the path.
  if (name === '.' || name === '..') throw repositoryAbsent(owner, name);
  const counts = await deps.questions?.beforeName(nameInRow(owner, name));
  if (counts === false && absentNames(deps).get(nameInRow(owner, name))) throw repositoryAbsent(owner, name);
  return deps.github.once(`repository ${nameInRow(owner, name)}`, () => lookUp(deps, owner, name));
}

/**
 * The refusal of a repository that the caller may not see. It counts like a name that is not there, so that nobody can
 * tell the two apart by their limits. @throws Refusal too-many-requests like `lookUpRepository`.
 */
export async function answerAsHidden(
  deps: Pick<GitHubDeps, 'questions'>,
  path: { owner: string; repository: string },
): Promise<Refusal> {
  await deps.questions?.beforeName(nameInRow(path.owner, path.repository));
  return repositoryAbsent(path.owner, path.repository);
}

/** Counts as a question to GitHub about the repository that nobody needs to ask. @throws Refusal like `askGitHub`. */
export const askNothing = (
  deps: GitHubDeps,
  { installation, ...repository }: FoundRepository,
): Promise<null> => askGitHub(deps, installation.id, whatIs(fullName(repository)), async () => null);

const nameInRow = (owner: string, name: string): string => `${owner}/${name}`.toLowerCase();

const whatIs = (name: string): string => `what ${name} is`;

/** The repository with this name, if the database knows one where the App is installed. Does not ask GitHub. */
export async function knownRepository(
  deps: Pick<GitHubDeps, 'sql'>,
  owner: string,
  name: string,
): Promise<FoundRepository | null> {
  const keys = [owner.toLowerCase(), name.toLowerCase()];
  const [row] = await deps.sql.query('find-repository', findByName('$1', '$2'), keys);
  return row ? repositoryOfRow(row) : null;
}

/** Names that GitHub did not know. A webhook, which fills the database, is faster than this forgets. */
const absentNames = cachePerService<string, true>(10_000, 600_000);

async function lookUp(deps: GitHubDeps, owner: string, name: string): Promise<FoundRepository> {
  const absent = absentNames(deps);
  const isKnownAbsent = () => absent.get(nameInRow(owner, name)) === true;
  const about = whatIs(`${owner}/${name}`);
  try {
    const account = await knownAccount(deps, owner);
    if (account && !account.installation.suspendedAt)
      await askGitHub(deps, account.installation.id, about, async () => {
        if (isKnownAbsent()) throw repositoryAbsent(owner, name);
        return readRowAs(deps, account.installation.id, owner, name);
      });
    else if (isKnownAbsent()) throw repositoryAbsent(owner, name);
    await deps.questions?.beforeAppName();
    return await saveSeen(deps, await askGitHub(deps, 'App', about, () => readAsApp(deps, owner, name)));
  } catch (error) {
    const isAbsent = error instanceof Refusal && error.code === 'not-found';
    // From GitHub's answer on, however often it is asked for meanwhile.
    if (isAbsent && !isKnownAbsent()) absent.set(nameInRow(owner, name), true);
    throw error;
  }
}

function saveSeen(
  deps: GitHubDeps,
  { installation, repository }: Awaited<ReturnType<typeof readAsApp>>,
): Promise<FoundRepository> {
  return deps.sql.transaction(async (tx) => {
    const now = nowOf(deps.clock);
    const installationId = await saveInstallation(tx, installation, now);
    const [id] = await saveRepositories(tx, [repository], installationId, now);
    const [row] = await tx.query('read-repository', repositoryOfId, [id]);
    const found = repositoryOfRow(row!)!;
    await deps.queue.send([jobs.reconcileRepository(found.id), jobs.keepPlans(found.accountId)], tx);
    return found;
  });
}

/** @throws Refusal not-found if the installation cannot see it. */
async function readRowAs(
  deps: GitHubDeps,
  installationId: bigint,
  owner: string,
  name: string,
): Promise<GitHubRepository> {
  const client = await deps.github.asInstallation(installationId);
  try {
    return (await client.rest.repos.get({ owner, repo: name })).data as GitHubRepository;
  } catch (error) {
    throw isGitHubStatus(error, 404) ? repositoryAbsent(owner, name) : error;
  }
}

async function readAsApp(deps: GitHubDeps, owner: string, name: string) {
  const app = await deps.github.asApp();
  try {
    const { data } = await app.rest.apps.getRepoInstallation({ owner, repo: name });
    const installation = readInstallation(data);
    if (installation.suspendedAt) throw suspended(installation.account.login);
    return { installation, repository: await readRowAs(deps, BigInt(installation.id), owner, name) };
  } catch (error) {
    if (isGitHubStatus(error, 404)) throw repositoryAbsent(owner, name);
    const failure = classifyGitHubError(error, deps.clock.now());
    if (failure.kind === 'forbidden' && /suspended/i.test(failure.message)) throw suspended(owner);
    throw error;
  }
}

export const suspended = (owner: string) =>
  conflict(
    `Holdfast's installation on ${owner} is suspended. Unsuspend it in the owner's GitHub settings first.`,
  );

/**
 * Checks that Holdfast can write to a repository.
 * @throws Refusal conflict if its installation is suspended or it is archived.
 */
export function assertWritable(repository: FoundRepository): void {
  const { account, installation, archived, name } = repository;
  if (installation.suspendedAt) throw suspended(account.login);
  if (archived) {
    throw conflict(
      `${account.login}/${name} is archived on GitHub, so nothing can merge. Unarchive it first.`,
    );
  }
}
