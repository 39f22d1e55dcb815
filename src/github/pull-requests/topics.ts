import type { AttributeName, AttributeValues } from '../../conditions/attributes.ts';
import type { Need } from '../../conditions/needs.ts';
import type { ReadPullRequest } from './ask-for-pull-requests.ts';
import { type Fact, known, notKnown } from './fact.ts';
import { loginOf } from '../facts/login-of.ts';
import { readChecks, reportedAttributes } from '../facts/read-checks.ts';
import { readCommits } from '../facts/read-commits.ts';
import { readDependabot } from '../facts/read-dependabot.ts';
import { readDeployments } from '../facts/read-deployments.ts';
import { readFiles } from '../facts/read-files.ts';
import { readHeadRepository } from '../facts/read-own-values.ts';
import { readRequiredChecks } from '../facts/read-required-checks.ts';
import { readComments, readReviewRequests, readReviews, readReviewThreads } from '../facts/read-reviews.ts';
import { withoutComments } from '../facts/without-comments.ts';
import type { LoadFrom } from './load-pull-requests.ts';
import { partOf } from './part-of.ts';
import type { CommitAnswer } from '../queries/answers.ts';
import {
  assigneeList,
  checkList,
  commentList,
  commitList,
  deploymentList,
  labelList,
  type List,
  reviewList,
  reviewRequestList,
  reviewThreadList,
} from '../queries/lists.ts';
import { readBehind } from './read-behind.ts';
import { readBody } from './read-body.ts';
import { readChangedFiles } from './read-changed-files.ts';
import { type MergedOnes, readDependencies } from './read-dependencies.ts';
import { readLastPusher } from './read-last-pusher.ts';

/** One pull request while its facts are read. */
export type Subject = ReadPullRequest & {
  from: LoadFrom;
  mergedOnes: MergedOnes;
  /** A list to its end. It is read only once. */
  list<Item>(list: List<Item>): Promise<Fact<Item[]>>;
};

/** Attributes that become known together, or not at all. */
export type Topic = {
  /** Read if any of these is needed; null: always. */
  needs: readonly Need[] | null;
  attributes: readonly AttributeName[];
  read(subject: Subject): Promise<Fact<AttributeValues>> | Fact<AttributeValues>;
};

