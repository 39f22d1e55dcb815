import type { Switch } from './switches.ts';

/**
 * The parts of a pull request that GitHub can fail to give while the rest stays valid. Each has the switch that leaves
 * it out of the query, if it is read on its own afterwards. If any other part fails, the answer cannot be used.
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
  // Without it, the base is compared by name.
  base: null,
  headRepository: null,
  // Without it, the commit counts as not known yet.
  potentialMergeCommit: null,
  // These say only how urgent it is. The queue's entry may need another permission.
  autoMergeRequest: null,
  mergeQueueEntry: null,
  // The head commit and its parts:
  commits: null,
  status: null,
  statusCheckRollup: null,
  deployments: null,
  parents: null,
} satisfies Record<string, Switch | null>;

export type Part = keyof typeof parts;

const ofHead: readonly Part[] = ['status', 'statusCheckRollup', 'deployments', 'parents'];

/**
 * The part that an error is about; null if it is about another part, or about the whole.
 * @param path within the pull request: `commits`, `nodes`, 0, `commit`, `deployments`.
 */
export function partAt(path: readonly (string | number)[]): Part | null {
  const field = path[0];
  const ofCommit = ofHead.find((part) => part === path[4]);
  if (field === 'commits' && ofCommit) return ofCommit;
  return typeof field === 'string' && Object.hasOwn(parts, field) ? (field as Part) : null;
}

/** The switch that leaves out the part, to read it on its own; null if there is none. */
export const switchOf = (part: Part): Switch | null => parts[part];

/** Whether that part is missing if this one is: without the head commit, all of its parts are missing. */
export const isWithin = (part: Part, missing: Part): boolean =>
  part === missing || (missing === 'commits' && ofHead.includes(part));
