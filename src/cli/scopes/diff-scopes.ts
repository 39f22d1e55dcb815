import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { misused } from '../stop.ts';
import { type PullRequest, readPullRequest } from '../target.ts';
import type { World } from '../world.ts';
import { changedPaths } from './changed-paths.ts';
import { changeOfRun } from './github-event.ts';
import type { Pushed } from './push-scopes.ts';
import { readScopesFile, type ScopesFile, ScopesFileError } from './scopes-file.ts';
import { type TouchedScopes, touchedScopes } from './touched-scopes.ts';

/** The options that name the change. By default, the run of GitHub Actions names it. */
export type DiffOptions = { file?: string; base?: string; head?: string };

/** What a change touches. */
export type DiffScopes = TouchedScopes & {
  /** null: a merge group, or a change without a named pull request. */
  pullRequest: PullRequest | null;
  isMergeGroup: boolean;
  /** The branch that it merges into, if the run has it. */
  branch: string | null;
  changed: string[];
  pushed: Pushed;
};

export const usualFile = 'scopes.yml';

/**
 * Finds the scopes that the changed paths of a pull request touch.
 * @param named the pull request; null: that of the run.
 * @throws Stop if the file, the commits or the history are missing.
 */
export async function scopesOfDiff(
  world: World,
  named: string | null,
  options: DiffOptions,
): Promise<DiffScopes> {
  const run = changeOfRun(world);
  const target = named === null ? null : readPullRequest(named);
  const isOfRun = run !== null && (target === null || isSame(target, run.pullRequest));
  const base = options.base ?? (isOfRun ? run.base : undefined);
  if (base === undefined)
    throw misused(
      'Say what the change is compared with, such as --base origin/main. Only in runs of GitHub Actions for this pull request, or for a merge group, you can leave it out.',
    );
  // The file first: its mistakes are the same for every change.
  const file = fileAt(world, options.file ?? usualFile);
  const changed = await changedPaths(world, base, options.head ?? (isOfRun ? run.head : 'HEAD'));
  const touched = touchedScopes(file, changed);
  return {
    ...touched,
    pullRequest: target ?? run?.pullRequest ?? null,
    isMergeGroup: target === null && run !== null && run.pullRequest === null,
    branch: isOfRun ? run.branch : null,
    changed,
    pushed: { scopes: [...touched.scopes.keys()], all_scopes: touched.all.length > 0 },
  };
}

function fileAt({ cwd }: World, path: string): ScopesFile {
  let text: string;
  try {
    text = readFileSync(resolve(cwd, path), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw misused((error as Error).message);
    throw misused(
      `There is no ${path}. Write one that says which paths each scope has, or name another with --file.`,
    );
  }
  try {
    return readScopesFile(text, path);
  } catch (error) {
    if (error instanceof ScopesFileError) throw misused(error.message);
    throw error;
  }
}

/** Names ignore case. */
const isSame = (one: PullRequest, other: PullRequest | null): boolean =>
  other !== null &&
  one.number === other.number &&
  `${one.owner}/${one.repository}`.toLowerCase() === `${other.owner}/${other.repository}`.toLowerCase();
