import { defineTask, NotNow } from '../database/queue/define-task.ts';
import { jobs } from '../database/queue/jobs.ts';
import { takeExemption } from '../exemptions/end-exemptions.ts';
import { classifyGitHubError } from '../github/github-error.ts';
import type { Effect, Item, Outcome } from '../outside/effect.ts';
import { defineLane } from '../outside/work-lane.ts';
import { observe } from '../statuses/observe.ts';
import type { StatusDeps } from '../statuses/status-deps.ts';
import { isFreshBy, nowOf } from '../time/clock.ts';
import { hasComment, pendingEnvironments, review, slowReviews, takeReview } from './ask-github.ts';
import { deploymentName, planReviews } from './decide-deployments.ts';
import {
  approvingComment,
  exemptComment,
  holdingComment,
  rejectingComment,
  supersededComment,
  type Deployment,
  type DeploymentVerdict,
  environmentKey,
  isHeldDeployment,
  type Review,
} from './deployment.ts';
import { openDeployments, type Settlement, takeReviews, watch } from './deployment-store.ts';
import {
  endWithoutUs,
  openSettling,
  pageOfDeployment,
  runPage,
  saveSettlement,
  type Settling,
} from './settle.ts';

// Tells GitHub what is decided on the deployments of a repository. GitHub takes one review at a time for an environment of
// a run, so each repository has a lane.

/** How many reviews are under way at once. */
const reviewsAtOnce = 8;
/** Milliseconds until the next try if GitHub was busy, or takes no more reviews now. */
const reviewAgainAfter = 1_000;
/** The most milliseconds until we ask again whether the one before has begun. Events tell, but they get lost. */
const mostBetweenAsks = 30_000;
/** Milliseconds that a plan counts. GitHub may answer slowly, and freezes change meanwhile. */
const plannedFreshFor = 3_000;

/** What we tell GitHub for a verdict, and in which words. */
function answerFor(
  { deps, repository }: Settling,
  deployment: Deployment,
  verdict: Exclude<DeploymentVerdict, { kind: 'queue' }>,
): { answer: Review; comment: string } {
  const page = pageOfDeployment(deps, repository);
  switch (verdict.kind) {
    case 'approve':
      return { answer: 'approved', comment: approvingComment(isHeldDeployment(deployment)) };
    case 'exempt':
      return { answer: 'approved', comment: exemptComment(verdict.exemption.reason) };
    case 'reject':
      return { answer: 'rejected', comment: rejectingComment(verdict.freezes, page) };
    case 'supersede': {
      const run = runPage({ deps, repository }, verdict.by.runId);
      return { answer: 'superseded', comment: supersededComment(verdict.by, run) };
    }
    default:
      return { answer: 'report', comment: holdingComment(verdict.freezes, page, nowOf(deps.clock)) };
  }
}

/** A report decides nothing. */
const stateOf = {
  approved: { state: 'approved' },
  rejected: { state: 'rejected' },
  superseded: { state: 'rejected' },
  report: {},
} as const;

/**
 * What GitHub is to be told, and until when that counts. With more than one attempt, an earlier request may have arrived:
 * only that is found out, and what is to do then is worked out anew.
 */
type ToReview = Item & {
  deployment: Deployment;
  verdict: DeploymentVerdict;
  told: { answer: Review; comment: string } | null;
  isFresh(): boolean;
};

/**
 * What a review came to: an end or a report; `nothing`: it did not arrive; `busy`: GitHub takes it in a moment;
 * `unsure`: it may have arrived.
 */
type Reviewed = Outcome & { came: Settlement | 'nothing' | 'busy' | 'unsure' };

const isDone = (came: Reviewed['came']): Reviewed => ({ kind: 'done', came });

/** No answer came, so it may have arrived. Its cause is the error. */
class Unanswered extends Error {}

