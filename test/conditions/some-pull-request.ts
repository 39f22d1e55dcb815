import type { PullRequestFacts } from '../../src/pull-requests/pull-request.ts';

/** A pull request with a value for everything, but for what a test says. */
export const somePullRequest = (facts: Partial<PullRequestFacts> = {}): PullRequestFacts => ({
  number: 7,
  nodeId: 'PR_7',
  headSha: 'a'.repeat(40),
  isDraft: false,
  title: 'Fix the Roof',
  author: 'mona',
  base: 'main',
  head: 'fix/roof',
  labels: { known: true, value: ['risky', 'house'] },
  files: { known: true, value: ['src/roof.ts', 'docs/roof.md'] },
  scopes: { names: ['api', 'web'], all: false },
  ...facts,
});

export const notKnown = (reason: string) => ({ known: false, reason }) as const;
