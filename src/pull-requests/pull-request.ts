import type { ConditionFacts } from '../conditions/condition-facts.ts';

/** What is known of a pull request, for judging it. */
export type PullRequestFacts = ConditionFacts & {
  number: number;
  /** GitHub's GraphQL id. */
  nodeId: string;
  headSha: string;
};