/** What GitHub is told of the deployments of a repository that wait, in its lane. */
function reviewsIn(settling: Settling, turn: bigint): Effect<ToReview, Reviewed> {
  const { deps, repository, remote } = settling;
  const installationId = repository.installation.id;
  /** What is not tried again in this turn, and why. Null: GitHub was busy with it. It delays no others. */
  const left = new Map<string, unknown>();
  /** Of which answers GitHub showed nothing yet. Its lists may be late, and its refusal of the next one is not. */
  const unseen = new Map<string, Exclude<Review, 'report'>>();
  return {
    room: { first: reviewsAtOnce, most: reviewsAtOnce },
    async take(most) {
      const { acts, isQueued, before, plannedAt } = await planReviews(settling);
      const now = nowOf(deps.clock);
      const due = acts.filter(([deployment]) => !left.has(deploymentName(deployment)));
      if (due.length === 0) {
        for (const error of left.values()) if (error) throw error;
        const isAgain = isQueued || left.size > 0;
        return { items: [], then: isAgain ? lookAgainAt(left.size > 0 ? null : before, now) : null };
      }
      const begun = due.slice(0, most).map(([deployment, verdict]) => {
        const told = verdict.kind === 'queue' ? null : answerFor(settling, deployment, verdict);
        const freezeIds = 'freezes' in verdict ? verdict.freezes.map(({ id }) => id) : null;
        const isOpen = deployment.attempted !== null;
        return {
          deployment,
          verdict,
          told,
          answer: told?.answer ?? null,
          freezeIds: isOpen ? null : freezeIds,
        };
      });
      const taken = await takeReviews(deps.sql, repository.id, turn, begun);
      const isFresh = () => isFreshBy(deps.clock, plannedAt, plannedFreshFor);
      const items = taken.map(({ deployment, verdict, told, freezeIds }) => ({
        deployment: { ...deployment, freezeIds: freezeIds ?? deployment.freezeIds },
        attempts: deployment.attempted === null ? 1 : 2,
        ...{ verdict, told, isFresh },
      }));
      // If none was taken, they have ended, or the lane is no longer ours.
      return { items, then: items.length > 0 ? 'more' : now };
    },
    look: ({ deployment: { runId, environment, attempted }, verdict, told }) =>
      observe(deps, repository, async () => {
        if (attempted === 'report') {
          if (verdict.kind !== 'hold' || !(await hasComment(remote, runId, environment, told!.comment)))
            return null;
          return isDone({ report: told!.comment });
        }
        const pending = await pendingEnvironments(remote, runId);
        const isPending = pending.some((name) => environmentKey(name) === environmentKey(environment));
        return isPending ? null : isDone({ state: attempted! });
      }),
    async act({ deployment, verdict, told, isFresh, attempts }) {
      const { runId, environment, attempted } = deployment;
      const name = deploymentName(deployment);
      const isBusy = () => (left.set(name, null), isDone('busy'));
      if (attempts > 1 && attempted !== null && attempted !== 'report') unseen.set(name, attempted);
      if (attempts > 1 || !told) return isDone('nothing');
      const now = nowOf(deps.clock);
      if (verdict.kind === 'exempt' && !(await takeExemption(deps.db, verdict.exemption, deployment, now)))
        return isBusy();
      if (!(await takeReview(deps, installationId)))
        return { kind: 'limited', until: new Date(now.getTime() + reviewAgainAfter), came: 'nothing' };
      if (!isFresh()) return isDone('nothing');
      const asked = { ...stateOf[told.answer], comment: told.comment };
      const taken = await review(remote, runId, environment, asked).catch((error: unknown) => {
        const isLost = classifyGitHubError(error, deps.clock.now()).kind === 'down';
        throw isLost ? new Unanswered('no answer to a review', { cause: error }) : error;
      });
      if (taken === 'race') return isBusy();
      if (taken === 'not waiting') {
        const state = unseen.get(name) ?? (await endWithoutUs(remote, deployment));
        return { kind: 'refused', came: { state } };
      }
      if (told.answer !== 'report') return isDone({ state: told.answer });
      // Somebody approved our part before, and another rule still holds it.
      return isDone(taken === 'reviewed' ? { state: 'approved', isFree: true } : { report: told.comment });
    },
    async failureOf(thrown, { deployment, attempts }) {
      const isLost = thrown instanceof Unanswered;
      const error = isLost ? thrown.cause : thrown;
      const came = attempts > 1 || isLost ? 'unsure' : 'nothing';
      const failure = classifyGitHubError(error, deps.clock.now());
      if (failure.kind === 'limited' && failure.isSecondary) await slowReviews(deps, installationId);
      // A limit counts for the installation.
      const seen = await observe(deps, repository, () => Promise.reject(error as Error)).catch(
        (each: unknown) => each,
      );
      if (seen instanceof NotNow && seen.until) return { kind: 'limited', until: seen.until, came };
      left.set(deploymentName(deployment), seen);
      return { kind: 'down', came };
    },
    async settle(results) {
      for (const { item, result } of results) {
        const { came } = result;
        const settlement = typeof came === 'string' ? {} : came;
        if (came !== 'unsure') await saveSettlement(settling, item.deployment, settlement, turn);
      }
    },
  };
}

/** When to look again at what waits for one that has not begun: a runner may come soon, or in hours. */
function lookAgainAt(before: Deployment | null, now: Date): Date {
  const since = before ? (now.getTime() - before.decidedAt!.getTime()) / 4 : 0;
  return new Date(now.getTime() + Math.min(Math.max(since, reviewAgainAfter), mostBetweenAsks));
}

export const reviewDeploymentsTask = defineLane(
  jobs.reviewDeployments,
  async (deps: StatusDeps, { repositoryId }, turn) => {
    const id = BigInt(repositoryId);
    await watch(deps.db, id, nowOf(deps.clock));
    if ((await openDeployments(deps.db, id, nowOf(deps.clock))).length === 0) return null;
    return reviewsIn(await openSettling(deps, id), turn);
  },
  { takers: 32 },
);

export const decideDeploymentsTask = defineTask(jobs.decideDeployments, (deps, { repositoryId }) =>
  deps.queue.send([jobs.reviewDeployments(BigInt(repositoryId))]),
);
