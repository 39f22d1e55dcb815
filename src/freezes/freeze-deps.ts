// `freezes/` is the freeze: its fields, its window and its row; making, changing, ending and restoring one; and judging
// by its conditions whether it holds a pull request. Not who waits, nor what GitHub shows.
import type { GitHubDeps } from '../github/github-deps.ts';
import type { FoundRepository } from '../installations/find-repository.ts';
import type { Freeze } from './freeze.ts';
import type { Ahead } from './freeze-warnings.ts';

/** What makes and changes freezes needs this. */
export type FreezeDeps = GitHubDeps & {
  /** Checks what a freeze would do before it is saved. Never throws, and takes 2 s at most. */
  lookAhead: (deps: FreezeDeps, repository: FoundRepository, freeze: Freeze) => Promise<Ahead>;
};
