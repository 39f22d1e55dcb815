// Merges that GitHub does in the background: requested ones, stacks, and the merge queue.
import type { Exchange, Json } from '../ask.ts';
import type { PullRequest, Stage, Steps } from '../stage.ts';
import { claim, given, needed, said } from '../verdict.ts';

/** Requests a merge, and waits for its result. */
async function request(stage: Stage, { path, sha }: PullRequest, action: string): Promise<Exchange> {
  const asked = await stage.parts.owner('PUT', `${path}/merge-async`, { merge_action: action, sha });
  if (asked.status !== 202) return asked;
  const show = () => stage.parts.owner('GET', `${path}/merge-async/${asked.answer.details.uuid}`);
  return stage.until(60, show, ({ answer }) => answer?.status !== 'pending');
}

/** Claims that GitHub refuses a request. */
async function claimRefused(stage: Stage, pr: PullRequest): Promise<void> {
  const result = await request(stage, pr, 'direct_merge');
  claim(result.answer?.status !== 'merged', `GitHub merged it: ${said(result)}`);
  given(result.answer?.status === 'failed', said(result));
}

/** A pull request in a merge queue of its own. @returns it, and the webhook about its group, if one came. */
async function enqueue(stage: Stage, name: string): Promise<{ pr: PullRequest; group: Json | null }> {
  const base = `line-${name}`;
  await stage.branch(base);
  const entries = { max_entries_to_build: 5, max_entries_to_merge: 5, min_entries_to_merge: 1 };
  const minutes = { check_response_timeout_minutes: 60, min_entries_to_merge_wait_minutes: 0 };
  const parameters = { grouping_strategy: 'ALLGREEN', merge_method: 'MERGE', ...entries, ...minutes };
  const more = [{ type: 'merge_queue', parameters }];
  await stage.requireCheck(stage.repository, { include: `refs/heads/${base}`, more });
  const pr = await stage.openWith('success', name, base);
  const queued = await request(stage, pr, 'merge_queue');
  given(queued.answer?.status === 'enqueued', `It did not enter the queue. ${said(queued)}`);
  const isOfBase = ({ merge_group: its }: Json) => its?.base_ref === `refs/heads/${base}`;
  const payload = await stage.delivered('merge_group', 'checks_requested', isOfBase);
  return { pr, group: payload?.merge_group ?? null };
}

/** The same, for a step that needs the group. */
async function queued(stage: Stage, name: string): Promise<{ pr: PullRequest; groupSha: string }> {
  const { pr, group } = await enqueue(stage, name);
  given(group !== null, 'GitHub asked for no checks of the merge group.');
  return { pr, groupSha: group.head_sha };
}

/** Whether it leaves the queue within so many seconds. */
async function leaves(stage: Stage, { nodeId: id }: PullRequest, seconds: number): Promise<boolean> {
  const query =
    'query QueueEntry($id: ID!) { node(id: $id) { ...on PullRequest { mergeQueueEntry { state } } } }';
  const ask = () => stage.parts.owner('POST', '/graphql', { query, variables: { id } });
  const isOut = ({ answer }: Exchange) => answer?.data?.node?.mergeQueueEntry === null;
  const last = await stage.until(seconds, ask, isOut);
  given(Boolean(last.answer?.data?.node), said(last));
  return isOut(last);
}

/** Three pull requests, bottom first, each on top of the one before. */
async function stackOfThree(stage: Stage, name: string): Promise<{ members: PullRequest[]; number: number }> {
  const members = [await stage.open(`${name}-1`)];
  for (const place of [2, 3]) members.push(await stage.open(`${name}-${place}`, members.at(-1)!.head));
  const sent = { pull_requests: members.map((each) => each.number) };
  const { number } = needed(await stage.parts.owner('POST', `${stage.repository}/stacks`, sent), 201);
  return { members, number };
}

