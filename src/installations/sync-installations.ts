import type { SqlTx } from '../database/sql.ts';
import type { GitHubClient } from '../github/github-app.ts';
import { defaultProducts } from './product.ts';
import { nowOf } from '../time/clock.ts';
import { classifyGitHubError, isGitHubStatus, nullIf404 } from '../github/github-error.ts';
import { defineTask } from '../database/queue/define-task.ts';
import { jobs } from '../database/queue/jobs.ts';
import type { GitHubDeps } from '../github/github-deps.ts';

/** A person or an organization, as GitHub shows it inside other objects. */
type GitHubAccount = { id: number; login: string; type: string };

/** What we store about an installation. */
type GitHubInstallation = {
  id: number;
  account: GitHubAccount;
  permissions: Record<string, string>;
  suspendedAt: string | null;
};

const upsertInstallation = `
  WITH owner AS (
    INSERT INTO accounts (id, login, login_key, type, default_products, seen_at)
    VALUES ($2, $3, $4, $5, $6::text[]::"Product"[], $7)
    ON CONFLICT (id) DO UPDATE SET login = excluded.login, login_key = excluded.login_key, type = excluded.type,
      seen_at = excluded.seen_at
    RETURNING id
  )
  INSERT INTO installations (id, account_id, permissions, suspended_at)
  SELECT $1::int8, owner.id, $8::jsonb, $9::timestamptz FROM owner
  ON CONFLICT (id) DO UPDATE SET account_id = excluded.account_id, permissions = excluded.permissions,
    suspended_at = excluded.suspended_at, deleted_at = NULL`;

/** Saves an installation and its account. A new account starts with the default products. */
export async function saveInstallation(
  sql: SqlTx,
  { id, account, permissions, suspendedAt }: GitHubInstallation,
  now: Date,
): Promise<bigint> {
  await sql.query('save-installation', upsertInstallation, [
    BigInt(id),
    ...[BigInt(account.id), account.login, account.login.toLowerCase(), account.type],
    [...defaultProducts],
    now,
    JSON.stringify(permissions),
    suspendedAt === null ? null : new Date(suspendedAt),
  ]);
  return BigInt(id);
}

type InstallationAnswer = Awaited<ReturnType<GitHubClient['rest']['apps']['getInstallation']>>['data'];

/** The fields of GitHub's installation that we store. Enterprises have no login, so we use their slug. */
export function readInstallation(answer: InstallationAnswer): GitHubInstallation {
  const account = answer.account;
  if (!account) throw new Error(`GitHub's installation ${answer.id} has no account`);
  return {
    id: Number(answer.id),
    account: {
      id: Number(account.id),
      login: 'login' in account ? account.login : account.slug,
      type: 'type' in account ? account.type : 'Enterprise',
    },
    permissions: answer.permissions as Record<string, string>,
    suspendedAt: answer.suspended_at,
  };
}

/** What we store about a repository. */
export type GitHubRepository = {
  id: number;
  name: string;
  private: boolean;
  archived: boolean;
  owner: GitHubAccount;
};

// Sorted by id, so that two transactions that save the same rows do not deadlock.
const upsertRepositories = `
  WITH given AS (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS given (id int8, name text, name_key text, private boolean,
      archived boolean, owner_id int8, login text, login_key text, type text)
  ), owners AS (
    INSERT INTO accounts (id, login, login_key, type, default_products, seen_at)
    SELECT DISTINCT ON (owner_id) owner_id, login, login_key, type, $4::text[]::"Product"[], $3::timestamptz
    FROM given ORDER BY owner_id
    ON CONFLICT (id) DO UPDATE SET login = excluded.login, login_key = excluded.login_key, type = excluded.type,
      seen_at = excluded.seen_at
    RETURNING id, default_products
  )
  INSERT INTO repositories (id, account_id, installation_id, name, name_key, private, archived, products, seen_at,
    reconcile_requested_at)
  SELECT given.id, owners.id, $2, name, name_key, private, archived, default_products, $3, $3
  FROM given JOIN owners ON owners.id = owner_id ORDER BY given.id
  ON CONFLICT (id) DO UPDATE SET account_id = excluded.account_id, installation_id = excluded.installation_id,
    name = excluded.name, name_key = excluded.name_key, private = excluded.private, archived = excluded.archived,
    seen_at = excluded.seen_at, reconcile_requested_at = excluded.reconcile_requested_at
  RETURNING id`;

