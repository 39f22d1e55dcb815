// Merges that GitHub does in the background: requested ones, stacks, and the merge queue.
import type { Exchange, ProveJson } from '../ask.ts';
import type { Asks, StagePullRequest, Stage } from '../stage.ts';
import { claimProved, given, type Must, said } from '../verdict.ts';

/** Requests a merge, and waits for its result. */
async function request(stage: Stage, { path, sha }: StagePullRequest, action: string): Promise<Exchange> {
  const asked = await stage.parts.owner('PUT', `${path}/merge-async`, { merge_action: action, sha });
  if (asked.status !== 202) return asked;
  const show = () => stage.parts.owner('GET', `${path}/merge-async/${asked.answer.details.uuid}`);
  return stage.until(60, show, ({ answer }) => answer?.status !== 'pending');
}

/** Claims that GitHub refuses a request. */
async function claimRefused(stage: Stage, pr: StagePullRequest): Promise<void> {
  const result = await request(stage, pr, 'direct_merge');
  claimProved(result.answer?.status !== 'merged', `GitHub merged it: ${said(result)}`);
  given(result.answer?.status === 'failed', said(result));
}

/** A pull request in a merge queue of its own, and its group. @param must for the webhook about that. */
async function enqueue(
  stage: Stage,
  name: string,
  must: Must = given,
): Promise<{ pr: StagePullRequest; group: ProveJson }> {
  const base = `line-${name}`;
  await stage.branch(base);
  const entries = { max_entries_to_build: 5, max_entries_to_merge: 5, min_entries_to_merge: 1 };
  const minutes = { check_response_timeout_minutes: 60, min_entries_to_merge_wait_minutes: 0 };
  const parameters = { grouping_strategy: 'ALLGREEN', merge_method: 'MERGE', ...entries, ...minutes };
  const rule = { include: `refs/heads/${base}`, more: [{ type: 'merge_queue', parameters }] };
  await stage.requireCheck(stage.repository, rule);
  const pr = await stage.openWith('success', name, base);
  const queued = await request(stage, pr, 'merge_queue');
  given(queued.answer?.status === 'enqueued', `It did not enter the queue. ${said(queued)}`);
  const isOfBase = ({ merge_group: its }: ProveJson) => its?.base_ref === `refs/heads/${base}`;
  return { pr, group: (await stage.told('merge_group', 'checks_requested', isOfBase, must)).merge_group };
}

/** Whether it leaves the queue within so many seconds. */
async function leaves(stage: Stage, { nodeId: id }: StagePullRequest, seconds: number): Promise<boolean> {
  const query =
    'query QueueEntry($id: ID!) { node(id: $id) { ...on PullRequest { mergeQueueEntry { state } } } }';
  const ask = () => stage.parts.owner('POST', '/graphql', { query, variables: { id } });
  const isOut = ({ answer }: Exchange) => answer?.data?.node?.mergeQueueEntry === null;
  const last = await stage.until(seconds, ask, isOut);
  given(Boolean(last.answer?.data?.node), said(last));
  return isOut(last);
}

/** Three pull requests, bottom first, each on top of the one before. */
async function stackOfThree(
  stage: Stage,
  name: string,
): Promise<{ members: StagePullRequest[]; number: number }> {
  const members = [await stage.open(`${name}-1`)];
  for (const place of [2, 3]) members.push(await stage.open(`${name}-${place}`, members.at(-1)!.head));
  const sent = { pull_requests: members.map((each) => each.number) };
  const { number } = await stage.sure('POST', `${stage.repository}/stacks`, sent);
  return { members, number };
}

export const background: Asks = {
  async: async (stage) => claimRefused(stage, await stage.openWith('failure', 'async')),
  async bypass(stage) {
    await stage.branch('past');
    const bypass = [{ actor_type: 'OrganizationAdmin', actor_id: null, bypass_mode: 'always' }];
    await stage.requireCheck(stage.repository, { include: 'refs/heads/past', bypass });
    const pr = await stage.openWith('failure', 'bypass', 'past');
    const result = await request(stage, pr, 'direct_merge');
    claimProved(
      result.answer?.status === 'merged',
      `An owner could not merge past the rule. ${said(result)}`,
    );
    const isIt = ({ pull_request: its }: ProveJson) => its?.node_id === pr.nodeId && its.merged === true;
    await stage.told('pull_request', 'closed', isIt);
  },
  async stack(stage) {
    const { members } = await stackOfThree(stage, 'stack');
    for (const [at, state] of ['success', 'error', 'success'].entries())
      await stage.post(members[at]!.sha, state);
    await claimRefused(stage, members[2]!);
  },
  async 'stack-key'(stage) {
    const { members, number } = await stackOfThree(stage, 'stack-key');
    const shown = () => stage.sure('GET', members[1]!.path);
    claimProved(Boolean((await shown()).stack), 'A pull request in a stack lacks the key.');
    await stage.sure('POST', `${stage.repository}/stacks/${number}/unstack`);
    claimProved(!('stack' in (await shown())), 'A pull request that left its stack has the key.');
  },
  async 'queue-webhook'(stage) {
    const { group } = await enqueue(stage, 'queue-webhook', claimProved);
    claimProved(/^[0-9a-f]{40}$/.test(group.head_sha), 'The webhook names no commit.');
    const isKnown = /^refs\/heads\/gh-readonly-queue\/(.+)\/pr-(\d+)-([0-9a-f]{40})$/.test(group.head_ref);
    claimProved(isKnown, `The branch of the group has another form: ${group.head_ref}`);
  },
  async 'queue-failed'(stage) {
    const { pr, group } = await enqueue(stage, 'queue-failed');
    await stage.post(group.head_sha, 'failure');
    claimProved(await leaves(stage, pr, 120), 'It was still in the queue two minutes later.');
    claimProved((await stage.sure('GET', pr.path)).merged === false, 'GitHub merged it.');
  },
  async 'queue-passed'(stage) {
    const { pr, group } = await enqueue(stage, 'queue-passed');
    await stage.post(group.head_sha, 'success');
    await stage.claimMergedByItself(pr);
  },
  async 'queue-head'(stage) {
    const { pr } = await enqueue(stage, 'queue-head');
    await stage.post(pr.sha, 'error');
    claimProved(!(await leaves(stage, pr, 30)), 'It left the queue within half a minute.');
  },
};
