// `auth/` says who is calling and what they may do, for every road: keys, tokens, jobs of Actions, sessions, comments
// and Slack. GitHub decides; answers are kept for seconds.
import type { GitHubDeps } from '../github/github-deps.ts';
import type { Permissions } from './permissions.ts';

/** What asks who may do what needs this. */
export type AuthDeps = GitHubDeps & {
  /** What GitHub lets people and tokens do. */
  permissions: Permissions;
};
