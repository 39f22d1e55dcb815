import type { Fact, PullRequestFacts } from '../pull-requests/pull-request.ts';
import type { Operator } from './ast.ts';
import { checkBranch, checkLogin } from './check-value.ts';

/** What an attribute has at one pull request: no value (null), one, or many. */
export type AttributeValue =
  Fact<(string | null)[]> | { known: true; value: boolean } | { known: true; isEverything: true };

/** A fact that costs a query of its own, and is loaded only where a condition needs it. */
export type CostlyFact = 'labels' | 'files' | 'scopes';

/** What may stand in front of a name: `-` for "not", `#` for "how many". */
export type Modifier = '-' | '#';

export type Attribute = {
  type: 'boolean' | 'string' | 'list';
  /** None for a boolean: its name alone is the condition. */
  operators: readonly Operator[];
  modifiers: readonly Modifier[];
  needs?: CostlyFact;
  /** What is wrong with a value or pattern; null when it could be one. */
  check?: (value: string, operator: Operator) => string | null;
  read: (facts: PullRequestFacts) => AttributeValue;
  description: string;
};

const textOperators = ['=', '!=', '~='] as const;
const anyModifier = ['-', '#'] as const;
const one = (value: string | null): AttributeValue => ({ known: true, value: [value] });

/** Every attribute that a condition can name. The parser, the matcher and the loader read nothing else. */
export const attributes = {
  author: {
    type: 'string',
    operators: textOperators,
    modifiers: anyModifier,
    check: checkLogin,
    read: ({ author }) => one(author),
    description: 'login of who opened the pull request; bots end in [bot]',
  },
  base: {
    type: 'string',
    operators: textOperators,
    modifiers: anyModifier,
    check: checkBranch,
    read: ({ base }) => one(base),
    description: 'branch that the pull request merges into',
  },
  draft: {
    type: 'boolean',
    operators: [],
    modifiers: ['-'],
    read: ({ isDraft }) => ({ known: true, value: isDraft }),
    description: 'whether the pull request is a draft',
  },
  files: {
    type: 'list',
    operators: textOperators,
    modifiers: anyModifier,
    needs: 'files',
    read: ({ files }) => files,
    description: 'paths of the changed files; a rename stands at both of its paths',
  },
  head: {
    type: 'string',
    operators: textOperators,
    modifiers: anyModifier,
    check: checkBranch,
    read: ({ head }) => one(head),
    description: 'branch that the pull request comes from',
  },
  label: {
    type: 'list',
    operators: textOperators,
    modifiers: anyModifier,
    needs: 'labels',
    read: ({ labels }) => labels,
    description: 'names of the labels',
  },
  scope: {
    type: 'list',
    operators: textOperators,
    modifiers: anyModifier,
    needs: 'scopes',
    read: ({ scopes }) =>
      scopes.all ? { known: true, isEverything: true } : { known: true, value: scopes.names },
    description: 'scopes that CI pushed; with all_scopes, every scope',
  },
  title: {
    type: 'string',
    operators: textOperators,
    modifiers: anyModifier,
    read: ({ title }) => one(title),
    description: 'title of the pull request',
  },
} as const satisfies Record<string, Attribute>;

export type AttributeName = keyof typeof attributes;

/** The attribute's row, with the row's general type. */
export const attributeOf = (name: AttributeName): Attribute => attributes[name];

export const attributeNames = Object.keys(attributes) as AttributeName[];

/** Names of the language that cannot be used yet: refused as such, not as misspelt. */
export const laterNames: readonly string[] = [
  ...['added-files', 'added-lines', 'approved-reviews-by', 'assignee', 'body', 'body-raw'],
  ...['changes-requested-reviews-by', 'check-cancelled', 'check-failure', 'check-neutral', 'check-pending'],
  ...['check-skipped', 'check-stale', 'check-success', 'check-success-or-neutral', 'check-timed-out'],
  ...['closed', 'closed-at', 'commented-reviews-by', 'commits', 'commits-behind', 'commits-unverified'],
  ...['conflict', 'created-at', 'current-datetime', 'deleted-lines', 'dependabot-dependency-name'],
  ...['dependabot-dependency-type', 'dependabot-update-type', 'depends-on', 'deployment-failure'],
  ...['deployment-success', 'dismissed-reviews-by', 'from-fork', 'github-review-decision'],
  ...['head-repo-full-name', 'linear-history', 'locked', 'merge-commit-sha', 'merged', 'merged-at'],
  ...['merged-by', 'mergify-configuration-changed', 'milestone', 'modified-files', 'modified-lines'],
  ...['number', 'queue-dequeue-reason', 'queue-merge-started-at', 'queue-name', 'queue-position'],
  ...['queued-at', 'removed-files', 'repository-full-name', 'repository-name', 'review-requested'],
  ...['review-threads-resolved', 'review-threads-unresolved', 'schedule', 'updated-at', 'updates'],
];
