import type { ConditionNode, Leaf } from './ast.ts';
import { attributeOf, attributeNames } from './attributes.ts';
import type { DecidedBy } from './attributes/attribute.ts';
import type { Matcher } from './match.ts';

/**
 * Facts that we only load if a condition reads them, with the cost of loading. Everything else comes with the query that
 * reads 100 pull requests.
 */
export const needs = {
  body: 'more text in the query',
  labels: 'one list in the query',
  assignees: 'one list in the query',
  milestone: 'one object in the query',
  'review-requests': 'one list in the query, to its end',
  'review-decision': 'one value in the query',
  reviews: 'one list in the query, to its end',
  comments: 'one list in the query, to its end',
  'review-threads': 'one list in the query, to its end',
  files: 'one list in the query; over 100 files, or with a rename, one request for each 100',
  commits: 'one list in the query, to its end',
  checks: 'one list in the query, to its end',
  'required-checks': 'one object in the query',
  'check-counts': 'some numbers in the query',
  deployments: 'one list in the query, to its end',
  merger: 'two values in the query',
  conflict: 'nothing',
  behind: 'one request for each pull request',
  'last-push': 'one request for each pull request, after each push',
  dependencies: 'the body, and one request for each pull request that is named',
  scopes: 'nothing: in our own database',
  teams: 'one request for each team and 100 members',
} as const;

export type Need = keyof typeof needs;

/** The facts to load for evaluating conditions. */
export type FactNeeds = {
  facts: ReadonlySet<Need>;
  /** Teams as they were written, in lower case: `@core`, `@acme/core`. */
  teams: ReadonlySet<string>;
  /** The conditions themselves, which search large facts as soon as they are loaded. */
  matchers?: readonly Matcher[];
};

/** The facts that these conditions read. A freeze on `base` or `#files` loads no files. */
export function neededFacts(nodes: ConditionNode[]): FactNeeds {
  const facts = new Set<Need>();
  const teams = new Set<string>();
  const visit = (node: ConditionNode): void => {
    if (node.kind === 'not') visit(node.node);
    else if (node.kind !== 'leaf') node.nodes.forEach(visit);
    else {
      for (const need of needsOfLeaf(node)) facts.add(need);
      if (node.test.type === 'team') teams.add(node.test.team);
    }
  };
  nodes.forEach(visit);
  return { facts, teams };
}

function needsOfLeaf({ attribute, isCounted, test }: Leaf): Need[] {
  const { needs, hasOwnCount } = attributeOf(attribute);
  if (test.type === 'team') return needs ? [needs, 'teams'] : ['teams'];
  return needs && !(isCounted && hasOwnCount) ? [needs] : [];
}

/** Who decides a value, in words. */
const deciders: Record<DecidedBy, string> = {
  author: 'its author',
  'author-adds': 'its author, to more',
  'author-clears': 'its author, to no',
  'author-elsewhere': 'its author, elsewhere',
  nobody: 'nobody',
  opening: 'its opening',
  collaborators: 'triage or write access',
  reviewers: 'reviewers',
  ci: 'CI keys',
  pusher: 'who pushes last',
  dependabot: 'Dependabot',
};

/** The table by name, as text for the documentation and the command line. */
export const attributeRows = () =>
  attributeNames.map((name) => {
    const { type, operators, modifiers, isCountRequired, source, needs: need, ...row } = attributeOf(name);
    return {
      name: isCountRequired ? `#${name}` : name,
      type,
      operators,
      modifiers: isCountRequired ? ['-'] : modifiers,
      source,
      cost: need ? needs[need] : 'nothing',
      description: row.description,
      decidedBy: deciders[row.decidedBy],
    };
  });
