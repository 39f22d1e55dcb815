import type { ConditionFacts } from '../conditions/condition-facts.ts';

/** What is known of a pull request, for judging it. */
export type PullRequestFacts = ConditionFacts & {
  number: number;
  /** GitHub's GraphQL id. */
  nodeId: string;
  headSha: string;
};

/** When a pull request last changed, by GitHub's clock, in whole seconds. */
export function changedAtOf({ values }: PullRequestFacts): Date | null {
  const instant = values['updated-at'];
  return typeof instant === 'number' ? new Date(instant) : null;
}
