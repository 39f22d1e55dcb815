import type { Need } from '../../conditions/needs.ts';

/** Variables that switch on the parts of the queries that only some facts need. */
export const switches = {
  withBody: ['body', 'dependencies'],
  withLabels: ['labels'],
  withAssignees: ['assignees'],
  withMilestone: ['milestone'],
  withReviewRequests: ['review-requests'],
  withReviewDecision: ['review-decision'],
  withReviews: ['reviews'],
  withComments: ['comments'],
  withReviewThreads: ['review-threads'],
  withFiles: ['files'],
  withCommits: ['commits'],
  withChecks: ['checks', 'required-checks'],
  withRequiredChecks: ['required-checks'],
  withDeployments: ['deployments'],
  withMerger: ['merger'],
  withBehind: ['behind'],
} as const satisfies Record<string, readonly Need[]>;

export type Switch = keyof typeof switches;

/** @param off parts that stay off although they are needed. */
export function switchesFor(
  needed: ReadonlySet<Need>,
  off: ReadonlySet<Switch> = new Set(),
): Record<Switch, boolean> {
  const names = Object.keys(switches) as Switch[];
  const isOn = (name: Switch) => !off.has(name) && switches[name].some((need) => needed.has(need));
  return Object.fromEntries(names.map((name) => [name, isOn(name)])) as Record<Switch, boolean>;
}
