// An older version of Holdfast, from the history of this repository, with the packages of then.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cleanEnvironment } from '../support/clean-copy.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const git = (...words: string[]): Buffer =>
  execFileSync('git', words, { cwd: root, maxBuffer: 2 ** 28, stdio: ['ignore', 'pipe', 'ignore'] });

const versionAt = (commit: string): string | null => {
  try {
    return JSON.parse(git('show', `${commit}:package.json`).toString()).version;
  } catch {
    return null;
  }
};

/**
 * The last commit of a version before HEAD, or HEAD; null where the history does not have it. UPGRADE_FROM names another.
 */
export function lastCommitOf(version: string): string | null {
  if (process.env['UPGRADE_FROM']) return process.env['UPGRADE_FROM'];
  if (versionAt('HEAD') === version) return 'HEAD';
  try {
    const changes = git('log', '--format=%H', '--', 'package.json').toString().trim().split('\n');
    return changes.map((commit) => `${commit}^`).find((before) => versionAt(before) === version) ?? null;
  } catch {
    return null;
  }
}

export type OlderCode = { main: string; migrations: string[] };

/** Puts the code of a commit into a new folder, ready to start. npm installs its packages, where it can from its cache. */
export async function checkOut(commit: string, folder: string): Promise<OlderCode> {
  mkdirSync(folder);
  const paths = ['src', 'prisma', 'bin', 'package.json'];
  // What it reads besides, of versions that have it.
  const more = git('ls-tree', '--name-only', commit)
    .toString()
    .split('\n')
    .filter((name) => /\.(yml|json)$/.test(name));
  execFileSync('tar', ['-x', '-C', folder], {
    input: git('archive', commit, ...new Set([...paths, ...more])),
  });
  const env = {
    ...(await cleanEnvironment(`${folder}-programs`)),
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
  };
  const options = { cwd: folder, stdio: 'ignore', env } as const;
  const quick = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
  execFileSync('npm', ['ci', '--omit=dev', ...quick], options);
  execFileSync(process.execPath, ['node_modules/prisma/build/index.js', 'generate'], options);
  return { main: join(folder, 'src/main.ts'), migrations: migrationsIn(folder) };
}

export const migrationsIn = (folder = root): string[] =>
  readdirSync(join(folder, 'prisma/migrations'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
