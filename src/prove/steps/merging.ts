// What blocks a merge, and what lets it through.
import { context, type Asks } from '../stage.ts';
import { claimProved, claimed, given, needed } from '../verdict.ts';

export const merging: Asks = {
  missing: async (stage) => stage.claimThat('blocked', await stage.open('missing')),
  pending: async (stage) => stage.claimThat('blocked', await stage.openWith('pending', 'pending')),
  released: async (stage) => stage.claimThat('merged', await stage.openWith('success', 'released')),
  async push(stage) {
    const pr = await stage.openWith('success', 'push');
    await stage.commit(pr.head, 'push-again.md', 'again\n');
    await stage.claimThat('blocked', pr);
  },
  async forged(stage) {
    const pr = await stage.open('forged');
    const sent = { state: 'success', context, description: 'Forged' };
    await stage.sure('POST', `${stage.repository}/statuses/${pr.sha}`, sent);
    await stage.claimThat('blocked', pr);
  },
  async 'shared-head'(stage) {
    const one = await stage.open('shared-head');
    await stage.branch('trunk-shared-head-2');
    const other = await stage.openFrom(one.head, 'trunk-shared-head-2');
    await stage.post(one.sha, 'success');
    needed(await stage.merge(one, 'merged'));
    await stage.claimThat('merged', other);
  },
  async 'test-merge'(stage) {
    const pr = await stage.openWith('success', 'test-merge');
    const query = 'query($id: ID!) { node(id: $id) { ...on PullRequest { potentialMergeCommit { oid } } } }';
    const testMerge = (await stage.graphql(query, pr)).node?.potentialMergeCommit?.oid;
    given(typeof testMerge === 'string', 'GitHub shows no test merge commit.');
    await stage.post(testMerge, 'failure');
    await stage.claimThat('blocked', pr);
  },
  async 'auto-merge'(stage) {
    const pr = await stage.openWith('error', 'auto-merge');
    const enable = 'enablePullRequestAutoMerge(input: { pullRequestId: $id }) { pullRequest { number } }';
    await stage.graphql(`mutation($id: ID!) { ${enable} }`, pr);
    claimProved(
      (await stage.sure('GET', pr.path)).merged === false,
      'It was merged although its status was an error.',
    );
    await stage.post(pr.sha, 'success');
    await stage.claimMergedByItself(pr);
  },
  async texts(stage) {
    const { sha } = await stage.open('texts');
    const longest = claimed(await stage.tryPost(sha, 'pending', 'é'.repeat(140)), 201);
    claimProved(longest.description === 'é'.repeat(140), 'GitHub changed a text of 140 characters.');
    for (const text of ['é'.repeat(141), 'Frozen \u{1f9ca}'])
      claimed(await stage.tryPost(sha, 'pending', text), 422);
  },
};
