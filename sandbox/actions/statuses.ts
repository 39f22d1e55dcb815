import { requirementsOf } from '../state/branch-rules.ts';
import { queueOf } from '../state/merge-queue-rules.ts';
import { mergeBlocker } from '../state/mergeability.ts';
import { testMergeOf } from '../state/test-merge.ts';
import { fullNameOf, type World } from '../state/world.ts';
import { statusJson } from '../json/status-json.ts';
import type { Account, CommitStatus, PullRequest, Repository, StatusState } from '../state/model.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import type { MergeQueues } from './merge-queues.ts';
import type { PullRequests } from './pull-requests.ts';

export interface StatusPosted {
  /** The current `owner/name`. */
  repository: string;
  sha: string;
  context: string;
  state: StatusState;
  description: string | null;
  /** Open pull requests whose head this is. */
  pullRequests: number[];
  at: Date;
}

export interface NewStatus {
  sha: string;
  state: StatusState;
  context: string;
  description: string | null;
  targetUrl: string | null;
  creator: Account;
  /** The App that posts it. */
  appId?: number;
  /** GitHub's id of it, which rises. A GitHub that was restored from a backup has another one. */
  id?: number;
}

/** How many statuses GitHub accepts for a SHA and context from all sources together. Ignores the context's case. */
const mostPerContext = 1_000;

/** Holds statuses and informs listeners. As on GitHub, a status that satisfies protection triggers auto-merge. */
export class Statuses {
  readonly #world: World;
  readonly #webhooks: Webhooks;
  readonly #listeners = new Set<(posted: StatusPosted) => void>();
  readonly #pullRequests: PullRequests;
  readonly #queues: MergeQueues;

  constructor(world: World, webhooks: Webhooks, pullRequests: PullRequests, queues: MergeQueues) {
    this.#world = world;
    this.#webhooks = webhooks;
    this.#pullRequests = pullRequests;
    this.#queues = queues;
  }

  /** Calls back at each status posted, until the returned function is called. */
  onStatus(listener: (posted: StatusPosted) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Whether a SHA has used up its statuses of a context. */
  isFull(repository: Repository, sha: string, context: string): boolean {
    const key = context.toLowerCase();
    const same = (repository.statuses.get(sha) ?? []).filter((each) => each.context.toLowerCase() === key);
    return same.length >= mostPerContext;
  }

  /** @throws if `isFull`. */
  post(repository: Repository, given: NewStatus): CommitStatus {
    const world = this.#world;
    if (this.isFull(repository, given.sha, given.context)) throw new Error(tooMany);
    const { appId = null, id = world.ids.next('status', 30_000_000) } = given;
    const status = { ...given, id, appId, createdAt: world.now() };
    const history = repository.statuses.get(status.sha) ?? [];
    history.push(status);
    world.formerVersions.posted(status);
    repository.statuses.set(status.sha, history);
    const affected = world.pullRequestsAt(repository, status.sha);
    const posted: StatusPosted = {
      repository: fullNameOf(repository),
      sha: status.sha,
      context: status.context,
      state: status.state,
      description: status.description,
      pullRequests: affected.map((pr) => pr.number),
      at: status.createdAt,
    };
    for (const listener of this.#listeners) listener(posted);
    this.#emit(repository, status, affected);
    // The head of a pull request is a parent of its test merge commit.
    const parents = parentsOf(repository, status.sha).map(({ sha }) => sha);
    for (const pr of [status.sha, ...parents].flatMap((sha) => world.pullRequestsAt(repository, sha)))
      if (pr.autoMerge && pr.state === 'open' && [pr.head.sha, testMergeOf(pr)].includes(status.sha))
        this.#mergeIfWaiting(pr);
    this.#queues.settleAll(repository);
    return status;
  }

  /** Auto-merge waits only for required checks. */
  #mergeIfWaiting(pr: PullRequest): void {
    const required = requirementsOf(pr.repository, pr.base);
    if (!pr.autoMerge || queueOf(pr) || required.length === 0 || mergeBlocker(pr)) return;
    this.#pullRequests.merge(pr, pr.autoMerge.enabledBy, 'auto-merge');
  }

  #emit(repository: Repository, status: CommitStatus, affected: PullRequest[]): void {
    const { sha } = status;
    const { id, context, state, description, target_url, created_at, updated_at } = statusJson(
      this.#world,
      repository,
      status,
    );
    const branches = affected.map((pr) => ({ name: pr.head.ref, commit: { sha }, protected: false }));
    this.#webhooks.emit({
      event: 'status',
      repository,
      sender: status.creator,
      payload: {
        id,
        sha,
        name: fullNameOf(repository),
        context,
        state,
        description,
        target_url,
        created_at,
        updated_at,
        commit: { sha, node_id: sha, parents: parentsOf(repository, sha) },
        branches,
      },
    });
  }
}

