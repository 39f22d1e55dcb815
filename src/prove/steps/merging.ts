// What blocks a merge, and what lets it through.
import { context, type Steps } from '../stage.ts';
import { claim, given, needed, said } from '../verdict.ts';

export const merging: Steps = {
  missing: {
    proves: 'A pull request without the status of Holdfast cannot be merged.',
    otherwise: 'During a freeze, new pull requests can be merged until Holdfast has judged them.',
    run: async (stage) => stage.claimThat('blocked', await stage.open('missing')),
  },
  pending: {
    proves: 'A pull request whose status is pending cannot be merged.',
    otherwise: 'Freezes hold nothing.',
    run: async (stage) => stage.claimThat('blocked', await stage.openWith('pending', 'pending')),
  },
  released: {
    proves: 'A pull request that a label or an exemption lets through can be merged within a minute.',
    otherwise: 'Exempted pull requests stay blocked, and after a freeze nothing can be merged.',
    run: async (stage) => stage.claimThat('merged', await stage.openWith('success', 'released')),
  },
  push: {
    proves: 'After a push, the success of the commit before does not count.',
    otherwise: 'A push after an exemption takes other changes through a freeze.',
    async run(stage) {
      const pr = await stage.openWith('success', 'push');
      await stage.commit(pr.head, 'push-again.md', 'again\n');
      await stage.claimThat('blocked', pr);
    },
  },
  forged: {
    proves: 'A success that somebody else posts in the name of Holdfast does not count.',
    otherwise: 'Everybody who can push can take a pull request through a freeze.',
    async run(stage) {
      const pr = await stage.open('forged');
      const sent = { state: 'success', context, description: 'Forged' };
      needed(await stage.parts.owner('POST', `${stage.repository}/statuses/${pr.sha}`, sent), 201);
      await stage.claimThat('blocked', pr);
    },
  },
  'shared-head': {
    proves: 'One status counts for all pull requests with the same head commit.',
    otherwise: 'Of several pull requests from one branch, some stay blocked after a freeze.',
    async run(stage) {
      const one = await stage.open('shared-head');
      await stage.branch('trunk-shared-head-2');
      const other = await stage.openFrom(one.head, 'trunk-shared-head-2');
      await stage.post(one.sha, 'success');
      given((await stage.merge(one, 'merged')).is === 'merged', 'The first one could not be merged.');
      await stage.claimThat('merged', other);
    },
  },
  'test-merge': {
    proves: 'A failed status on the test merge commit blocks a pull request whose head succeeds.',
    otherwise: 'Holdfast explains wrongly why GitHub blocks such pull requests.',
    async run(stage) {
      const pr = await stage.openWith('success', 'test-merge');
      const query =
        'query($id: ID!) { node(id: $id) { ...on PullRequest { potentialMergeCommit { oid } } } }';
      const testMerge = (await stage.graphql(query, pr)).node?.potentialMergeCommit?.oid;
      given(typeof testMerge === 'string', 'GitHub shows no test merge commit.');
      await stage.post(testMerge, 'failure');
      await stage.claimThat('blocked', pr);
    },
  },
  'auto-merge': {
    proves: 'Auto-merge waits for the status of Holdfast, and merges when it succeeds.',
    otherwise: 'Pull requests with auto-merge stay open after a freeze, or merge during one.',
    async run(stage) {
      const pr = await stage.openWith('error', 'auto-merge');
      const enable = 'enablePullRequestAutoMerge(input: { pullRequestId: $id }) { pullRequest { number } }';
      await stage.graphql(`mutation($id: ID!) { ${enable} }`, pr);
      const { merged } = needed(await stage.parts.owner('GET', pr.path), 200);
      claim(merged === false, 'It was merged although its status was an error.');
      await stage.post(pr.sha, 'success');
      await stage.claimMergedByItself(pr);
    },
  },
  texts: {
    proves: 'A description has at most 140 characters, without emoji.',
    otherwise: 'GitHub refuses statuses with long reasons, or Holdfast cuts reasons too early.',
    async run(stage) {
      const { sha } = await stage.open('texts');
      const longest = await stage.tryPost(sha, 'pending', 'é'.repeat(140));
      claim(longest.status === 201, `140 characters are too many: ${said(longest)}`);
      claim(longest.answer.description === 'é'.repeat(140), 'GitHub changed a text of 140 characters.');
      const tooLong = await stage.tryPost(sha, 'pending', 'é'.repeat(141));
      claim(tooLong.status === 422, `141 characters are no error: ${said(tooLong)}`);
      const emoji = await stage.tryPost(sha, 'pending', 'Frozen \u{1f9ca}');
      claim(emoji.status === 422, `An emoji is no error: ${said(emoji)}`);
    },
  },
};
