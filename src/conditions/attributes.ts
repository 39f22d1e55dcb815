import type { Fact, PullRequestFacts } from '../pull-requests/pull-request.ts';
import type { Operator } from './ast.ts';
import { checkBranch, checkLogin } from './check-value.ts';

/** What an attribute has at one pull request: no value (null), one, or many. */
export type AttributeValue =
  Fact<(string | null)[]> | { known: true; value: boolean } | { known: true; isEverything: true };

/** A fact that costs a query of its own, and is loaded only where a condition needs it. */
export type CostlyFact = 'labels' | 'files' | 'scopes';

export type Attribute = {
  type: 'boolean' | 'string' | 'list';
  /** None for a boolean: its name alone is the condition. */
  operators: readonly Operator[];
  needs?: CostlyFact;
  /** What is wrong with a literal value; null when it could be one. */
  check?: (value: string) => string | null;
  read: (facts: PullRequestFacts) => AttributeValue;
  description: string;
};

const textOperators = ['=', '!=', '~='] as const;
const one = (value: string | null): AttributeValue => ({ known: true, value: [value] });

/** Every attribute that a condition can name. The parser, the matcher and the loader read nothing else. */
export const attributes = {
  author: {
    type: 'string',
    operators: textOperators,
    check: checkLogin,
    read: ({ author }) => one(author),
    description: 'login of who opened the pull request; bots end in [bot]',
  },
  base: {
    type: 'string',
    operators: textOperators,
    check: checkBranch,
    read: ({ base }) => one(base),
    description: 'branch that the pull request merges into',
  },
  draft: {
    type: 'boolean',
    operators: [],
    read: ({ isDraft }) => ({ known: true, value: isDraft }),
    description: 'whether the pull request is a draft',
  },
  files: {
    type: 'list',
    operators: textOperators,
    needs: 'files',
    read: ({ files }) => files,
    description: 'paths of the changed files; a rename stands at both of its paths',
  },
  head: {
    type: 'string',
    operators: textOperators,
    check: checkBranch,
    read: ({ head }) => one(head),
    description: 'branch that the pull request comes from',
  },
  label: {
    type: 'list',
    operators: textOperators,
    needs: 'labels',
    read: ({ labels }) => labels,
    description: 'names of the labels',
  },
  scope: {
    type: 'list',
    operators: textOperators,
    needs: 'scopes',
    read: ({ scopes }) =>
      scopes.all ? { known: true, isEverything: true } : { known: true, value: scopes.names },
    description: 'scopes that CI pushed; with all_scopes every scope condition matches',
  },
  title: {
    type: 'string',
    operators: textOperators,
    read: ({ title }) => one(title),
    description: 'title of the pull request',
  },
} as const satisfies Record<string, Attribute>;

export type AttributeName = keyof typeof attributes;

/** The attribute's row, with the row's general type. */
export const attributeOf = (name: AttributeName): Attribute => attributes[name];

export const attributeNames = Object.keys(attributes) as AttributeName[];
