import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { conflict, notFound } from '../errors.ts';
import { askGitHub } from '../github/ask-github.ts';
import { classifyGitHubError, isGitHubStatus } from '../github/github-error.ts';
import { readInstallation } from './read-installation.ts';
import { type FoundRepository, repositoryNamed, repositoryOfId, repositoryOfRow } from './repository-rows.ts';
import { saveInstallation } from './save-installation.ts';
import { jobs } from '../queue/jobs.ts';
import { type GitHubRepository, saveRepositories } from './save-repositories.ts';

export type { FoundRepository } from './repository-rows.ts';

/** `owner/name`, as people write it. */
export const fullName = ({ account, name }: { account: { login: string }; name: string }): string =>
  `${account.login}/${name}`;

export const repositoryAbsent = (owner: string, name: string) =>
  notFound(`There is no repository ${owner}/${name} with Holdfast installed that this credential can see.`);

/**
 * The repository with this name, in any letter case. Asks GitHub about an unknown repository.
 * @throws Refusal not-found if the App is not installed; unavailable while GitHub does not answer; conflict if its
 *   installation was suspended before we ever saw the repository.
 */
export async function findRepository(deps: Deps, owner: string, name: string): Promise<FoundRepository> {
  return (await knownRepository(deps, owner, name)) ?? lookUpRepository(deps, owner, name);
}

/**
 * Asks GitHub about a repository that the database does not know.
 * @throws like `findRepository`.
 */
export async function lookUpRepository(deps: Deps, owner: string, name: string): Promise<FoundRepository> {
  // In a URL to GitHub, these two names would leave the path.
  if (name === '.' || name === '..') throw repositoryAbsent(owner, name);
  return deps.github.once(`repository ${owner}/${name}`.toLowerCase(), () => lookUp(deps, owner, name));
}

/** The repository with this name, if the database knows one where the App is installed. Does not ask GitHub. */
export async function knownRepository(
  deps: Pick<Deps, 'sql'>,
  owner: string,
  name: string,
): Promise<FoundRepository | null> {
  const keys = [owner.toLowerCase(), name.toLowerCase()];
  const [row] = await deps.sql.query('find-repository', repositoryNamed('$1', '$2'), keys);
  return row ? repositoryOfRow(row) : null;
}

async function lookUp(deps: Deps, owner: string, name: string): Promise<FoundRepository> {
  const { installation, repository } = await askGitHub(deps, 'App', `what ${owner}/${name} is`, () =>
    readFromGitHub(deps, owner, name),
  );
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

async function readFromGitHub(deps: Deps, owner: string, name: string) {
  const app = await deps.github.asApp();
  try {
    const { data } = await app.rest.apps.getRepoInstallation({ owner, repo: name });
    const installation = readInstallation(data);
    if (installation.suspendedAt) throw suspended(installation.account.login);
    const client = await deps.github.asInstallation(BigInt(installation.id));
    const repository = (await client.rest.repos.get({ owner, repo: name })).data as GitHubRepository;
    return { installation, repository };
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
