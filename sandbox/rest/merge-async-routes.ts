import { mergePastRequirements, pressMergeButton } from '../actions/merge-button.ts';
import { bodyOf, type Api, type Parts } from '../http/api.ts';
import type { GitHubError } from '../http/github-error.ts';
import { invalid, notFound } from '../http/github-error.ts';
import { roleOf } from '../state/access.ts';
import { mergeBlocker } from '../state/mergeability.ts';
import { queueOf } from '../state/merge-queue-rules.ts';
import { stackOf } from '../state/stacks.ts';
import type { Account, PullRequest } from '../state/model.ts';
import {
  actor,
  demand,
  onRepository,
  pullRequestIn,
  reading,
  refuseArchived,
  writing,
} from './on-repository.ts';

const methods = ['merge', 'squash', 'rebase'] as const;
const actions = ['default', 'direct_merge', 'merge_queue'] as const;

type Result =
  | { status: 'merged'; details: { message: string; sha: string } }
  | { status: 'enqueued' | 'failed'; details: { message: string } };
type Wanted = {
  by: Account;
  method: (typeof methods)[number] | 'default';
  action: (typeof actions)[number];
  head: string;
};
/** @property result null while it waits to run. */
type MergeRequest = Wanted & { pr: PullRequest; result: Result | null; changedAt: number };

const failed = (message: string): Result => ({ status: 'failed', details: { message } });
const merged = (sha: string): Result => ({
  status: 'merged',
  details: { message: 'Pull request was merged.', sha },
});
const enqueued: Result = {
  status: 'enqueued',
  details: { message: 'Pull request was added to the merge queue.' },
};

const day = 86_400_000;

/**
 * Merges in the background: the recommended way since October 2026, and the only one for stacks. When it is requested,
 * only the state of the pull request counts. The rules are judged when it runs.
 */
export function mergeAsyncRoutes(api: Api, { world, pullRequests, queues }: Parts): void {
  const requests = new Map<string, MergeRequest>();

  onRepository(api, world, 'put', '/pulls/:number/merge-async', async (c, repository) => {
    demand(c, repository, writing);
    refuseArchived(repository);
    const pr = pullRequestIn(c, repository);
    const wanted = readWanted(await bodyOf(c), pr, actor(c, world));
    if (pr.merged) return c.json(merged(pr.merged.sha));
    if (pr.mergeQueueEntry?.queue) return c.json(enqueued);
    if (pr.state === 'closed') return c.json(failed('Pull request is closed.'), 400);
    if (pr.draft) return c.json(failed('Pull request is still a draft.'), 400);
    const waiting = [...requests].find(([, each]) => each.pr.id === pr.id && each.result === null);
    if (waiting) return c.json(pending(...waiting), 409);
    const uuid = crypto.randomUUID();
    const request: MergeRequest = { ...wanted, pr, result: null, changedAt: world.now().getTime() };
    requests.set(uuid, request);
    setImmediate(() => {
      request.result = run(request);
      request.changedAt = world.now().getTime();
    });
    return c.json(pending(uuid, request), 202);
  });

  onRepository(api, world, 'get', '/pulls/:number/merge-async/:uuid', (c, repository) => {
    demand(c, repository, reading);
    const pr = pullRequestIn(c, repository);
    const uuid = c.req.param('uuid') ?? '';
    const request = requests.get(uuid);
    const isKept = request && world.now().getTime() - request.changedAt < day;
    if (!isKept || request.pr.id !== pr.id) throw notFound();
    return c.json(request.result ?? pending(uuid, request));
  });

  function run({ pr, by, action, head }: MergeRequest): Result {
    if (head !== pr.head.sha) return failed('Head branch was modified. Review and try the merge again.');
    const toQueue = action === 'merge_queue' || (action === 'default' && queueOf(pr) !== undefined);
    if (toQueue) {
      const blocker = queueOf(pr) ? mergeBlocker(pr) : 'The base branch has no merge queue.';
      if (blocker) return failed(blocker);
      queues.enqueue(pr, by);
      return enqueued;
    }
    const pressed = pressMergeButton(pullRequests, pr, by);
    if (!('message' in pressed)) return merged(pressed.sha);
    return (action === 'direct_merge' && mergePastRules(pr, by)) || failed(pressed.message);
  }

  /** Who may bypass what is in the way merges directly. A stack as a whole has no way past its rules. */
  function mergePastRules(pr: PullRequest, by: Account): Result | null {
    const skipsQueue = queueOf(pr) === undefined || roleOf(by, pr.repository) === 'admin';
    if (stackOf(pr) || !skipsQueue) return null;
    const past = mergePastRequirements(pullRequests, pr, by);
    return 'message' in past ? null : merged(past.sha);
  }
}

const pending = (uuid: string, { method, action, head }: MergeRequest) => ({
  status: 'pending',
  details: {
    message: 'Merge request enqueued.',
    uuid,
    merge_method: method,
    merge_action: action,
    expected_head_sha: head,
  },
});

/** @throws GitHubError 422 for a value that GitHub does not know. */
function readWanted(body: Record<string, unknown>, pr: PullRequest, by: Account): Wanted {
  const { sha = pr.head.sha, merge_method: method = 'default', merge_action: action = 'default' } = body;
  const refuse = (field: string): GitHubError =>
    invalid('PullRequestMergeAsync', [{ code: 'invalid', field }]);
  if (method !== 'default' && !methods.includes(method as never)) throw refuse('merge_method');
  if (!actions.includes(action as never)) throw refuse('merge_action');
  if (typeof sha !== 'string') throw refuse('sha');
  return { by, method: method as Wanted['method'], action: action as Wanted['action'], head: sha };
}
