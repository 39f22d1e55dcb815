import { cachePerService } from '../github/cache.ts';
import { nowOf } from '../time/clock.ts';
import type { Deps } from '../deps.ts';
import { conflict, notFound, Refusal } from '../errors.ts';
import { askGitHub } from '../github/ask-github.ts';
import { classifyGitHubError, isGitHubStatus } from '../github/github-error.ts';
import { knownAccount } from './find-account.ts';
import {
  readInstallation,
  saveInstallation,
  type GitHubRepository,
  saveRepositories,
} from './save-installation.ts';
import { type FoundRepository, repositoryNamed, repositoryOfId, repositoryOfRow } from './repository-rows.ts';
import { jobs } from '../database/queue/jobs.ts';

export type { FoundRepository } from './repository-rows.ts';

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
export async function findRepository(deps: Deps, owner: string, name: string): Promise<FoundRepository> {
  return (await knownRepository(deps, owner, name)) ?? lookUpRepository(deps, owner, name);
}

/**
 * Asks GitHub about a repository that the database does not know. Of an owner with the App, it first asks the
 * installation: only what that can see costs a question of the App.
 * @throws like `findRepository`.
 */
export async function lookUpRepository(deps: Deps, owner: string, name: string): Promise<FoundRepository> {
  // In a URL to GitHub, these two names would leave the path.
  if (name === '.' || name === '..') throw repositoryAbsent(owner, name);
  const counts = await deps.questions?.beforeName(nameOf(owner, name));
  if (counts === false && absentNames(deps).get(nameOf(owner, name))) throw repositoryAbsent(owner, name);
  return deps.github.once(`repository ${nameOf(owner, name)}`, () => lookUp(deps, owner, name));
}

/**
 * The refusal of a repository that the caller may not see. It counts like a name that is not there, so that nobody can
 * tell the two apart by their limits. @throws Refusal too-many-requests like `lookUpRepository`.
 */
export async function hidden(
  deps: Pick<Deps, 'questions'>,
  path: { owner: string; repository: string },
): Promise<Refusal> {
  await deps.questions?.beforeName(nameOf(path.owner, path.repository));
  return repositoryAbsent(path.owner, path.repository);
}

/** Counts as a question to GitHub about the repository that nobody needs to ask. @throws Refusal like `askGitHub`. */
export const askNothing = (deps: Deps, { installation, ...repository }: FoundRepository): Promise<null> =>
  askGitHub(deps, installation.id, whatIs(fullName(repository)), async () => null);

const nameOf = (owner: string, name: string): string => `${owner}/${name}`.toLowerCase();

const whatIs = (name: string): string => `what ${name} is`;

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

/** Names that GitHub did not know. A webhook, which fills the database, is faster than this forgets. */
const absentNames = cachePerService<string, true>(10_000, 600_000);

async function lookUp(deps: Deps, owner: string, name: string): Promise<FoundRepository> {
  const absent = absentNames(deps);
  const isKnownAbsent = () => absent.get(nameOf(owner, name)) === true;
  const about = whatIs(`${owner}/${name}`);
  try {
    const account = await knownAccount(deps, owner);
    if (account && !account.installation.suspendedAt)
      await askGitHub(deps, account.installation.id, about, async () => {
        if (isKnownAbsent()) throw repositoryAbsent(owner, name);
        return readAs(deps, account.installation.id, owner, name);
      });
    else if (isKnownAbsent()) throw repositoryAbsent(owner, name);
    await deps.questions?.beforeAppName();
    return await save(deps, await askGitHub(deps, 'App', about, () => readAsApp(deps, owner, name)));
  } catch (error) {
    const isAbsent = error instanceof Refusal && error.code === 'not-found';
    // From GitHub's answer on, however often it is asked for meanwhile.
    if (isAbsent && !isKnownAbsent()) absent.set(nameOf(owner, name), true);
    throw error;
  }
}

function save(
  deps: Deps,
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
async function readAs(
  deps: Deps,
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

async function readAsApp(deps: Deps, owner: string, name: string) {
  const app = await deps.github.asApp();
  try {
    const { data } = await app.rest.apps.getRepoInstallation({ owner, repo: name });
    const installation = readInstallation(data);
    if (installation.suspendedAt) throw suspended(installation.account.login);
    return { installation, repository: await readAs(deps, BigInt(installation.id), owner, name) };
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
