import { html } from 'hono/html';
import type { HeldPullRequest, ReasonNotHeld } from '../statuses/held-pull-requests.ts';
import { pullRequestPath } from '../page-paths.ts';
import type { Html } from './html.ts';
import { badge } from './states.ts';
import type { ConditionInput } from '../conditions/ast.ts';
import { join, type Part } from '../conditions/sentence.ts';
import { whatIsBlocked } from '../words/describe-fields.ts';
import { knownRequirements } from '../explanations/enforcement/recent-enforcement.ts';
import { type Freeze, holdsMerges } from '../freezes/freeze.ts';

/**
 * Why a pull request that a freeze should hold may not be blocked. Two reasons are about one whose status stands:
 * `unrequired`, nothing requires it; `unsaid`, GitHub has not said whether it does, nor whether it would merge it.
 */
type WhyNotBlocked = ReasonNotHeld | 'unrequired' | 'unsaid';

/** A held pull request as pages show it. */
export type ShownHeld = Omit<HeldPullRequest, 'notHeld'> & { notHeld: WhyNotBlocked | null };

type Standing = Pick<HeldPullRequest, 'notHeld' | 'mergeAnswer' | 'baseRef'>;

/** Whether its status stands, and GitHub has not said that it refuses to merge it. */
export const isUnsaid = ({ notHeld, mergeAnswer }: Pick<Standing, 'notHeld' | 'mergeAnswer'>): boolean =>
  notHeld === null && mergeAnswer !== 'refuses';

/**
 * Blocked is what GitHub refuses: without the requirement of our check, a status alone stops nobody. Asks GitHub nothing.
 * @param isInside whether the reader may know what the branch does not require.
 */
export async function asGitHubSees<Held extends Standing>(
  deps: Parameters<typeof knownRequirements>[0],
  repository: Parameters<typeof knownRequirements>[1],
  held: Held[],
  isInside: boolean,
): Promise<(Omit<Held, 'notHeld'> & Pick<ShownHeld, 'notHeld'>)[]> {
  const bases = held.filter(isUnsaid).map(({ baseRef }) => baseRef);
  const required = await knownRequirements(deps, repository, bases);
  const words = { true: null, false: isInside ? 'unrequired' : 'unsaid', undefined: 'unsaid' } as const;
  return held.map((each) =>
    isUnsaid(each) ? { ...each, notHeld: words[`${required.get(each.baseRef ?? '')}`] } : each,
  );
}

/** Whether GitHub would merge it anyway, so that it needs no exemption. */
export const isNotBlocked = (notHeld: ShownHeld['notHeld']): boolean =>
  notHeld === 'leaking' || notHeld === 'unrequired';

/** The state of a pull request that a freeze should hold. */
export const heldBadge = (notHeld: ShownHeld['notHeld']): Html => {
  if (notHeld === null) return badge('blocked');
  const isToCome = notHeld === 'waiting' || notHeld === 'unsaid';
  return isToCome ? badge('waiting', 'Pending') : badge('notEnforced', 'Not blocked');
};

/** @param what how many pull requests, or which. */
export const notSaid = (what: number | string): string => `It ${notClear(what)}`;

const notClear = (what: number | string): string => `is not clear yet whether GitHub would merge ${what}`;

/** Why a pull request that should be held may not be. Follows a "but". */
export const whyNot: Record<WhyNotBlocked, string> = {
  waiting: 'Holdfast has not written its status yet',
  refused: 'GitHub refused its status',
  contested: 'somebody keeps overwriting its status',
  leaking: 'GitHub would merge it',
  unrequired: 'nothing requires the check',
  unsaid: `it ${notClear('it')}`,
};

/** The same for several pull requests. */
const whyNotAll: Record<WhyNotBlocked, (count: number) => string> = {
  waiting: (count) =>
    count === 1 ? '1 is waiting for its status' : `${count} are waiting for their statuses`,
  refused: (count) => `GitHub refused the status of ${count}`,
  contested: (count) => `somebody keeps overwriting the status of ${count}`,
  leaking: (count) => `GitHub would merge ${count}`,
  unrequired: (count) => `nothing requires the check of ${count}`,
  unsaid: (count) => `it ${notClear(count)}`,
};

/** `2 of 5 pull requests blocked` */
export const blockedOf = ({
  held,
  ...others
}: Record<'held' | 'waiting' | 'leaking' | 'unsaid', number>): string => {
  const all = held + others.waiting + others.leaking + others.unsaid;
  return `${held === all ? '' : `${held} of `}${all} ${all === 1 ? 'pull request' : 'pull requests'} blocked`;
};

/** The word of the tab where deployments wait and merges do not. The tab has an icon of its own for it. */
export const deploymentsFrozen = 'Deployments frozen';

/** The word of the tab for what is ongoing. @param holdMerges of each freeze whether it holds merges. */
export const frozenWord = (holdMerges: boolean[]): string | null =>
  holdMerges.length === 0 ? null : holdMerges.some(Boolean) ? 'Frozen' : deploymentsFrozen;

/** For freezes that began after the open pull requests were last checked. */
export const notJudged = html`Not judged yet: Holdfast has not checked the open pull requests since it began.`;