/** Everything that may be missing, except scopes and teams, which do not belong to a pull request. */
export const topics: readonly Topic[] = [
  {
    needs: null,
    attributes: ['from-fork', 'head-repo-full-name'],
    read: (subject) => partOf(subject, 'headRepository', 'head repository', readHeadRepository),
  },
  {
    needs: ['body'],
    attributes: ['body', 'body-raw'],
    read: async (subject) =>
      map(await readBody(subject.from, subject), (body) => ({
        body: withoutComments(body),
        'body-raw': body,
      })),
  },
  {
    needs: ['conflict'],
    attributes: ['conflict'],
    read: ({ answer }) => known({ conflict: answer.mergeable === 'CONFLICTING' }),
  },
  {
    needs: ['milestone'],
    attributes: ['milestone'],
    read: (subject) =>
      partOf(subject, 'milestone', 'milestone', ({ milestone }) => ({ milestone: milestone?.title ?? null })),
  },
  {
    needs: ['review-decision'],
    attributes: ['github-review-decision'],
    read: (subject) =>
      partOf(subject, 'reviewDecision', 'review decision', ({ reviewDecision }) => ({
        'github-review-decision': reviewDecision ?? null,
      })),
  },
  {
    needs: ['merger'],
    attributes: ['merged-by'],
    read: (subject) =>
      partOf(subject, 'mergedBy', 'merger', ({ mergedBy }) => ({ 'merged-by': loginOf(mergedBy ?? null) })),
  },
  {
    needs: ['merger'],
    attributes: ['merge-commit-sha'],
    read: (subject) =>
      partOf(subject, 'mergeCommit', 'merge commit', ({ mergeCommit }) => ({
        'merge-commit-sha': mergeCommit?.oid ?? null,
      })),
  },
  listTopic('labels', ['label'], labelList, (labels) => ({ label: labels.map(({ name }) => name) })),
  listTopic('assignees', ['assignee'], assigneeList, (people) => ({
    assignee: people.map(({ login }) => login),
  })),
  {
    needs: ['review-requests'],
    attributes: ['review-requested'],
    read: async ({ list }) => andThen(await list(reviewRequestList), readReviewRequests),
  },
  listTopic(
    'reviews',
    ['approved-reviews-by', 'changes-requested-reviews-by', 'dismissed-reviews-by'],
    reviewList,
    readReviews,
  ),
  listTopic('comments', ['commented-reviews-by'], commentList, readComments),
  listTopic(
    'review-threads',
    ['review-threads-resolved', 'review-threads-unresolved'],
    reviewThreadList,
    readReviewThreads,
  ),
  {
    needs: ['files'],
    attributes: ['files', 'added-files', 'modified-files', 'removed-files', 'mergify-configuration-changed'],
    read: async (subject) => map(await readChangedFiles(subject.from, subject), readFiles),
  },
  {
    needs: ['commits'],
    attributes: ['commits', 'commits-unverified', 'linear-history'],
    read: async (subject) => map(await commitsOf(subject), readCommits),
  },
  {
    needs: ['commits'],
    attributes: ['dependabot-dependency-name', 'dependabot-dependency-type', 'dependabot-update-type'],
    read: async (subject) => readDependabot(loginOf(subject.answer.author), await commitsOf(subject)),
  },
  {
    needs: ['checks', 'required-checks'],
    attributes: reportedAttributes,
    read: async ({ list, from }) => {
      const { statusContext } = from.deps.config;
      return map(await list(checkList), (contexts) => readChecks(contexts, statusContext, null));
    },
  },
  {
    needs: ['required-checks'],
    attributes: ['check-pending'],
    read: async (subject) => {
      const baseRef = partOf(subject, 'baseRef', 'required checks', (answer) => answer.baseRef);
      const required = andThen(baseRef, readRequiredChecks);
      if (!required.known) return required;
      const { statusContext } = subject.from.deps.config;
      return map(await subject.list(checkList), (contexts) =>
        readChecks(contexts, statusContext, required.value),
      );
    },
  },
  listTopic('deployments', ['deployment-success', 'deployment-failure'], deploymentList, readDeployments),
  {
    needs: ['behind'],
    attributes: ['commits-behind'],
    read: async ({ from, answer }) =>
      map(await readBehind(from, answer), (behind) => ({ 'commits-behind': behind })),
  },
  {
    needs: ['last-push'],
    attributes: ['last-pushed-by'],
    read: async ({ from, answer }) =>
      map(await readLastPusher(from, answer), (login) => ({ 'last-pushed-by': login })),
  },
  {
    needs: ['dependencies'],
    attributes: ['depends-on'],
    read: async (subject) => {
      const { from, answer, mergedOnes } = subject;
      const body = await readBody(from, subject);
      if (!body.known) return body;
      return map(await readDependencies(from, answer, body.value, mergedOnes), (merged) => ({
        'depends-on': merged,
      }));
    },
  },
];

function listTopic<Item>(
  need: Need,
  attributes: readonly AttributeName[],
  list: List<Item>,
  values: (items: Item[]) => AttributeValues,
): Topic {
  return { needs: [need], attributes, read: async (subject) => map(await subject.list(list), values) };
}

const map = <From, To>(fact: Fact<From>, to: (value: From) => To): Fact<To> =>
  fact.known ? known(to(fact.value)) : fact;

const andThen = <From, To>(fact: Fact<From>, to: (value: From) => Fact<To>): Fact<To> =>
  fact.known ? to(fact.value) : fact;

/** All files: GitHub may list fewer than it counts. */
async function commitsOf({ list, answer }: Subject): Promise<Fact<CommitAnswer[]>> {
  return andThen(await list(commitList), (commits) =>
    commits.length < answer.commits.totalCount
      ? notKnown(`GitHub lists only ${commits.length} of its ${answer.commits.totalCount} commits`)
      : known(commits.map(({ commit }) => commit)),
  );
}
