import { html } from 'hono/html';
import type { Actor } from '../../events/actor.ts';
import type { EnforcementReport } from '../../enforcement/check-enforcement.ts';
import { isFreezeEnforced } from '../../enforcement/finding.ts';
import { holdsMerges } from '../../freezes/freeze.ts';
import type { FreezeRecord } from '../../freezes/freeze-records.ts';
import type { HeldPullRequest } from '../../reconcile/held-pull-requests.ts';
import { countsOf, whyNot } from '../held.ts';
import { instant } from '../instant.ts';
import type { Html } from '../layout.ts';
import { longText, shorten } from '../long-text.ts';
import { actorName } from './actor-name.ts';
import { whatItHolds } from './conditions.ts';
import { stateOf, stateWords } from './freeze-state.ts';
import type { RepositoryPage } from './load-page.ts';
import { linkTo } from './view.ts';

/**
 * The ongoing, the scheduled and, by pages, the past freezes.
 * @param report null where it is not known, or not for the reader.
 */
export function freezeList(page: RepositoryPage, report: EnforcementReport | null): Html {
  const { current, listed, past, now, view } = page;
  const ofState = (state: string) => listed.freezes.filter((freeze) => stateOf(freeze, now) === state);
  const none = (state: string, text: string) =>
    current.some((freeze) => stateOf(freeze, now) === state) ? 'None of them is on this page.' : text;
  return html`${group(page, report, 'Ongoing freezes', ofState('ongoing'), none('ongoing', 'No freeze is ongoing.'))}
    ${group(page, report, 'Scheduled freezes', ofState('scheduled'), none('scheduled', 'None is scheduled.'))}
    <nav class="bar-of-links" aria-label="Pages of ongoing and scheduled freezes">
      ${listed.earlier ? html`<a href="${linkTo(view, { current: listed.earlier }, 'ongoing-freezes')}">Earlier freezes</a>` : ''}
      ${listed.later ? html`<a href="${linkTo(view, { current: listed.later }, 'ongoing-freezes')}">Later freezes</a>` : ''}
    </nav>
    ${group(page, report, 'Past freezes', past.freezes, 'None has ended or was deleted.')}
    <nav class="bar-of-links" aria-label="Pages of past freezes">
      ${past.newer ? html`<a href="${linkTo(view, { past: past.newer }, 'past-freezes')}">Newer freezes</a>` : ''}
      ${past.older ? html`<a href="${linkTo(view, { past: past.older }, 'past-freezes')}">Older freezes</a>` : ''}
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

function row(page: RepositoryPage, freeze: FreezeRecord, report: EnforcementReport | null): Html {
  const { timezone, startsAt, endsAt, createdAt, createdBy, deletion } = freeze;
  const state = stateOf(freeze, page.now);
  const title = shorten(freeze.reason, 120);
  const time = (at: Date) => instant(at, timezone, page.view.zone);
  return html`<article class="card freeze" id="freeze-${freeze.id}" aria-labelledby="reason-${freeze.id}">
    <p>
      <span class="badge ${state}">${stateWords[state]}</span>
      ${freeze.isPause ? 'Pause of the merge queue' : ''}
    </p>
    <h3 id="reason-${freeze.id}">${title}</h3>
    <dl>
      ${title === freeze.reason ? '' : item('Reason', longText(freeze.reason))}
      ${hasOther(freeze) ? item('Public reason', longText(freeze.publicReason!)) : ''}
      ${item('From', time(startsAt))} ${item('Until', endsAt ? time(endsAt) : 'it is removed')}
      ${item('Time zone', timezone)} ${item('Holds', whatItHolds(freeze))}
      ${state === 'ongoing' && holdsMerges(freeze) ? item('Held now', heldBy(page, freeze)) : ''}
      ${report && (state === 'ongoing' || state === 'scheduled') && holdsMerges(freeze) ? item('Enforced', enforced(page, freeze, report)) : ''}
      ${item('Made by', madeBy(createdBy, time(createdAt)))}
      ${deletion ? item('Deleted by', madeBy(deletion.by, time(deletion.at))) : ''}
      ${deletion ? item('Because', longText(deletion.reason)) : ''}
    </dl>
  </article>`;
}

/** Whether others read another reason than who reads this. */
const hasOther = ({ reason, publicReason }: FreezeRecord): boolean =>
  typeof publicReason === 'string' && publicReason !== reason;

const item = (name: string, value: Html | string): Html =>
  html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;

const madeBy = (actor: Actor, at: Html): Html => html`${actorName(actor)}, ${at}`;

/** Longer lists of links no reader goes through, and no browser likes. */
const mostLinks = 100;

function heldBy({ repository, held }: RepositoryPage, { id }: FreezeRecord): Html {
  if (repository.reconciledAt === null) return html`The open pull requests have not been looked at yet.`;
  const its = held.filter((pullRequest) => pullRequest.heldBy.includes(id));
  const names = its.slice(0, mostLinks).map((pullRequest) => html`<li>${link(repository, pullRequest)}</li>`);
  return html`${countsOf(its)}
  ${
    its.length === 0
      ? ''
      : html`<ul class="held-pull-requests">
            ${names}
          </ul>
          ${its.length > mostLinks ? html`<p>And ${its.length - mostLinks} more.</p>` : ''}`
  }`;
}

function enforced({ held }: RepositoryPage, freeze: FreezeRecord, report: EnforcementReport): Html {
  const its = held.filter(({ heldBy }) => heldBy.includes(freeze.id));
  const word = isFreezeEnforced(report.findings, freeze, its);
  if (word === true) return html`yes`;
  return word === 'unknown'
    ? html`not known, <a href="#enforcement">see why</a>`
    : html`<strong class="leaking">no</strong>, <a href="#enforcement">see why</a>`;
}

const link = (
  { account, name }: RepositoryPage['repository'],
  { number, headSha, notHeld }: HeldPullRequest,
): Html =>
  html`<a href="/repos/${account.login}/${name}/pulls/${number}">#${number}</a>
    <code>${headSha.slice(0, 7)}</code>
    ${notHeld && html`<span class="${notHeld}">(${whyNot[notHeld]})</span>`}`;
