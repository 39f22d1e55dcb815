import { html } from 'hono/html';
import { type Actor, actorName } from '../../events/actor.ts';
import type { EnforcementReport } from '../../explanations/enforcement/recent-enforcement.ts';
import { isFreezeEnforced } from '../../explanations/enforcement/finding.ts';
import { holdsSomething, judgeHeldDeployments } from '../../explanations/enforcement/judge-environments.ts';
import { holdsDeployments, holdsMerges } from '../../freezes/freeze.ts';
import { type FreezeRecord, isJudged } from '../../freezes/list-freezes.ts';
import { type FreezePhase, phaseOf } from '../../freezes/freeze-window.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';
import { freezePath, repositoryPath } from '../../page-paths.ts';
import { bulkBar, bulkBox } from '../bulk.ts';
import { textField } from '../form.ts';
import { heldCounts, heldList, notJudged, type ShownHeld, whatItHolds } from '../held.ts';
import { shorten } from '../../words/event-words.ts';
import { instantText, type Times } from '../text.ts';
import type { Html } from '../html.ts';
import { type RepositoryPage, linkTo } from './load-page.ts';

/**
 * One page of the ongoing and scheduled freezes, a row for each and for each plan.
 * @param report null if it is unknown, or not for the viewer. @param mayChange whether the viewer may end and delete them.
 */
export function currentFreezeList(
  page: RepositoryPage,
  report: EnforcementReport | null,
  mayChange: boolean,
): Html {
  const { listed, view } = page;
  return html`<section id="freezes" aria-labelledby="freezes-heading">
    <h2 id="freezes-heading">Schedule</h2>
    ${
      listed.rows.length === 0
        ? html`<p class="muted">No freezes are ongoing or scheduled.</p>`
        : html`${table(listed.rows.map(([first, ...more]) => row(page, first!, report, more, mayChange)))}${mayChange ? bulkBar(repositoryPath(page.repository), endOfFreezes) : ''}`
    }
    ${pageLinks('Pages of ongoing and scheduled freezes', [
      ['Earlier freezes', listed.earlier && linkTo(view, { current: listed.earlier }, 'freezes')],
      ['Later freezes', listed.later && linkTo(view, { current: listed.later }, 'freezes')],
    ])}
  </section>`;
}

