import type { Need } from '../../conditions/needs.ts';
import type { AttributeGroup, FactEvent } from './attribute-group.ts';
import { ofChecks, ofRequiredChecks, deploymentChecks } from './checks.ts';
import { ofCheckCounts } from './check-counts.ts';
import { ofCommits, ofDependabot } from './commits.ts';
import { ofBody, ofDependencies } from './description.ts';
import { ofFiles } from './files.ts';
import {
  ofBehind,
  ofConflict,
  ofLastPush,
  ofMergeCommit,
  ofMerger,
  ofHeadRepository,
  ofAssignees,
  ofLabels,
  ofMilestone,
} from './own-values.ts';
import { ofComments, ofReviewDecision, ofReviewRequests, ofReviews, ofReviewThreads } from './reviews.ts';

/** Everything that may be missing, except scopes and teams, which do not belong to a pull request. */
export const attributeGroups: readonly AttributeGroup[] = [
  ofHeadRepository,
  ofBody,
  ofConflict,
  ofMilestone,
  ofReviewDecision,
  ofMerger,
  ofMergeCommit,
  ofLabels,
  ofAssignees,
  ofReviewRequests,
  ofReviews,
  ofComments,
  ofReviewThreads,
  ofFiles,
  ofCommits,
  ofDependabot,
  ofChecks,
  ofRequiredChecks,
  ofCheckCounts,
  deploymentChecks,
  ofBehind,
  ofLastPush,
  ofDependencies,
];

/** Whether these needs want a group. */
export const isNeeded = ({ needs }: AttributeGroup, needed: ReadonlySet<Need>): boolean =>
  needs === null || needs.some((need) => needed.has(need));

/** The facts that an event can change; none if it can change anything. */
export const readsOfEvent = (event: FactEvent | (string & {})): Need[] => [
  ...new Set(
    attributeGroups
      .filter(({ changedBy }) => changedBy?.some((each) => each === event))
      .flatMap(({ needs }) => needs ?? []),
  ),
];
