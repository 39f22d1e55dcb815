import { fullNameOf, type World } from '../state/world.ts';
import { stackOf, trunkOf } from '../state/stacks.ts';
import { moveBranch } from '../state/activities.ts';
import { nodeId } from '../state/ids.ts';
import type { Account, ChangedFile, MergedHow, PullRequest, Repository } from '../state/model.ts';
import type { PullRequestEvents } from './pull-request-events.ts';

export type FileSpec =
  string | { path: string; status?: ChangedFile['status']; previousPath?: string; additions?: number };

/**
 * `author` is a name. With the login of an account it also has that account's address, which nobody checks. Fields that
 * are left out get plausible values.
 */
export type CommitSpec = {
  message?: string;
  author?: string;
  verified?: boolean;
  signedByGitHub?: boolean;
  parents?: number;
  date?: Date;
};

export interface NewPullRequest {
  author: string;
  title?: string;
  body?: string;
  base?: string;
  head?: string;
  labels?: string[];
  files?: FileSpec[];
  draft?: boolean;
  /** The head lives in the author's fork. */
  fork?: boolean;
  /** To share a SHA with another pull request. */
  headSha?: string;
  autoMerge?: boolean;
  milestone?: string;
  assignees?: string[];
  reviewRequests?: string[];
  /** Oldest first; the last one is the head. */
  commits?: CommitSpec[];
}

/** Opening, pushing to and ending pull requests. */
export class PullRequests {
  readonly #world: World;
  readonly #events: PullRequestEvents;
  readonly #addFork: (fullName: string, isPrivate: boolean) => void;

  constructor(
    world: World,
    events: PullRequestEvents,
    addFork: (fullName: string, isPrivate: boolean) => void,
  ) {
    this.#world = world;
    this.#events = events;
    this.#addFork = addFork;
  }

  open(repository: Repository, author: Account, given: Omit<NewPullRequest, 'author'>): PullRequest {
    const world = this.#world;
    const number = repository.pullRequests.size + 1;
    const id = world.ids.next('pull request', 1_900_000_000);
    const head = given.fork ? this.#forkOf(repository, author) : repository;
    const ref = given.head ?? `feature-${number}`;
    const sha = given.headSha ?? head.branches.get(ref) ?? world.ids.sha();
    const base = given.base ?? repository.defaultBranch;
    if (!repository.branches.has(base)) repository.branches.set(base, world.ids.sha());
    moveBranch(world, head, ref, sha, author);
    const at = world.now();
    const pr: PullRequest = {
      id,
      nodeId: nodeId('PullRequest', repository.id, id),
      number,
      repository,
      state: 'open',
      title: given.title ?? `Change number ${number}`,
      body: given.body ?? '',
      draft: given.draft ?? false,
      locked: false,
      author,
      base,
      head: { repository: head, ref, sha },
      commits: [...(given.commits ?? []).slice(1).map(() => world.ids.sha()), sha],
      labels: (given.labels ?? []).map((name) => this.labelNamed(repository, name)),
      files: (given.files ?? ['README.md']).map(changedFile),
      reviews: [],
      assignees: (given.assignees ?? []).map((login) => world.account(login)),
      reviewRequests: (given.reviewRequests ?? []).map((login) => world.account(login)),
      teamRequests: [],
      threads: [],
      comments: [],
      behind: 0,
      isConflicting: false,
      isMergeUnderWay: false,
      milestone: given.milestone ? this.milestone(given.milestone) : null,
      autoMerge: given.autoMerge ? { enabledAt: at, enabledBy: author } : null,
      mergeQueueEntry: null,
      merged: null,
      createdAt: at,
      updatedAt: at,
      closedAt: null,
    };
    repository.pullRequests.set(number, pr);
    world.pullRequests.set(id, pr);
    world.noteHead(pr);
    pr.commits.forEach((each, index) => {
      const parent = pr.commits[index - 1] ?? repository.branches.get(base)!;
      this.#describeCommit(repository, each, author, parent, given.commits?.[index]);
    });
    this.#know(repository, head, sha);
    this.#events.emit(pr, 'opened');
    return pr;
  }

