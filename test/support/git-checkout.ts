// Real git repositories in a temporary folder.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export type Checkout = {
  folder: string;
  git(...args: string[]): string;
  /** Writes files, takes away those that are null, and commits. @returns the SHA. */
  commit(files: Record<string, string | null>): string;
  /** A copy of this with so many commits of its history. */
  shallowCopy(depth: number): Checkout;
  remove(): void;
};

/** What git reads of the machine would differ from one to the next. */
const env = {
  PATH: process.env['PATH']!,
  HOME: '/nowhere',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'ada',
  GIT_AUTHOR_EMAIL: 'ada@acme.example',
  GIT_COMMITTER_NAME: 'ada',
  GIT_COMMITTER_EMAIL: 'ada@acme.example',
};

/** A repository without commits, on the branch `main`. */
export function newCheckout(): Checkout {
  const checkout = checkoutAt(mkdtempSync(join(tmpdir(), 'holdfast-checkout-')));
  checkout.git('init', '--quiet', '--initial-branch=main');
  return checkout;
}

function checkoutAt(folder: string): Checkout {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' }).trim();
  return {
    folder,
    git,
    commit(files) {
      for (const [path, text] of Object.entries(files)) {
        const whole = join(folder, path);
        mkdirSync(dirname(whole), { recursive: true });
        if (text === null) rmSync(whole);
        else writeFileSync(whole, text);
      }
      git('add', '--all');
      git('commit', '--quiet', '--message', 'Change');
      return git('rev-parse', 'HEAD');
    },
    shallowCopy(depth) {
      const copy = mkdtempSync(join(tmpdir(), 'holdfast-checkout-'));
      git('clone', '--quiet', `--depth=${depth}`, `file://${folder}`, copy);
      return checkoutAt(copy);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
