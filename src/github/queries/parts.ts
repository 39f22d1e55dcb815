import type { Switch } from './switches.ts';

/**
 * The parts of a pull request that GitHub can fail to give without the rest being doubtful, each with the switch
 * that leaves it out of the query where it is read on its own afterwards. A failure of any other part means that the
 * answer is not to be used.
 */
const parts = {
  body: 'withBody',
  labels: null,
  assignees: 'withAssignees',
  milestone: null,
  reviewRequests: null,
  reviewDecision: null,
  latestOpinionatedReviews: null,
  reviews: null,
  reviewThreads: 'withReviewThreads',
  files: null,
  allCommits: 'withCommits',
  mergedBy: null,
  mergeCommit: null,
  baseRef: null,
  // Then its base is compared by name.
  base: null,
  headRepository: null,
  // Counts as one that is not known yet.
  potentialMergeCommit: null,
  // How urgent it is, and nothing else; the queue's entry may need a permission of its own.
  autoMergeRequest: null,
  mergeQueueEntry: null,
  // The head commit, and of it:
  commits: null,
  status: null,
  statusCheckRollup: null,
  deployments: null,
  parents: null,
} satisfies Record<string, Switch | null>;

export type Part = keyof typeof parts;

const ofHead: readonly Part[] = ['status', 'statusCheckRollup', 'deployments', 'parents'];

/**
 * The part that an error is about; null where it is about another one, or about the whole.
 * @param path within the pull request: `commits`, `nodes`, 0, `commit`, `deployments`.
 */
export function partAt(path: readonly (string | number)[]): Part | null {
  const field = path[0];
  const ofCommit = ofHead.find((part) => part === path[4]);
  if (field === 'commits' && ofCommit) return ofCommit;
  return typeof field === 'string' && Object.hasOwn(parts, field) ? (field as Part) : null;
}

/** What leaves the part out, to be read on its own; null where it cannot be. */
export const switchOf = (part: Part): Switch | null => parts[part];

/** Whether without this part that one is missing too: without the head commit, all that is of it. */
export const isWithin = (part: Part, missing: Part): boolean =>
  part === missing || (missing === 'commits' && ofHead.includes(part));
