import { html } from 'hono/html';
import { nowOf } from '../../time/clock.ts';
import { coversFreeze } from '../../exemptions/exemption.ts';
import type { asPublic, Freeze } from '../../freezes/freeze.ts';
import { hasUnjudged, listFreezes } from '../../freezes/list-freezes.ts';
import { hidingAmong } from '../../statuses/judge.ts';
import { freezesAreOn } from '../../installations/product.ts';
import { isTooManyRequests, Refusal } from '../../errors.ts';
import { heldBelow, type PullRequestExplanation } from '../../explanations/explain-pull-request.ts';
import { placeEnforcement } from '../../explanations/enforcement/recent-enforcement.ts';
import { recallPullRequest } from '../../explanations/explanations-for-pages.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';
import type { Hold } from '../../statuses/status.ts';
import { heldPullRequests } from '../../statuses/held-pull-requests.ts';
import { shownNow } from '../../statuses/plan-write.ts';
import { statusOn } from '../../statuses/write-store.ts';
import { limitedUntilBy, type PageDeps } from '../reader.ts';
import { exemptBy, exemptUntil } from './exemption-forms.ts';
import { reasons, type ShownFreeze, whyHeld } from './freeze-card.ts';
import type { ExemptionRecord } from '../../exemptions/exemption-store.ts';
import { asGitHubSees, isUnsaid, type ShownHeld, whyNot } from '../held.ts';
import { instantText, quotedLast, type Times } from '../text.ts';
import type { Html } from '../html.ts';
import { type State, stateLine } from '../states.ts';
import { pullRequestPath } from '../../page-paths.ts';
import type { StackPlace } from '../../github/pull-requests/pull-request.ts';

/** A pull request and what holds it. What only GitHub knows is null while GitHub is not available. */
export type ShownPullRequest = {
  number: number;
  headSha: string;
  holding: ShownFreeze[];
  /** Whether a freeze began after the open pull requests were last checked, and GitHub is not available. */
  isUnjudged: boolean;
  /** Why it may not be held although freezes should hold it. */
  notHeld: ShownHeld['notHeld'];
  /** When GitHub answers again, if its rate limit is used up. */
  limitedUntil: Date | null;
  /** Whether GitHub takes no more statuses on its commit. */
  isFinal: boolean;
  live:
    | (Pick<PullRequestExplanation, 'pullRequest' | 'status' | 'nextChangeAt'> & {
        passing: ShownFreeze[];
        sharedHolds: Hold[];
      })
    | null;
};

/**
 * A pull request as GitHub shows it now, else as Holdfast last saw it.
 * @param isInside whether the viewer may know whether its branch requires our check.
 * @returns `absent` if there is none; `silent` if GitHub does not answer and Holdfast has never seen it.
 */
export async function showablePullRequest(
  deps: PageDeps,
  repository: FoundRepository,
  number: bigint,
  isInside: boolean,
): Promise<ShownPullRequest | 'absent' | 'silent'> {
  try {
    const { freezes, ...live } = await deps.explanations.get(deps, repository, number);
    const { headSha } = live.pullRequest.facts;
    const head = await statusOn(deps.db, repository.id, headSha);
    // What GitHub said may be some seconds old, and what we wrote since is newer.
    const status = shownNow(live.pullRequest.status, head, repository.observations + 1n, nowOf(deps.clock));
    const pullRequest = { ...live.pullRequest, status };
    const isHolding = ({ verdict, pass }: ShownFreeze) =>
      !pass && (verdict === 'frozen' || verdict === 'unknown');
    const passing = freezes.filter((each) => !isHolding(each));
    return {
      number: Number(number),
      headSha,
      holding: freezes.filter(isHolding),
      isUnjudged: false,
      notHeld: await whyNotHeldNow(deps, repository, pullRequest, isInside),
      limitedUntil: null,
      isFinal: head?.isFinal ?? false,
      live: { ...live, pullRequest, passing },
    };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.code === 'not-found') return 'absent';
    const recalled = await recallPullRequest(deps, repository, Number(number));
    // While the installation is suspended, waiting does not help.
    if (!recalled && isTooManyRequests(error)) throw error;
    if (!recalled) return error.code === 'unavailable' ? 'silent' : 'absent';
    const holding = recalled.heldBy.map((freeze) => ({ freeze }));
    const known = await heldPullRequests(deps, repository.id, Number(number));
    const notHeld = (await asGitHubSees(deps, repository, known, isInside))[0]?.notHeld ?? null;
    const isUnjudged =
      freezesAreOn(repository.products) && (await hasUnjudged(deps.db, repository, nowOf(deps.clock)));
    const limitedUntil = limitedUntilBy(deps, repository, error);
    const isFinal = (await statusOn(deps.db, repository.id, recalled.headSha))?.isFinal ?? false;
    return {
      number: Number(number),
      headSha: recalled.headSha,
      ...{ holding, isUnjudged, notHeld, limitedUntil, isFinal, live: null },
    };
  }
}

