// `github/` asks GitHub: clients, errors and budgets, the sealed credentials of the Apps, and what Holdfast reads there
// about pull requests. `limits/` bounds what callers and strangers can make it ask.
import type { Ground } from '../database/ground.ts';
import type { GitHubApp } from './github-app.ts';
import type { CallerQuestions } from './limits/caller-limits.ts';

/** What asks GitHub needs this. */
export type GitHubDeps = Ground & {
  github: GitHubApp;
  /**
   * Counts what a caller makes us ask GitHub, and throws if it is too much. Absent for the service's own work, which
   * nobody must delay.
   */
  questions?: CallerQuestions;
};
