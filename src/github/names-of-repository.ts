import { within } from '../time/clock.ts';
import { missingPermissions } from './app-manifest.ts';
import { mayAskNow, pauseIfLimited } from './ask-github.ts';
import { answersPerService } from './cache.ts';
import type { GitHubClient } from './github-app.ts';
import type { GitHubDeps } from './github-deps.ts';

// The names that people can mean in a repository, for warnings about those that nothing has.

/** The most milliseconds that a person who saves a freeze waits. */
const namesPatience = 2_000;
/** Milliseconds that what exists counts, and milliseconds until we ask again for what does not. */
const namesFreshFor = 600_000;
const absentFor = 10_000;
const mostNamesKept = 1_000;
/** GitHub gives 100 names a page. Of repositories with more pages we say nothing. */
const mostPagesOfNames = 5;
/** Questions for each minute and installation, and the share of GitHub's hour that they leave. */
const perMinute = 120;
const namesReserve = 1 / 2;

type Named = { owner: string; repo: string; per_page: number; page: number; request: object };

/** Each kind of names, and the permission that GitHub wants for its list. */
const kindsOfNames = {
  environments: {
    needs: { actions: 'read' },
    list: async ({ rest }: GitHubClient, named: Named) =>
      (await rest.repos.getAllEnvironments(named)).data.environments?.map(({ name }) => name) ?? [],
  },
  labels: {
    needs: { pull_requests: 'read' },
    list: async ({ rest }: GitHubClient, named: Named) =>
      (await rest.issues.listLabelsForRepo(named)).data.map(({ name }) => name),
  },
} as const;
type KindOfNames = keyof typeof kindsOfNames;

/** The fields of the repository that this needs. */
export type Naming = {
  id: bigint;
  name: string;
  account: { login: string };
  installation: { id: bigint; pausedUntil: Date | null; readsPausedUntil: Date | null; permissions: unknown };
};

const answersOf = answersPerService<string[] | null>(mostNamesKept, (names) =>
  names ? namesFreshFor : absentFor,
);

/**
 * The names of a kind in a repository. What exists is believed for some minutes; before something counts as missing, GitHub
 * is asked again.
 * @param isEnough whether names that were read earlier answer the question.
 * @returns null if GitHub does not say soon, or may not be asked; never throws.
 */
export async function namesOfRepository(
  deps: GitHubDeps,
  repository: Naming,
  kind: KindOfNames,
  isEnough: (names: string[]) => boolean,
): Promise<string[] | null> {
  const answers = answersOf(deps);
  const key = `${kind} ${repository.id}`;
  try {
    const known = await within(namesPatience, answers.known(key) ?? Promise.resolve(null));
    if (known && isEnough(known)) return known;
    return await within(
      namesPatience,
      answers.get(key, () => readNames(deps, repository, kind), absentFor),
    );
  } catch (error) {
    deps.log.debug({ err: error }, `the ${kind} of a repository could not be read in time`);
    return null;
  }
}

async function readNames(deps: GitHubDeps, repository: Naming, kind: KindOfNames): Promise<string[] | null> {
  const { id: installation, pausedUntil, readsPausedUntil, permissions } = repository.installation;
  const { needs, list } = kindsOfNames[kind];
  const granted = { permissions: permissions as Record<string, string> };
  const isPaused = (until: Date | null) => until !== null && until.getTime() > deps.clock.now();
  if (isPaused(pausedUntil) || isPaused(readsPausedUntil) || missingPermissions(granted, needs).length > 0)
    return null;
  const count = { name: `names ${installation}`, perMinute };
  if ((await mayAskNow(deps, installation, namesReserve, count)) !== 'yes') return null;
  const client = await deps.github.asInstallation(installation, permissions);
  const request = { signal: AbortSignal.timeout(namesPatience) };
  const named = { owner: repository.account.login, repo: repository.name, per_page: 100, request };
  const all: string[] = [];
  try {
    for (let page = 1; page <= mostPagesOfNames; page += 1) {
      const names = await list(client, { ...named, page });
      all.push(...names);
      if (names.length < named.per_page) return all;
    }
    return null;
  } catch (error) {
    await pauseIfLimited(deps, installation, error);
    throw error;
  }
}
