import type { AttributeValues, CommitFacts } from '../../src/conditions/attributes.ts';
import type { ConditionInput } from '../../src/conditions/ast.ts';
import { type Matcher, prepareFacts } from '../../src/conditions/match.ts';
import { parseConditions } from '../../src/conditions/parse-conditions.ts';
import type { PullRequestFacts } from '../../src/github/pull-requests/pull-request.ts';

export const someCommit = (fields: Partial<CommitFacts> = {}): CommitFacts => ({
  author: 'Mona Lisa',
  committer: 'GitHub',
  commit_message: 'Fix the roof',
  email_author: 'mona@example.com',
  email_committer: 'noreply@example.com',
  commit_verification_verified: true,
  date_author: Date.parse('2026-02-27T08:00:00Z'),
  date_committer: Date.parse('2026-02-27T09:00:00Z'),
  ...fields,
});

const values: AttributeValues = {
  number: 7,
  title: 'Fix the Roof',
  author: 'mona',
  base: 'main',
  head: 'fix/roof',
  draft: false,
  conflict: false,
  label: ['risky', 'house'],
  files: ['src/roof.ts', 'docs/roof.md'],
  '#files': 2,
  scope: ['api', 'web'],
  milestone: null,
  'added-lines': 120,
  'approved-reviews-by': ['ada', 'ci[bot]'],
  'review-requested': ['bob', '@core', '@acme/core'],
  'check-success': ['build', 'ci/lint'],
  '@check-success': ['@github-actions/ci/lint'],
  'github-review-decision': 'APPROVED',
  'created-at': Date.parse('2026-02-22T10:00:00Z'),
  'merged-at': null,
  commits: [
    someCommit(),
    someCommit({ author: 'Ada', commit_message: 'docs: roof', commit_verification_verified: false }),
  ],
  '#commits': 2,
};

type Changes = Partial<Omit<PullRequestFacts, 'values'>> & { values?: AttributeValues };

/** A pull request with a value for most attributes, but for what a test says. */
export const somePullRequest = (changes: Changes = {}): PullRequestFacts => ({
  number: 7,
  nodeId: 'PR_7',
  headSha: 'a'.repeat(40),
  whyNotKnown: {},
  hasEveryScope: false,
  teams: new Map([['@acme/core', new Set(['mona', 'ada'])]]),
  ...changes,
  values: { ...values, ...changes.values },
});

/** The parsed conditions of a test. Fails if they cannot be read. */
export function prepared(conditions: ConditionInput[], isExclusion = false): Matcher {
  const result = parseConditions(conditions, []);
  if (!result.ok) throw new Error(result.problems[0]!.message);
  return prepareFacts(result.conditions, isExclusion);
}
