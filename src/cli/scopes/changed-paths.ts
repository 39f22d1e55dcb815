import { execFile } from 'node:child_process';
import { misused } from '../stop.ts';
import type { World } from '../world.ts';

type Machine = Pick<World, 'env' | 'cwd'>;

/**
 * The paths that changed from the merge base of two commits to `head`, as on the page "Files changed" of a pull
 * request: from the root of the repository, with `/` on every system. A renamed file counts with both of its names.
 * @param base a commit, such as a branch; head is one, too.
 * @throws Stop if this is not a repository, or if a commit or its history is missing.
 */
export async function changedPaths(machine: Machine, base: string, head: string): Promise<string[]> {
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
