import { latestStatuses } from './mergeability.ts';
import type { CommitStatus, PullRequest, Repository } from './model.ts';

/** Longer than the age of any stale answer. */
const kept = 60_000;

/** Keeps recent states of pull requests, for stale answers. Runs on the real clock. */
export class FormerVersions {
  readonly #versions = new Map<PullRequest, { at: number; version: PullRequest }[]>();
  readonly #postedAt = new WeakMap<CommitStatus, number>();

  /** Call it after each change. */
  changed(pr: PullRequest): void {
    const now = Date.now();
    const versions = this.#versions.get(pr) ?? [];
    // The youngest of the old states is still needed: it applied until the next one.
    while (versions.length > 1 && versions[1]!.at < now - kept) versions.shift();
    versions.push({ at: now, version: copy(pr) });
    this.#versions.set(pr, versions);
  }

  posted(status: CommitStatus): void {
    this.#postedAt.set(status, Date.now());
  }

  /** The former pull requests of a repository, without those that were opened later. */
  pullRequests(repository: Repository, asOf: number | null): PullRequest[] {
    const all = [...repository.pullRequests.values()];
    return all.map((pr) => this.pullRequest(pr, asOf)).filter((pr) => pr !== undefined);
  }

  pullRequest(pr: PullRequest, asOf: number | null): PullRequest | undefined {
    if (asOf === null) return pr;
    return this.#versions.get(pr)?.findLast(({ at }) => at <= asOf)?.version;
  }

  /** The newest status of each context, without those that were posted later. */
  statuses(repository: Repository, sha: string, asOf: number | null): CommitStatus[] {
    if (asOf === null) return latestStatuses(repository, sha);
    const posted = repository.statuses.get(sha) ?? [];
    const old = posted.filter((status) => (this.#postedAt.get(status) ?? 0) <= asOf);
    return latestStatuses({ ...repository, statuses: new Map([[sha, old]]) }, sha);
  }
}

/** Deep enough for the fields that actions change in place. */
function copy(pr: PullRequest): PullRequest {
  const lists = Object.entries(pr).flatMap(([name, value]) =>
    Array.isArray(value) ? [[name, [...value]]] : [],
  );
  return { ...pr, ...Object.fromEntries(lists), head: { ...pr.head } };
}
