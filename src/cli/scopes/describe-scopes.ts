import { nameOfPullRequest } from '../target.ts';
import type { DiffScopes } from './diff-scopes.ts';

/** How many paths of a scope are shown. The rest is counted. */
const mostShown = 3;

/** A row for each touched scope, with the paths that touch it. */
export function rowsOf({ scopes, all }: DiffScopes): [scope: string, by: string][] {
  const rows = [...scopes].map(([name, paths]): [string, string] => [name, shownPaths(paths)]);
  return all.length > 0 ? [['(everything)', shownPaths(all)], ...rows] : rows;
}

function shownPaths(paths: string[]): string {
  const more = paths.length - mostShown;
  return paths.slice(0, mostShown).join(', ') + (more > 0 ? ` and ${more} more` : '');
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
