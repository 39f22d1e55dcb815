import type { LoadedPullRequest } from '../../src/github/pull-requests/load-pull-requests.ts';

/** An open pull request as GitHub gave it, for judges. @param more what it has otherwise. */
export const loadedPullRequest = (
  { number, head, base }: { number: number; head: string; base: string },
  more: Partial<LoadedPullRequest> = {},
): LoadedPullRequest => ({
  facts: {
    ...{ number, nodeId: `PR_${number}`, headSha: head, hasEveryScope: false },
    ...{ teams: new Map(), values: { base }, whyNotKnown: {} },
  },
  ...{ isOpen: true, isDraft: false, title: 'A change', author: 'ada', status: null },
  ...{ testMerge: null, isTestMergeUnderWay: false, headMerges: null, isAutoMerging: false },
  ...{ queueBranch: null, isMergeable: true, headOwner: '' },
  ...more,
});
