// A copy of the repository as a clean clone has it, and the environment of a shell in it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repositoryRoot = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Every file that a clean clone has, or would have after a commit of all that is there. It asks a repository of its own,
 * so that a copy without history does too.
 */
export function trackedFiles(): string[] {
  const gitDir = mkdtempSync(join(tmpdir(), 'holdfast-git-'));
  const git = (...words: string[]) => execFileSync('git', words, { cwd: repositoryRoot, encoding: 'utf8' });
  try {
    git('init', '--quiet', '--bare', gitDir);
    const listed = ['ls-files', '-z', '--others', '--exclude-standard'];
    return git(`--git-dir=${gitDir}`, `--work-tree=${repositoryRoot}`, ...listed)
      .split('\0')
      .filter(Boolean);
  } finally {
    rmSync(gitDir, { recursive: true });
  }
}

export async function copyFiles(paths: string[], to: string): Promise<void> {
  for (const path of paths) {
    await mkdir(dirname(join(to, path)), { recursive: true });
    await copyFile(join(repositoryRoot, path), join(to, path));
  }
}

/**
 * Makes a folder of programs with the Node that runs the tests and nothing else, so that every account finds that one.
 * @returns the environment of a shell that finds it first, without what npm and the tests set for themselves.
 */
export async function cleanEnvironment(programs: string): Promise<Record<string, string>> {
  await mkdir(programs, { recursive: true });
  await copyFile(process.execPath, join(programs, 'node'));
  const kept = Object.entries(process.env).filter(
    ([name]) =>
      !/^(?:npm_(?!config_(?:registry|cafile)$)|VITEST|NODE_ENV$|NODE_OPTIONS$|INIT_CWD$)/i.test(name),
  );
  // Without folders of this repository's own programs.
  const path = process.env['PATH']!.split(':').filter((folder) => !folder.includes('node_modules'));
  return { ...(Object.fromEntries(kept) as Record<string, string>), PATH: [programs, ...path].join(':') };
}
