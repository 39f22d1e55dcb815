import { nowOf } from '../../clock.ts';
import { hasUnjudged } from '../../freezes/list-freezes.ts';
import { freezesAreOn } from '../../installations/product.ts';
import { isTooManyRequests, Refusal } from '../../errors.ts';
import type { PullRequestExplanation } from '../../explanations/explain-pull-request.ts';
import { recallPullRequest } from '../../explanations/recall.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';
import type { Hold } from '../../statuses/status.ts';
import { heldPullRequests, type ReasonNotHeld } from '../../statuses/held-pull-requests.ts';
import type { PageDeps } from '../reader.ts';
import type { ShownFreeze } from './freeze-card.ts';

/** A pull request and what holds it. What only GitHub knows is null while GitHub is not available. */
export type Look = {
  number: number;
  headSha: string;
  holding: ShownFreeze[];
  /** Whether a freeze began after the open pull requests were last checked, and GitHub is not available. */
  isUnjudged: boolean;
  /** Why it may not be held although freezes should hold it. */
  notHeld: ReasonNotHeld | null;
  live:
    | (Pick<PullRequestExplanation, 'pullRequest' | 'status' | 'nextChangeAt'> & {
        passing: ShownFreeze[];
        sharedHolds: Hold[];
      })
    | null;
};

/**
 * A pull request as GitHub shows it now, else as Holdfast last saw it.
 * @returns `absent` if there is none; `silent` if GitHub does not answer and Holdfast has never seen it.
 */
export async function lookAtPullRequest(
  deps: PageDeps,
  repository: FoundRepository,
  number: bigint,
): Promise<Look | 'absent' | 'silent'> {
  try {
    const { freezes, ...live } = await deps.explanations.get(deps, repository, number);
    const { headSha } = live.pullRequest.facts;
    const isHolding = ({ verdict, pass }: ShownFreeze) =>
      !pass && (verdict === 'frozen' || verdict === 'unknown');
    const passing = freezes.filter((each) => !isHolding(each));
    return {
      number: Number(number),
      headSha,
      holding: freezes.filter(isHolding),
      isUnjudged: false,
      notHeld: await whyNotHeld(deps, repository, Number(number), live.pullRequest.status?.state ?? null),
      live: { ...live, passing },
    };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.code === 'not-found') return 'absent';
    const recalled = await recallPullRequest(deps, repository, Number(number));
    // While the installation is suspended, waiting does not help.
    if (!recalled && isTooManyRequests(error)) throw error;
    if (!recalled) return error.code === 'unavailable' ? 'silent' : 'absent';
    const holding = recalled.heldBy.map((freeze) => ({ freeze }));
    const notHeld = await whyNotHeld(deps, repository, Number(number));
    const isUnjudged =
      freezesAreOn(repository.products) && (await hasUnjudged(deps.db, repository, nowOf(deps.clock)));
    return { number: Number(number), headSha: recalled.headSha, holding, isUnjudged, notHeld, live: null };
  }
}

/** @param shown the status that GitHub showed just now, if it was asked. It may not show what we wrote yet. */
async function whyNotHeld(
  deps: PageDeps,
  repository: FoundRepository,
  number: number,
  shown?: string | null,
): Promise<ReasonNotHeld | null> {
  const [held] = await heldPullRequests(deps, repository.id, number);
  const isShown = shown === undefined || (shown !== null && shown !== 'success');
  return held?.notHeld ?? (isShown ? null : 'waiting');
}