/**
 * Saves repositories by their ids, which survive renames and transfers. A new repository gets its owner's default
 * products. Marks each for reconciliation; the caller sends the jobs.
 * @returns their ids.
 */
export async function saveRepositories(
  sql: SqlTx,
  repositories: GitHubRepository[],
  installationId: bigint,
  now: Date,
): Promise<bigint[]> {
  const given = repositories.map(({ id, name, private: isPrivate, archived, owner }) => ({
    id,
    name,
    name_key: name.toLowerCase(),
    private: isPrivate,
    archived,
    owner_id: owner.id,
    login: owner.login,
    login_key: owner.login.toLowerCase(),
    type: owner.type,
  }));
  const values = [JSON.stringify(given), installationId, now, [...defaultProducts]];
  return (await sql.query<{ id: bigint }>('save-repositories', upsertRepositories, values)).map(
    ({ id }) => id,
  );
}

// A repository that an installation can no longer see keeps its freezes, in case the App comes back.

/** An installation lost a repository. If another installation has it after a transfer, nothing changes. */
async function loseRepository(sql: SqlTx, id: bigint, installationId: bigint): Promise<void> {
  const text = 'UPDATE repositories SET installation_id = NULL WHERE id = $1 AND installation_id = $2';
  await sql.query('lose-repository', text, [id, installationId]);
}

const loseOthers = `
  UPDATE repositories SET installation_id = NULL
  WHERE installation_id = $1 AND id NOT IN (SELECT unnest($2::int8[]))`;

/** Removes all repositories from an installation except these. */
async function loseAllBut(sql: SqlTx, installationId: bigint, ids: bigint[]): Promise<void> {
  await sql.query('lose-others', loseOthers, [installationId, ids]);
}

const uninstall = `
  WITH gone AS (UPDATE installations SET deleted_at = $2 WHERE id = $1 AND deleted_at IS NULL)
  UPDATE repositories SET installation_id = NULL WHERE installation_id = $1`;

/** The App was uninstalled from an account. */
async function markUninstalled(sql: SqlTx, installationId: bigint, now: Date): Promise<void> {
  await sql.query('uninstall', uninstall, [installationId, now]);
}

/**
 * Reads every installation again, on GitHub and in the database, to find what was installed, removed or changed while
 * the service did not listen. Runs at each start.
 * @throws GitHub's error while it cannot answer. The job queue tries again.
 */
async function syncInstallations(deps: GitHubDeps): Promise<void> {
  const app = await deps.github.asApp();
  const present = await app.paginate(app.rest.apps.listInstallations, { per_page: 100 });
  const known = await deps.db.installation.findMany({ where: { deletedAt: null }, select: { id: true } });
  const ids = new Set([...present, ...known].map(({ id }) => BigInt(id)));
  await deps.queue.send([...ids].map((id) => jobs.syncInstallation(id)));
}

export const syncInstallationsTask = defineTask(jobs.syncInstallations, syncInstallations);

/**
 * Updates one installation in the database from GitHub: whether it is gone, suspended or active, and its repositories.
 * Every repository is reconciled afterwards.
 * @throws GitHub's error while it cannot answer. The job queue tries again.
 */
export async function syncInstallation(deps: GitHubDeps, installationId: bigint): Promise<void> {
  const app = await deps.github.asApp();
  const answer = await nullIf404(app.rest.apps.getInstallation({ installation_id: Number(installationId) }));
  const now = nowOf(deps.clock);
  if (!answer) {
    await markUninstalled(deps.sql, installationId, now);
    deps.log.info({ installationId: String(installationId) }, 'installation is gone');
    return;
  }
  const installation = readInstallation(answer.data);
  await saveInstallation(deps.sql, installation, now);
  const ids = installation.suspendedAt ? null : await saveAll(deps, installationId, now);
  if (ids) await loseAllBut(deps.sql, installationId, ids);
  const accountId = BigInt(installation.account.id);
  await deps.queue.send([jobs.keepPlans(accountId), jobs.keepTeams(accountId)]);
  deps.log.info(
    { account: installation.account.login, repositories: ids?.length, suspended: !ids },
    'installation read from GitHub',
  );
}

