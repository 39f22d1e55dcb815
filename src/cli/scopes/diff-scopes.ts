import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { readJsonFile, textIn } from '../memory.ts';
import { misused } from '../stop.ts';
import { nameOfPullRequest, type PullRequestTarget, readPullRequestTarget } from '../target.ts';
import type { World } from '../world.ts';
import {
  readScopesFile,
  type ScopesFile,
  ScopesFileError,
  type TouchedScopes,
  touchedScopes,
} from './scopes-file.ts';

/** The options that name the change. By default, the run of GitHub Actions names it. */
type DiffOptions = { file?: string; base?: string; head?: string };

export type DiffScopes = TouchedScopes & {
  /** null: a merge group, or a change without a named pull request. */
  pullRequest: PullRequestTarget | null;
  isMergeGroup: boolean;
  /** The branch that it merges into, if the run has it. */
  branch: string | null;
  changed: string[];
  /** As the API takes it. */
  pushed: { scopes: string[]; all_scopes: boolean };
};

const usualFile = 'scopes.yml';

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
  const target = named === null ? null : readPullRequestTarget(named);
  const isOfRun = run !== null && (target === null || isSameScope(target, run.pullRequest));
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
  let bytes: Buffer;
  try {
    bytes = readFileSync(resolve(cwd, path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw misused((error as Error).message);
    throw misused(
      `There is no ${path}. Write one that says which paths each scope has, or name another with --file.`,
    );
  }
  try {
    return readScopesFile(textIn(bytes, path), path);
  } catch (error) {
    if (error instanceof ScopesFileError) throw misused(error.message);
    throw error;
  }
}

/** Names ignore case. */
const isSameScope = (one: PullRequestTarget, other: PullRequestTarget | null): boolean =>
  other !== null &&
  one.number === other.number &&
  `${one.owner}/${one.repository}`.toLowerCase() === `${other.owner}/${other.repository}`.toLowerCase();

/** The change of a run of GitHub Actions: from `base` to `head`, two SHAs. */
type ChangeOfRun = {
  /** null: a merge group, which has the scopes of its pull requests. */
  pullRequest: PullRequestTarget | null;
  base: string;
  head: string;
  /** The branch that the pull request merges into; null if it is not known. */
  branch: string | null;
};

// The payloads of events about a pull request or a merge group. Source:
// https://docs.github.com/en/webhooks/webhook-events-and-payloads
type Event = {
  repository?: { full_name?: string };
  pull_request?: { number?: number; base?: { sha?: string; ref?: string }; head?: { sha?: string } };
  merge_group?: { base_sha?: string; head_sha?: string };
};

/** Reads the event of this run. @returns null outside of GitHub Actions, and for events of another kind. */
function changeOfRun({ env }: Pick<World, 'env'>): ChangeOfRun | null {
  const path = env.GITHUB_EVENT_PATH?.trim();
  if (!path) return null;
  const event = readJsonFile(path) as Event | null;
  if (!event) throw misused(`${path} is not there. GITHUB_EVENT_PATH names the event of a run: unset it.`);
  const { repository, pull_request: pull, merge_group: group } = event;
  if (group?.base_sha && group.head_sha)
    return { pullRequest: null, base: group.base_sha, head: group.head_sha, branch: null };
  if (!pull?.base?.sha || !pull.head?.sha) return null;
  const pullRequest = readPullRequestTarget(`${repository?.full_name}#${pull.number}`);
  return { pullRequest, base: pull.base.sha, head: pull.head.sha, branch: pull.base.ref ?? null };
}

type Machine = Pick<World, 'env' | 'cwd'>;

/**
 * The paths that changed from the merge base of two commits to `head`, as on the page "Files changed" of a pull
 * request: from the root of the repository, with `/` on every system. A renamed file counts with both of its names.
 * @param base a commit, such as a branch; head is one, too.
 * @throws Stop if this is not a repository, or if a commit or its history is missing.
 */
async function changedPaths(machine: Machine, base: string, head: string): Promise<string[]> {
  if ((await git(machine, 'rev-parse', '--is-shallow-repository')).trim() === 'true')
    throw misused(
      'This checkout is shallow: it lacks the commit where the pull request left its base. Check out all history: actions/checkout with fetch-depth: 0, or git fetch --unshallow.',
    );
  const [from, to] = [await commitOf(machine, base), await commitOf(machine, head)];
  const how = ['--name-only', '-z', '--no-renames', '--no-relative', '--ignore-submodules=none'];
  const paths = await git(machine, 'diff', ...how, '--no-ext-diff', `${from}...${to}`, '--');
  return paths.split('\0').filter((path) => path !== '');
}

/** The SHA of a commit. `--verify` takes one commit, and refuses options. */
async function commitOf(machine: Machine, name: string): Promise<string> {
  try {
    return (await git(machine, 'rev-parse', '--verify', `${name}^{commit}`)).trim();
  } catch {
    throw misused(
      `git does not have the commit "${name}" here. Fetch it, with its history, or name another with --base and --head.`,
    );
  }
}

/** The output of git. @throws Stop with git's message if it fails. */
function git({ env, cwd }: Machine, ...args: string[]): Promise<string> {
  const options = { cwd, env: env as NodeJS.ProcessEnv, maxBuffer: Infinity, windowsHide: true };
  return new Promise((resolve, reject) => {
    execFile('git', args, options, (error, output, said) => {
      if (!error) resolve(output);
      else if ((error as NodeJS.ErrnoException).code === 'ENOENT')
        reject(misused('git is not installed here. Install it: it knows which paths changed.'));
      else reject(misused(`git cannot tell which paths changed: ${said.trim() || error.message}`));
    });
  });
}

/** How many paths of a scope are shown. The rest is counted. */
const mostPathsShown = 3;

/** A row for each touched scope, with the paths that touch it. */
export function rowsOfDiff({ scopes, all }: DiffScopes): [scope: string, by: string][] {
  const rows = [...scopes].map(([name, paths]): [string, string] => [name, shownPaths(paths)]);
  return all.length > 0 ? [['(everything)', shownPaths(all)], ...rows] : rows;
}

function shownPaths(paths: string[]): string {
  const more = paths.length - mostPathsShown;
  return paths.slice(0, mostPathsShown).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** A sentence about what a change touches and what was pushed. */
export function conclusionOf(found: DiffScopes, isPushed: boolean): string {
  const { pullRequest, pushed, changed, isMergeGroup } = found;
  const subject = isMergeGroup
    ? 'This merge group'
    : pullRequest
      ? nameOfPullRequest(pullRequest)
      : 'This change';
  const what = pushed.all_scopes ? 'everything' : pushed.scopes.join(', ') || 'no scope';
  const of = `(${changed.length} changed ${changed.length === 1 ? 'path' : 'paths'})`;
  const outcome = isMergeGroup
    ? ' Nothing was pushed: its pull requests have their own scopes.'
    : isPushed
      ? ''
      : ' Nothing was pushed.';
  return `${subject} touches ${what} ${of}.${outcome}`;
}
