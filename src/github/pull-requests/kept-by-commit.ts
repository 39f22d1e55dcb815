import { LRUCache } from 'lru-cache';
import type { GitHubApp } from '../github-app.ts';

const mostKept = 20_000;

/**
 * Keeps what never changes about a commit, so that we ask only about pull requests that have moved. Each service in this
 * process has its own, because each GitHub has its own commits.
 */
export function keptByCommit<Value extends string | number>(): (
  github: GitHubApp,
) => LRUCache<string, Value> {
  const keptBy = new WeakMap<GitHubApp, LRUCache<string, Value>>();
  return (github) => {
    const kept = keptBy.get(github) ?? new LRUCache({ max: mostKept });
    keptBy.set(github, kept);
    return kept;
  };
}