/** By the status that GitHub showed just now, which may not show what we wrote yet, and by what it requires. */
async function whyNotHeldNow(
  deps: PageDeps,
  repository: FoundRepository,
  { facts, status }: PullRequestExplanation['pullRequest'],
  isInside: boolean,
): Promise<ShownHeld['notHeld']> {
  const all = await heldPullRequests(deps, repository.id, facts.number);
  const bases = isInside ? all.flatMap((each) => (isUnsaid(each) ? (each.baseRef ?? []) : [])) : [];
  await Promise.all(bases.map((base) => placeEnforcement(deps, repository, { base })));
  const [held] = await asGitHubSees(deps, repository, all, isInside);
  const isShown = status !== null && status.state !== 'success';
  return held?.notHeld ?? (isShown ? null : 'waiting');
}

/** Hides the reason of an exemption without a public reason if it covers a freeze that has one. */
export async function hideReason(
  deps: PageDeps,
  repository: FoundRepository,
  found: ExemptionRecord | null,
): Promise<ExemptionRecord | null> {
  if (!found || found.publicReason !== null) return found;
  const hiding = hidingAmong(await listFreezes(deps.sql, repository, nowOf(deps.clock)));
  const isHidden = hiding.some((id) => coversFreeze(found, id));
  return { ...found, publicReason: isHidden ? '' : null };
}

/** All freezes that the page shows. */
export const freezesOfPage = ({ holding, live }: ShownPullRequest): Freeze[] =>
  [...holding, ...(live?.passing ?? []), ...(live?.sharedHolds ?? [])].map(({ freeze }) => freeze);

/** The same as a viewer may read it. */
export function readAs(
  read: typeof asPublic,
  { holding, live, ...rest }: ShownPullRequest,
): ShownPullRequest {
  const each = <F extends { freeze: Freeze }>(all: F[]) =>
    all.map((one) => ({ ...one, freeze: read(one.freeze) }));
  return {
    ...rest,
    holding: each(holding),
    live: live && { ...live, passing: each(live.passing), sharedHolds: each(live.sharedHolds) },
  };
}

/** Whether it is open, as far as Holdfast knows. */
export const isOpenPullRequest = ({ live }: ShownPullRequest): boolean => live?.pullRequest.isOpen ?? true;

/** What a page says first: a word, in the colour of what it means, and a sentence. */
export type PageVerdict = { tone: 'held' | 'free' | 'leaking' | 'past' | 'merged'; word: string; text: Html };

/**
 * Whether an open pull request is blocked, by how many freezes, and until when.
 * @param exemption the approved exemption that is not over, if any.
 */
export function verdictOfPage(
  { holding, isUnjudged, notHeld, live }: ShownPullRequest,
  exemption: ExemptionRecord | null,
  times: Times,
): PageVerdict {
  if (holding.length === 0 && isUnjudged) return { tone: 'held', word: 'Not judged yet', text: unjudged };
  if (holding.length === 0 && !live?.sharedHolds.length)
    return exemption
      ? { tone: 'free', word: 'Exempt', text: exemptUntil(exemption, times) }
      : { tone: 'free', word: 'Free', text: html`No freeze holds this pull request.` };
  const said = holding.length > 0 || !live ? byWhat(holding, times) : byOthers(live, times);
  if (notHeld === 'leaking')
    return {
      tone: 'leaking',
      word: 'Not blocked',
      text: html`${said}, but GitHub would merge it: its base branch does not require the Holdfast status, or
        accepts it from other sources. An admin can run <code>holdfast doctor</code> to find out why.`,
    };
  if (notHeld === 'unrequired')
    return {
      tone: 'leaking',
      word: 'Not blocked',
      text: html`${said}, but nothing requires the check, so GitHub would merge it. An admin can run
        <code>holdfast doctor</code> to find out why.`,
    };
  if (notHeld) return { tone: 'held', word: 'Pending', text: html`${said}, but ${whyNot[notHeld]}.` };
  return { tone: 'held', word: 'Blocked', text: html`${said}.` };
}

const unjudged = html`A freeze began after Holdfast last checked this pull request.`;