const parentsOf = (repository: Repository, sha: string) =>
  (repository.commitDetails.get(sha)?.parents ?? []).map((parent) => ({ sha: parent }));
/** GitHub's message for one status too many. */
export const tooMany = 'This SHA and context has reached the maximum number of statuses.';

/** The part of the sandbox's interface that asks about statuses. */
export function statusQuestions(world: World, statuses: Statuses, defaultContext: string) {
  function historyOf(fullName: string, sha: string, context?: string): CommitStatus[] {
    const all = world.repository(fullName).statuses.get(sha) ?? [];
    return all.filter((each) => !context || each.context.toLowerCase() === context.toLowerCase());
  }

  function shaOf(fullName: string, numberOrSha: number | string): string {
    return typeof numberOrSha === 'string' ? numberOrSha : world.pullRequest(fullName, numberOrSha).head.sha;
  }

  function currentStatus(fullName: string, numberOrSha: number | string, context = defaultContext) {
    const newest = historyOf(fullName, shaOf(fullName, numberOrSha), context).at(-1);
    return newest ? entry(newest) : null;
  }

  return {
    currentStatus,

    /** Calls back at each posted status. Returns a function that ends this. */
    onStatus(listener: (posted: StatusPosted) => void) {
      return statuses.onStatus(listener);
    },

    /** Every status of a SHA, oldest first. */
    statusHistory(fullName: string, sha: string, context?: string) {
      return historyOf(fullName, sha, context).map(entry);
    },

    /** Somebody other than the App posts a status. This needs write access. Throws from the 1,001st on. */
    postStatus(
      fullName: string,
      numberOrSha: number | string,
      given: { by: string; state: StatusState; context?: string; description?: string; id?: number },
    ) {
      statuses.post(world.repository(fullName), {
        sha: shaOf(fullName, numberOrSha),
        state: given.state,
        context: given.context ?? defaultContext,
        description: given.description ?? null,
        targetUrl: null,
        creator: world.account(given.by),
        id: given.id,
      });
    },

    /** Resolves when the newest status of the pull request's current head has this state. */
    waitForStatus(
      fullName: string,
      number: number,
      state: StatusState,
      { context = defaultContext, timeoutMs = 10_000 } = {},
    ) {
      const repository = world.repository(fullName);
      const read = () => currentStatus(fullNameOf(repository), number, context);
      const { promise, resolve, reject } = Promise.withResolvers<NonNullable<ReturnType<typeof read>>>();
      const check = () => {
        const status = read();
        if (status?.state === state) resolve(status);
      };
      const unsubscribe = statuses.onStatus(check);
      const timer = setTimeout(() => {
        const { head } = world.pullRequest(fullNameOf(repository), number);
        const seen = historyOf(fullNameOf(repository), head.sha, context);
        const story = seen.map((each) => `${each.state} "${each.description ?? ''}"`).join(', then ');
        reject(
          new Error(
            `${fullName}#${number}: waited ${timeoutMs} ms for ${context} to be ${state} on ${head.sha}; ` +
              `saw ${story || 'no status at all'}`,
          ),
        );
      }, timeoutMs);
      check();
      return promise.finally(() => {
        clearTimeout(timer);
        unsubscribe();
      });
    },
  };
}

function entry({ state, description, targetUrl, creator, createdAt, context }: CommitStatus) {
  return { state, description, targetUrl, creator: creator.login, createdAt, context };
}
