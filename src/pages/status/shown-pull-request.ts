import { html } from 'hono/html';
import { nowOf } from '../../clock.ts';
import { hasUnjudged } from '../../freezes/list-freezes.ts';
import { freezesAreOn } from '../../installations/product.ts';
import { isTooManyRequests, Refusal } from '../../errors.ts';
import { type PullRequestExplanation, heldBelow } from '../../explanations/explain-pull-request.ts';
import { recallPullRequest } from '../../explanations/recall.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';
import type { Hold } from '../../statuses/status.ts';
import { heldPullRequests, type ReasonNotHeld } from '../../statuses/held-pull-requests.ts';
import type { PageDeps } from '../reader.ts';
import type { ShownFreeze } from './freeze-card.ts';
import { whyNot } from '../held.ts';
import { instant, type Times } from '../text.ts';
import type { Html } from '../layout.ts';

/** A pull request and what holds it. What only GitHub knows is null while GitHub is not available. */
export type ShownPullRequest = {
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
export async function showablePullRequest(
  deps: PageDeps,
  repository: FoundRepository,
  number: bigint,
): Promise<ShownPullRequest | 'absent' | 'silent'> {
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

/** The first sentence of a pull request's page: whether it is held, by how many freezes, and until when. */
export function verdict(
  { holding, isUnjudged, notHeld, live }: ShownPullRequest,
  isOpen: boolean,
  times: Times,
): Html {
  if (!isOpen) return html`<span class="badge">Closed</span> Freezes hold open pull requests only.`;
  if (holding.length === 0 && isUnjudged)
    return html`<span class="badge held">Not judged yet</span> A freeze began after Holdfast last checked this
      pull request.`;
  if (holding.length === 0 && !live?.sharedHolds.length)
    return html`<span class="badge free">Free</span> No freeze holds this pull request.`;
  const said = holding.length === 0 && live && heldBelow(live).length > 0 ? belowIt : byWhat(holding, times);
  if (notHeld === 'leaking')
    return html`<span class="badge leaking">Not held</span> ${said}, but GitHub would merge it: its base
      branch does not require the Holdfast status, or accepts it from other sources. An admin can run
      <code>holdfast doctor</code> to find out why.`;
  if (notHeld) return html`<span class="badge held">Pending</span> ${said}, but ${whyNot[notHeld]}.`;
  return html`<span class="badge held">Held</span> ${said}.`;
}

const belowIt = html`A pull request below it in its stack is held, and so is this one`;

function byWhat(freezes: ShownFreeze[], times: Times): Html {
  if (freezes.length === 0) return html`Its commit is held, and so is this pull request`;
  const by = freezes.length === 1 ? 'A freeze holds' : `${freezes.length} freezes hold`;
  const shown = freezes.map(({ freeze }) => freeze);
  return html`${by} this pull request${until(shown, times)}`;
}

/** When the last of the freezes ends. */
function until(freezes: ShownFreeze['freeze'][], times: Times): Html {
  const endless = freezes.filter(({ endsAt }) => endsAt === null).length;
  if (endless === 0) {
    const last = freezes.reduce((one, other) => (one.endsAt! >= other.endsAt! ? one : other));
    return html` until <strong>${instant(last.endsAt!, times, last.timezone)}</strong>`;
  }
  if (freezes.length === 1) return html` <strong>until it is removed</strong>`;
  return html`, <strong>${endless === 1 ? 'one' : endless} of them without an end</strong>`;
}