/** Through other pull requests, and until their last freeze ends. */
function byOthers(live: NonNullable<ShownPullRequest['live']>, times: Times): Html {
  const which =
    heldBelow(live).length > 0
      ? 'A pull request below it in its stack'
      : 'Another pull request with the same commit';
  const freezes = live.sharedHolds.map(({ freeze }) => freeze);
  const ends = freezes.some(({ endsAt }) => endsAt === null)
    ? html` <strong>until removed</strong>`
    : until(freezes, times);
  return html`${which} is blocked, so this one is blocked too${ends}`;
}

function byWhat(freezes: ShownFreeze[], times: Times): Html {
  const by = freezes.length === 1 ? 'A freeze blocks' : `${freezes.length} freezes block`;
  const shown = freezes.map(({ freeze }) => freeze);
  return html`${by} this pull request${until(shown, times)}`;
}

/** When the last of the freezes ends. */
function until(freezes: ShownFreeze['freeze'][], times: Times): Html {
  const endless = freezes.filter(({ endsAt }) => endsAt === null).length;
  if (endless === 0) {
    const last = freezes.reduce((one, other) => (one.endsAt! >= other.endsAt! ? one : other));
    return html` until <strong>${instantText(last.endsAt!, times, last.timezone)}</strong>`;
  }
  if (freezes.length === 1) return html` <strong>until removed</strong>`;
  return html`, <strong>${endless === 1 ? 'one' : endless} of them without an end</strong>`;
}

const stateOfTone = {
  held: 'blocked',
  free: 'free',
  leaking: 'notEnforced',
  past: 'ended',
  merged: 'merged',
} as const satisfies Record<PageVerdict['tone'], State>;

/** Whether it is held, why, and until when. @param exemption what lets it through, if one does. @param onGitHub its address there. */
export function answer(
  repository: FoundRepository,
  shown: ShownPullRequest,
  { tone, word, text }: PageVerdict,
  exemption: ExemptionRecord | null,
  times: Times,
  onGitHub: string,
): Html {
  const { holding, live } = shown;
  const said = html`<span class="badge ${tone}">${word}</span> ${text}`;
  const actions = exemption ? html`<a class="button" href="${onGitHub}">Merge on GitHub</a>` : '';
  const counts = isOpenPullRequest(shown) ? whyHeld(holding, repository, times) : [];
  return html`<section aria-label="Verdict">
    ${stateLine(exemption ? 'exempt' : stateOfTone[tone], said, { counts, actions, isHeading: false })}
    ${exemption ? exemptBy(exemption) : ''}
    ${live?.pullRequest.facts.stack ? inStack(repository, live.pullRequest.facts.stack, heldBelow(live)) : ''}
  </section>`;
}

/** Where it is in its stack, and what holds it there. */
function inStack(repository: FoundRepository, { position, size, base }: StackPlace, below: number[]): Html {
  const links = below.map((each) => html`<a href="${pullRequestPath(repository, each)}">#${each}</a>`);
  const held = html`, blocked by ${links.map((link, index) => html`${index > 0 ? ', ' : ''}${link}`)} below it`;
  return html`<p>
    ${position} of ${size} in the stack onto <code>${base}</code>${below.length > 0 ? held : ''}.
  </p>`;
}

/**
 * What blocks it through other pull requests. GitHub keeps one status per commit, which several may share, and merges
 * what is below it in its stack with it.
 */
export const otherHolds = (repository: FoundRepository, holds: Hold[]): Html =>
  html`${heldByOf(
    repository,
    holds.filter(({ isBelow }) => isBelow),
    html`<h2>What blocks its stack</h2>
      <p>To merge it, GitHub merges the pull requests below it in its stack:</p>`,
  )}
  ${heldByOf(
    repository,
    holds.filter(({ isBelow }) => !isBelow),
    html`<h2>What blocks its commit</h2>
      <p>GitHub keeps one status for each commit, and other pull requests have the same commit:</p>`,
  )}`;

function heldByOf(repository: FoundRepository, holds: Hold[], heading: Html): Html {
  if (holds.length === 0) return html``;
  return html`${heading}
    <ul>
      ${[...Map.groupBy(holds, ({ pullRequest }) => pullRequest)].map(
        ([number, each]) =>
          html`<li>
            <a href="${pullRequestPath(repository, number)}">#${number}</a> is frozen by
            ${reasons(
              each.map(({ freeze }) => freeze),
              quotedLast,
            )}
          </li>`,
      )}
    </ul>`;
}
