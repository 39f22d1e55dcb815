import { html } from 'hono/html';
import { type Actor, actorName } from '../../events/actor.ts';
import type { EnforcementReport } from '../../explanations/enforcement/recent-enforcement.ts';
import { isFreezeEnforced } from '../../explanations/enforcement/finding.ts';
import { holdsMerges } from '../../freezes/freeze.ts';
import { type FreezeRecord, isJudged } from '../../freezes/list-freezes.ts';
import { type Phase, phaseOf } from '../../freezes/freeze-window.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';
import { freezePath } from '../../installations/page-paths.ts';
import type { HeldPullRequest } from '../../statuses/held-pull-requests.ts';
import { countsOf, heldList, notJudged } from '../held.ts';
import { instant, shorten } from '../text.ts';
import type { Html } from '../layout.ts';
import { whatItHolds } from './conditions.ts';
import type { RepositoryPage } from './load-page.ts';
import { linkTo } from './view.ts';

/** One page of the ongoing and scheduled freezes. @param report null if it is unknown, or not for the viewer. */
export function currentFreezeList(page: RepositoryPage, report: EnforcementReport | null): Html {
  const { current, listed, now, view } = page;
  const ofState = (state: string) => listed.freezes.filter((freeze) => stateOf(freeze, now) === state);
  const none = (state: string, text: string) =>
    current.some((freeze) => stateOf(freeze, now) === state) ? 'These freezes are on another page.' : text;
  return html`${group(page, report, 'Ongoing freezes', ofState('ongoing'), none('ongoing', 'No freezes are ongoing.'))}
  ${group(page, report, 'Scheduled freezes', ofState('scheduled'), none('scheduled', 'No freezes are scheduled.'))}
  ${pageLinks('Pages of ongoing and scheduled freezes', [
    ['Earlier freezes', listed.earlier && linkTo(view, { current: listed.earlier }, 'ongoing-freezes')],
    ['Later freezes', listed.later && linkTo(view, { current: listed.later }, 'ongoing-freezes')],
  ])}`;
}

/** One page of the freezes that ended or were deleted. Folded, unless the viewer asked for it. */
export function pastFreezeList(page: RepositoryPage): Html {
  const { past, view } = page;
  if (past.freezes.length === 0) return html``;
  return html`<details class="fold" id="past-freezes" ${view.past === null ? '' : html`open`}>
    <summary><h2>Past freezes</h2></summary>
    ${past.freezes.map((freeze) => row(page, freeze, null))}
    ${pageLinks('Pages of past freezes', [
      ['Newer freezes', past.newer && linkTo(view, { past: past.newer }, 'past-freezes')],
      ['Older freezes', past.older && linkTo(view, { past: past.older }, 'past-freezes')],
    ])}
  </details>`;
}

/** Links to the other pages; nothing if there are none. */
export function pageLinks(name: string, links: [text: string, href: string | null][]): Html {
  const given = links.filter(([, href]) => href !== null);
  if (given.length === 0) return html``;
  return html`<nav class="bar-of-links" aria-label="${name}">
    ${given.map(([text, href]) => html`<a href="${href}">${text}</a>`)}
  </nav>`;
}

function group(
  page: RepositoryPage,
  report: EnforcementReport | null,
  name: string,
  freezes: FreezeRecord[],
  none: string,
): Html {
  const id = name.toLowerCase().replaceAll(' ', '-');
  return html`<section id="${id}" aria-labelledby="${id}-heading">
    <h2 id="${id}-heading">${name}</h2>
    ${freezes.length === 0 ? html`<p class="muted">${none}</p>` : freezes.map((freeze) => row(page, freeze, report))}
  </section>`;
}

/** A summary of a freeze, with a link to its own page. */
function row(page: RepositoryPage, freeze: FreezeRecord, report: EnforcementReport | null): Html {
  const { timezone, startsAt, endsAt, createdAt, createdBy, deletion } = freeze;
  const state = stateOf(freeze, page.now);
  const isNotOver = state === 'ongoing' || state === 'scheduled';
  const time = (at: Date) => instant(at, page.times, timezone);
  const href = freezePath(page.repository, freeze.id);
  const its = heldByFreeze(page.held, freeze);
  return html`<article class="card freeze" id="freeze-${freeze.id}" aria-labelledby="reason-${freeze.id}">
    <p>
      <span class="badge ${state}">${stateWords[state]}</span>
      ${freeze.isPause ? 'Pause of the merge queue' : ''}
    </p>
    <h3 id="reason-${freeze.id}"><a href="${href}" dir="auto">${shorten(freeze.reason, 120)}</a></h3>
    <dl>
      ${item('Start', time(startsAt))} ${item('End', endsAt ? time(endsAt) : 'None')}
      ${item('Holds', whatItHolds(freeze, { href }))}
      ${state === 'ongoing' && holdsMerges(freeze) ? item('Held now', heldNow(page.repository, freeze, its, mostLinks, href)) : ''}
      ${report && isNotOver && holdsMerges(freeze) ? item('Enforced', enforcedWord(freeze, its, report, '#enforcement')) : ''}
      ${item('Created by', madeBy(createdBy, instant(createdAt, page.times)))}
      ${deletion ? item('Deleted by', madeBy(deletion.by, instant(deletion.at, page.times))) : ''}
      ${deletion ? item('Deletion reason', html`<span dir="auto">${shorten(deletion.reason, 280)}</span>`) : ''}
    </dl>
  </article>`;
}

export const item = (name: string, value: Html | string): Html =>
  html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;

export const madeBy = (actor: Actor, at: Html): Html => html`${actorName(actor)}, ${at}`;

/** How many pull requests the summary links to. The page of the freeze has all. */
const mostLinks = 10;

/** The pull requests that a freeze holds or should hold. */
export const heldByFreeze = (held: HeldPullRequest[], { id }: { id: string }): HeldPullRequest[] =>
  held.filter(({ heldBy }) => heldBy.includes(id));

/** What a freeze holds. @param most how many links. @param href the page with the others, if it is another one. */
export function heldNow(
  repository: FoundRepository,
  freeze: FreezeRecord,
  held: HeldPullRequest[],
  most: number,
  href?: string,
): Html {
  if (!isJudged(repository, freeze)) return notJudged;
  const left = held.length - most;
  const more = `And ${left} more`;
  return html`${countsOf(held)} ${heldList(repository, held.slice(0, most))}
  ${left > 0 ? html`<p>${href === undefined ? `${more}.` : html`<a href="${href}">${more}</a>`}</p>` : ''}`;
}

/** Whether a freeze is enforced. @param href where the viewer sees why not. */
export function enforcedWord(
  freeze: FreezeRecord,
  held: HeldPullRequest[],
  report: EnforcementReport,
  href: string,
): Html {
  const word = isFreezeEnforced(report.findings, freeze, held);
  if (word === true) return html`Yes`;
  const why = html`<a href="${href}">see why</a>`;
  return word === 'unknown' ? html`Unknown, ${why}` : html`<strong class="leaking">No</strong>, ${why}`;
}

export type FreezeState = Phase | 'deleted';

export const stateOf = (freeze: FreezeRecord, now: Date): FreezeState =>
  freeze.deletion ? 'deleted' : phaseOf(freeze, now);

export const stateWords: Record<FreezeState, string> = {
  scheduled: 'Scheduled',
  ongoing: 'Ongoing',
  ended: 'Ended',
  deleted: 'Deleted',
};