/** `2 pull requests are blocked. 3 more should be blocked: 1 is waiting for its status, GitHub would merge 2.` */
export function heldCounts(pullRequests: Pick<ShownHeld, 'notHeld'>[]): Html {
  const reasons = Map.groupBy(pullRequests, ({ notHeld }) => notHeld);
  const held = reasons.get(null)?.length ?? 0;
  reasons.delete(null);
  const missing = pullRequests.length - held;
  return html`${held === 1 ? '1 pull request is blocked' : `${held} pull requests are blocked`}.
  ${
    missing === 0
      ? ''
      : html`${missing} more should be
        blocked:${[...reasons].map(
          ([reason, its], index) =>
            html`${index > 0 ? ', ' : ' '}<span class="${toneOf(reason)}"
                >${whyNotAll[reason!](its.length)}</span
              >`,
        )}.`
  }`;
}

const tones = { unrequired: 'leaking', unsaid: 'waiting' } as const;
const toneOf = (reason: ShownHeld['notHeld']): string | null =>
  reason === 'unrequired' || reason === 'unsaid' ? tones[reason] : reason;

/** Links to the pages of these pull requests. One that may not be held has the reason behind it. */
export function heldList(
  repository: Parameters<typeof pullRequestPath>[0],
  pullRequests: Pick<ShownHeld, 'number' | 'title' | 'notHeld'>[],
): Html {
  if (pullRequests.length === 0) return html``;
  return html`<ul class="held-pull-requests">
    ${pullRequests.map(
      ({ number, title, notHeld }) =>
        html`<li>
          <a href="${pullRequestPath(repository, number)}"
            >#${number}${title === null ? '' : html` <span dir="auto">${title}</span>`}</a
          >
          ${notHeld && html`<span class="${toneOf(notHeld)}">(${whyNot[notHeld]})</span>`}
        </li>`,
    )}
  </ul>`;
}

/** How many conditions a sentence shows before it folds. A list may have 2,000. */
const mostInSentence = 8;

/** Where the full list is if the sentence is cut: folded below it, or on another page. */
type Rest = 'folded' | { href: string };

/**
 * What a freeze holds: deployments to its environments, and the pull requests that match its conditions.
 * @param rest where the full list is.
 */
export function whatItHolds(freeze: Freeze, rest: Rest = 'folded'): Html {
  const blocked = whatIsBlocked(freeze);
  return html`${blocked === null ? '' : html`<p>${blocked}</p>`}
  ${holdsMerges(freeze) ? pullRequests(freeze, rest) : ''}`;
}

function pullRequests(
  { matchingConditions: matching, excludeConditions: exclude }: Freeze,
  rest: Rest,
): Html {
  return html`${
    matching.length === 0
      ? html`<p>All pull requests</p>`
      : html`<p>Pull requests that match ${heldSentence(matching)}</p>
          ${theRest(matching, rest)}`
  }
  ${
    exclude.length === 0
      ? ''
      : html`<p>Except pull requests that match ${heldSentence(exclude)}</p>
          ${theRest(exclude, rest)}`
  }`;
}

/** The first conditions as a sentence: `label=risky and (base=main or not author=bob)`. */
export const heldSentence = (items: ConditionInput[]): Html => {
  const { shown, left } = cut(join(items, 'and'));
  return html`${shown.map(show)}${left > 0 ? ` … (${left} more)` : ''}`;
};

const show = (part: Part): Html =>
  'words' in part ? html`${part.words}` : html`<code dir="auto">${part.condition}</code>`;

function cut(parts: Part[]): { shown: Part[]; left: number } {
  const places = parts.flatMap((part, index) => ('condition' in part ? [index] : []));
  const last = places[mostInSentence - 1];
  const left = places.length - mostInSentence;
  return last === undefined || left <= 0
    ? { shown: parts, left: 0 }
    : { shown: parts.slice(0, last + 1), left };
}

function theRest(items: ConditionInput[], rest: Rest): Html {
  const count = items.reduce((sum, item) => sum + countOf(item), 0);
  if (count <= mostInSentence) return html``;
  if (rest !== 'folded') return html`<p><a href="${rest.href}">All ${count} conditions</a></p>`;
  return html`<details>
    <summary>All ${count} conditions</summary>
    ${nested(items)}
  </details>`;
}

const nested = (items: ConditionInput[]): Html =>
  html`<ul class="conditions">
    ${items.map((item) => html`<li>${asList(item)}</li>`)}
  </ul>`;

function asList(item: ConditionInput): Html {
  if (typeof item === 'string') return show({ condition: item });
  if ('and' in item) return html`all of these: ${nested(item.and)}`;
  if ('or' in item) return html`any of these: ${nested(item.or)}`;
  if (typeof item.not === 'string') return html`not ${asList(item.not)}`;
  return html`not this: ${nested([item.not])}`;
}

function countOf(item: ConditionInput): number {
  if (typeof item === 'string') return 1;
  const items = 'and' in item ? item.and : 'or' in item ? item.or : [item.not];
  return items.reduce((sum, one) => sum + countOf(one), 0);
}