  /** A commit on the head branch moves every open pull request from that branch. Given files replace the old ones. */
  push(pr: PullRequest, by: Account, files?: FileSpec[], commit?: CommitSpec): string {
    const { repository: head, ref } = pr.head;
    const sha = this.#world.ids.sha();
    moveBranch(this.#world, head, ref, sha, by);
    const moved = this.#world.repositories
      .values()
      .flatMap((repository) => repository.pullRequests.values())
      .filter((each) => each.state === 'open' && each.head.repository === head && each.head.ref === ref);
    for (const each of moved.toArray()) {
      const before = each.head.sha;
      each.head.sha = sha;
      this.#world.noteHead(each);
      each.commits.push(sha);
      this.#describeCommit(each.repository, sha, by, before, commit);
      if (files) each.files = files.map(changedFile);
      this.#know(each.repository, head, sha);
      this.#events.emit(each, 'synchronize', { before, after: sha }, by);
    }
    return sha;
  }

  close(pr: PullRequest, by: Account): void {
    if (pr.state === 'closed') return;
    pr.state = 'closed';
    pr.closedAt = this.#world.now();
    pr.autoMerge = null;
    this.#events.emit(pr, 'closed', {}, by);
  }

  reopen(pr: PullRequest, by: Account): void {
    if (pr.state === 'open' || pr.merged) return;
    pr.state = 'open';
    pr.closedAt = null;
    this.#events.emit(pr, 'reopened', {}, by);
  }

  /** Merges without checks. Callers ask `mergeBlocker` first. */
  merge(pr: PullRequest, by: Account, how: MergedHow = 'button', sha = this.#world.ids.sha()): string {
    pr.merged = { at: this.#world.now(), by, sha, how };
    pr.repository.merges.push(pr);
    // A merge queue drops it by itself.
    if (!pr.mergeQueueEntry?.queue) pr.mergeQueueEntry = null;
    moveBranch(this.#world, pr.repository, trunkOf(pr), sha, by, 'pr_merge');
    pr.repository.commits.add(sha);
    this.close(pr, by);
    this.#retargetAbove(pr, by);
    return sha;
  }

  /** The one above it in its stack merges into the stack's base now. GitHub does that for those that stay open. */
  #retargetAbove(pr: PullRequest, by: Account): void {
    const above = stackOf(pr)?.pullRequests.find(
      ({ base, state }) => state === 'open' && base === pr.head.ref,
    );
    if (!above || above.mergeQueueEntry) return;
    above.base = trunkOf(pr);
    const changes = { base: { ref: { from: pr.head.ref }, sha: { from: pr.head.sha } } };
    this.#events.emit(above, 'edited', { changes }, by);
  }

  /** An existing commit, such as the head of another pull request, stays unchanged. */
  #describeCommit(
    repository: Repository,
    sha: string,
    by: Account,
    parent: string,
    given: CommitSpec = {},
  ): void {
    if (repository.commitDetails.has(sha)) return;
    const date = given.date ?? this.#world.now();
    const user = this.#world.accounts.values().find(({ login }) => login === given.author) ?? by;
    const name = given.author ?? by.login;
    const author = { name, email: `${user.login}@users.noreply.github.com`, date, user };
    repository.commitDetails.set(sha, {
      message: given.message ?? `Commit ${sha.slice(0, 7)}`,
      author,
      committer: author,
      isVerified: given.verified ?? true,
      isSignedByGitHub: given.signedByGitHub ?? by.type === 'Bot',
      parents: new Array<string>(given.parents ?? 1).fill(parent),
    });
  }

  /** A label of the repository, made on first use; names match case-insensitively. */
  labelNamed(repository: Repository, name: string) {
    const key = name.toLowerCase();
    const label = repository.labels.get(key) ?? {
      id: this.#world.ids.next('label', 6_000_000),
      name,
      color: 'ededed',
    };
    repository.labels.set(key, label);
    return label;
  }

  milestone(title: string) {
    const id = this.#world.ids.next('milestone', 9_000_000);
    return { id, number: id - 9_000_000, title };
  }

  #forkOf(repository: Repository, author: Account): Repository {
    const name = `${author.login}/${repository.name}`;
    if (!this.#world.findRepository(name)) this.#addFork(name, repository.private);
    return this.#world.repository(name);
  }

  /** A fork's head is fetched into the base repository, so statuses can be posted there. */
  #know(base: Repository, head: Repository, sha: string): void {
    base.commits.add(sha);
    head.commits.add(sha);
  }
}

/** What tests see of a pull request. */
export function describePullRequest(pr: PullRequest) {
  return {
    number: pr.number,
    nodeId: pr.nodeId,
    repository: fullNameOf(pr.repository),
    state: pr.merged ? ('merged' as const) : pr.state,
    title: pr.title,
    draft: pr.draft,
    author: pr.author.login,
    base: pr.base,
    head: pr.head.ref,
    headRepository: fullNameOf(pr.head.repository),
    headSha: pr.head.sha,
    labels: pr.labels.map((label) => label.name),
    files: pr.files.map((file) => file.path),
    autoMerge: pr.autoMerge !== null,
  };
}

function changedFile(file: FileSpec): ChangedFile {
  const spec = typeof file === 'string' ? { path: file } : file;
  const { path, previousPath, additions = 3, status = previousPath ? 'renamed' : 'modified' } = spec;
  return {
    path,
    previousPath,
    status,
    additions: status === 'removed' ? 0 : additions,
    deletions: status === 'added' ? 0 : 1,
  };
}