export const background: Steps = {
  async: {
    proves: 'A merge in the background obeys the status of Holdfast.',
    otherwise: 'The way to merge that GitHub recommends since October 2026 leads past freezes.',
    run: async (stage) => claimRefused(stage, await stage.openWith('failure', 'async')),
  },
  bypass: {
    proves: 'A person who may bypass the rule merges past it, and the App is told of the merge.',
    otherwise: 'Holdfast tells nobody that somebody merged past a freeze.',
    async run(stage) {
      await stage.branch('past');
      const bypass = [{ actor_type: 'OrganizationAdmin', actor_id: null, bypass_mode: 'always' }];
      await stage.requireCheck(stage.repository, { include: 'refs/heads/past', bypass });
      const pr = await stage.openWith('failure', 'bypass', 'past');
      const result = await request(stage, pr, 'direct_merge');
      claim(result.answer?.status === 'merged', `An owner could not merge past the rule. ${said(result)}`);
      const isIt = ({ pull_request: its }: Json) => its?.node_id === pr.nodeId && its.merged === true;
      claim((await stage.delivered('pull_request', 'closed', isIt)) !== null, 'No webhook told of it.');
    },
  },
  stack: {
    proves: 'The top of a stack cannot be merged while Holdfast blocks one below it.',
    otherwise: 'One exempted pull request takes a whole stack through a freeze.',
    async run(stage) {
      const { members } = await stackOfThree(stage, 'stack');
      for (const [at, state] of ['success', 'error', 'success'].entries())
        await stage.post(members[at]!.sha, state);
      await claimRefused(stage, members[2]!);
    },
  },
  'stack-key': {
    proves: 'A pull request has the key stack while it is in a stack, and only then.',
    otherwise: 'Holdfast misses stacks, or judges pull requests by stacks that they are not in.',
    async run(stage) {
      const { members, number } = await stackOfThree(stage, 'stack-key');
      const shown = async () => needed(await stage.parts.owner('GET', members[1]!.path), 200);
      claim(Boolean((await shown()).stack), 'A pull request in a stack lacks the key.');
      needed(await stage.parts.owner('POST', `${stage.repository}/stacks/${number}/unstack`), 200, 204);
      claim(!('stack' in (await shown())), 'A pull request that left its stack has the key.');
    },
  },
  'queue-webhook': {
    proves: 'GitHub asks for checks of each merge group, and names its commit and its pull request.',
    otherwise: 'Every pull request in a merge queue waits until it times out.',
    async run(stage) {
      const { group } = await enqueue(stage, 'queue-webhook');
      claim(group !== null, 'No webhook asked for checks of the merge group.');
      claim(/^[0-9a-f]{40}$/.test(group.head_sha), 'The webhook names no commit.');
      const isKnown = /^refs\/heads\/gh-readonly-queue\/(.+)\/pr-(\d+)-([0-9a-f]{40})$/.test(group.head_ref);
      claim(isKnown, `The branch of the group has another form: ${group.head_ref}`);
    },
  },
  'queue-failed': {
    proves: 'A pull request whose merge group fails leaves the queue without being merged.',
    otherwise: 'What is in a merge queue when a freeze begins is merged during it.',
    async run(stage) {
      const { pr, groupSha } = await queued(stage, 'queue-failed');
      await stage.post(groupSha, 'failure');
      claim(await leaves(stage, pr, 120), 'It was still in the queue two minutes later.');
      claim(needed(await stage.parts.owner('GET', pr.path), 200).merged === false, 'GitHub merged it.');
    },
  },
  'queue-passed': {
    proves: 'A pull request whose merge group succeeds is merged.',
    otherwise: 'During a freeze, exempted pull requests do not get through the merge queue.',
    async run(stage) {
      const { pr, groupSha } = await queued(stage, 'queue-passed');
      await stage.post(groupSha, 'success');
      await stage.claimMergedByItself(pr);
    },
  },
  'queue-head': {
    proves: 'A head that fails while its pull request is queued does not take it out of the queue.',
    otherwise: 'Pull requests leave the queue before Holdfast fails their groups. Nothing is merged.',
    async run(stage) {
      const { pr } = await queued(stage, 'queue-head');
      await stage.post(pr.sha, 'error');
      claim(!(await leaves(stage, pr, 30)), 'It left the queue within half a minute.');
    },
  },
};