/** One page of the freezes that ended or were deleted. Folded, unless the viewer asked for it. */
export function pastFreezeList(page: RepositoryPage): Html {
  const { past, view } = page;
  if (past.freezes.length === 0) return html``;
  return html`<details class="fold" id="past-freezes" ${view.past === null ? '' : html`open`}>
    <summary><h2>Past freezes</h2></summary>
    ${table(past.freezes.map((freeze) => row(page, freeze, null)))}
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

const table = (rows: Html[]): Html =>
  html`<table class="stacked freezes">
    <tbody>
      ${rows}
    </tbody>
  </table>`;

/**
 * What a freeze is, when, and how many pull requests it holds. Its own page, which the reason links to, has the rest.
 * @param more the later freezes of its plan. @param hasBox whether it can be chosen: of a plan, only what is ongoing.
 */
function row(
  page: RepositoryPage,
  freeze: FreezeRecord,
  report: EnforcementReport | null,
  more: FreezeRecord[] = [],
  hasBox = false,
): Html {
  const { id, reason, isPause, matchingConditions, excludeConditions } = freeze;
  const state = freezeStateOf(freeze, page.now);
  const href = freezePath(page.repository, id);
  const its = heldByFreeze(page.held, freeze);
  const isSpecial = matchingConditions.length + excludeConditions.length > 0 || holdsDeployments(freeze);
  const isLoose = report && holdsMerges(freeze) && isFreezeEnforced(report, freeze, its) === false;
  const ofDeployments =
    report && holdsDeployments(freeze) ? judgeHeldDeployments(freeze, report.environments) : null;
  const lacks =
    isLoose || ofDeployments?.enforced === false
      ? !isLoose && ofDeployments?.held === 'some'
        ? 'Enforced in part'
        : 'Not enforced'
      : null;
  return html`<tr id="freeze-${id}">
    <th scope="row">
      ${hasBox && (state === 'ongoing' || more.length === 0) ? bulkBox(id, shorten(reason, 60), { version: String(freeze.version), kind: state === 'ongoing' ? 0 : 1 }) : ''}
      <a href="${href}" dir="auto">${shorten(reason, 120)}</a>
      ${isPause || isSpecial ? html`<div class="muted">${isPause ? html`<p>Pause of the merge queue</p>` : ''}${isSpecial ? whatItHolds(freeze, { href }) : ''}</div>` : ''}
    </th>
    <td>
      <span class="badge ${state}">${stateWords[state]}</span>
      ${lacks === null ? '' : html`<a class="badge leaking" href="#enforcement">${lacks}</a>`}
    </td>
    <td>
      ${whenOf(freeze, state, page.times)}
      ${more.length > 0 ? html`<p class="muted">${rhythmOf([freeze, ...more])}next ${instantText(more[0]!.startsAt, page.times, freeze.timezone)}</p>` : ''}
    </td>
    <td>
      ${state === 'ongoing' && holdsMerges(freeze) ? (isJudged(page.repository, freeze) ? heldCounts(its) : notJudged) : ''}
    </td>
  </tr>`;
}

const endOfFreezes: Parameters<typeof bulkBar>[1] = {
  name: 'End or delete the selected freezes…',
  acts: [
    ['End', 'freeze', 'freezes'],
    ['Delete', 'scheduled freeze', 'scheduled freezes'],
  ],
  asks: textField({
    name: 'delete_reason',
    label: 'Reason',
    hint: 'The pull requests that they block can merge again. The audit log keeps who did it and why.',
    attributes: html`required maxlength="10000"`,
  }),
};

/**
 * `Every day, 04:56 to 07:56, `, if all freezes of a plan are so apart and at one time of the day; else empty. Two are no
 * rhythm: a plan of each month would be one of 30 days.
 */
function rhythmOf(freezes: FreezeRecord[]): string {
  if (freezes.length < fewestOfRhythm) return '';
  const [first, second] = freezes as [FreezeRecord, FreezeRecord];
  const day = (local: string) => Date.parse(`${local.slice(0, 10)}T00:00:00Z`) / 86_400_000;
  const step = day(second.start) - day(first.start);
  const [from, to] = [first.start.slice(11, 16), first.end?.slice(11, 16)];
  const isEven = freezes.every(
    ({ start, end }, at) =>
      start.slice(11, 16) === from &&
      end?.slice(11, 16) === to &&
      (at === 0 || day(start) - day(freezes[at - 1]!.start) === step),
  );
  if (!isEven || to === undefined || step < 1) return '';
  const every = step === 1 ? 'Every day' : step === 7 ? 'Every week' : `Every ${step} days`;
  return `${every}, ${from} to ${to}, `;
}

const fewestOfRhythm = 3;

function whenOf(freeze: FreezeRecord, state: FreezeState, times: Times): Html {
  const { startsAt, endsAt, timezone, deletion } = freeze;
  const time = (at: Date) => instantText(at, times, timezone);
  if (deletion)
    return html`Deleted by ${madeBy(deletion.by, time(deletion.at))}:
      <span dir="auto">${shorten(deletion.reason, 280)}</span>`;
  const until = endsAt ? html`until ${time(endsAt)}` : html`until removed`;
  return state === 'ongoing' ? until : html`from ${time(startsAt)} ${until}`;
}

export const item = (name: string, value: Html | string): Html =>
  html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;

export const madeBy = (actor: Actor, at: Html): Html => html`${actorName(actor)}, ${at}`;

/** The pull requests that a freeze holds or should hold. */
export const heldByFreeze = (held: ShownHeld[], { id }: { id: string }): ShownHeld[] =>
  held.filter(({ heldBy }) => heldBy.includes(id));

/** What a freeze holds. @param most how many links. */
export function heldNow(
  repository: FoundRepository,
  freeze: FreezeRecord,
  held: ShownHeld[],
  most: number,
): Html {
  if (!isJudged(repository, freeze)) return notJudged;
  const left = held.length - most;
  return html`${heldCounts(held)} ${heldList(repository, held.slice(0, most))}
  ${left > 0 ? html`<p>And ${left} more.</p>` : ''}`;
}

/** Whether a freeze is enforced. @param href where the viewer sees why not. */
export function enforcedWord(
  freeze: FreezeRecord,
  held: ShownHeld[],
  report: EnforcementReport,
  href: string,
): Html {
  const word = isFreezeEnforced(report, freeze, held);
  if (word === true) return html`Yes`;
  const why = html`<a href="${href}">see why</a>`;
  return word === 'unknown' ? html`Unknown, ${why}` : html`<strong class="leaking">No</strong>, ${why}`;
}

/** Whether GitHub waits for Holdfast before the deployments that a freeze holds, and what to do if not. */
export function deploymentsWord(freeze: FreezeRecord, report: EnforcementReport, href: string): Html {
  const { held, enforced, sentence } = judgeHeldDeployments(freeze, report.environments);
  if (enforced === true) return html`${sentence}`;
  const why = html`<a href="${href}">see why</a>`;
  if (enforced === 'unknown') return html`${sentence} ${why}`;
  return html`<strong class="leaking">${sentence}</strong> ${why}. ${held === 'absent' ? toNameOne : toEnable}`;
}

const toEnable = 'To enforce it, an admin enables the rule there.';
const toNameOne =
  'To enforce it, name an environment in the job that deploys and enable the rule there, or correct the environments of the freeze.';

/** Whether a freeze of deployments alone is known to hold nothing: GitHub waits for Holdfast in no environment that it names. */
export const isHollow = (freeze: FreezeRecord, report: EnforcementReport | null): boolean =>
  report !== null &&
  !holdsMerges(freeze) &&
  holdsSomething(judgeHeldDeployments(freeze, report.environments).held) === false;

export type FreezeState = FreezePhase | 'deleted';

export const freezeStateOf = (freeze: FreezeRecord, now: Date): FreezeState =>
  freeze.deletion ? 'deleted' : phaseOf(freeze, now);

export const stateWords: Record<FreezeState, string> = {
  scheduled: 'Scheduled',
  ongoing: 'Ongoing',
  ended: 'Ended',
  deleted: 'Deleted',
};