/**
 * Saves the repositories of an installation, each page from GitHub with one statement, so that API requests can run in
 * between. The jobs follow after the marked rows. If a crash loses jobs, the sweep sends them.
 * @returns their ids; null if GitHub says that the installation was just suspended.
 */
async function saveAll(deps: GitHubDeps, installationId: bigint, now: Date): Promise<bigint[] | null> {
  const ids: bigint[] = [];
  try {
    const { paginate, rest } = await deps.github.asInstallation(installationId);
    const pages = paginate.iterator(rest.apps.listReposAccessibleToInstallation, { per_page: 100 });
    for await (const { data } of pages) {
      const page = data as unknown as GitHubRepository[];
      const saved = await saveRepositories(deps.sql, page, installationId, now);
      await deps.queue.send(saved.map((id) => jobs.reconcileRepository(id)));
      ids.push(...saved);
    }
    return ids;
  } catch (error) {
    if (classifyGitHubError(error, deps.clock.now()).kind === 'forbidden') return null;
    throw error;
  }
}

export const syncInstallationTask = defineTask(
  jobs.syncInstallation,
  (deps: GitHubDeps, { installationId }) => syncInstallation(deps, BigInt(installationId)),
);

/**
 * Updates one repository in the database from GitHub: its name, its owner, whether it is archived, or that the
 * installation can no longer see it. It is reconciled afterwards.
 * @param installationId the installation to ask through; null if the event named none.
 * @returns `later` if its installation must be read first.
 * @throws GitHub's error while it cannot answer. The job queue tries again.
 */
export async function syncRepository(
  deps: GitHubDeps,
  id: bigint,
  installationId: bigint | null,
): Promise<'done' | 'later'> {
  const known = await deps.db.repository.findUnique({
    where: { id },
    select: { installationId: true, accountId: true },
  });
  const through = installationId ?? known?.installationId ?? null;
  if (through === null) return 'done';
  const repository = await readById(deps, id, through);
  if (repository === 'suspended') return 'done';
  const now = nowOf(deps.clock);
  const owners = new Set([known?.accountId, repository && BigInt(repository.owner.id)]);
  const plans = [...owners].flatMap((owner) => (owner ? [jobs.keepPlans(owner)] : []));
  if (!repository) {
    await loseRepository(deps.sql, id, through);
    await deps.queue.send(plans);
    return 'done';
  }
  return deps.sql.transaction(async (tx) => {
    if (!(await isKnown(tx, through))) {
      // It was transferred to an owner whose installation we have not read yet.
      await deps.queue.send([jobs.syncInstallation(through)], tx);
      return 'later';
    }
    await saveRepositories(tx, [repository], through, now);
    await deps.queue.send([jobs.reconcileRepository(id), ...plans], tx);
    return 'done';
  });
}

const isKnown = async (tx: SqlTx, installationId: bigint): Promise<boolean> =>
  (await tx.query('known-installation', 'SELECT FROM installations WHERE id = $1', [installationId])).length >
  0;

/**
 * The repository as the installation sees it; null if GitHub says that it cannot see it. A refusal does not count as
 * that: a rotated key or an IP allow list is temporary, and we must not lose the repository because of it.
 */
async function readById(
  deps: GitHubDeps,
  id: bigint,
  through: bigint,
): Promise<GitHubRepository | 'suspended' | null> {
  try {
    const client = await deps.github.asInstallation(through);
    const { data } = await client.request('GET /repositories/{id}', { id: Number(id) });
    return data as GitHubRepository;
  } catch (error) {
    if (isGitHubStatus(error, 404)) return null;
    const failure = classifyGitHubError(error, deps.clock.now());
    if (failure.kind === 'forbidden' && /suspended/i.test(failure.message)) return 'suspended';
    throw error;
  }
}

export const syncRepositoryTask = defineTask(
  jobs.syncRepository,
  async (deps: GitHubDeps, { repositoryId, installationId }) => {
    await syncRepository(deps, BigInt(repositoryId), installationId === null ? null : BigInt(installationId));
  },
);
