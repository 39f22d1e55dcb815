import { html } from 'hono/html';
import type { RepositoryPermission } from '../../auth/permissions.ts';
import type { ExemptionRecord } from '../../exemptions/exemption-store.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';
import { pullRequestPath } from '../../installations/page-paths.ts';
import { chips, confirmation, hidden, noProblems, onceField, textArea, textField } from '../form.ts';
import { instant, longText, quoted, type Times } from '../text.ts';
import { actorName, type Actor } from '../../events/actor.ts';
import type { Html } from '../layout.ts';
import type { Viewer } from '../reader.ts';
import type { ShownPullRequest } from './shown-pull-request.ts';
import type { RefusedForm } from './pull-request-page.ts';
import type { EndedBy } from '../../exemptions/exemption.ts';

/** The viewer, their permission for the repository, and whether exemptions there take two people. */
export type Standing = { viewer: Viewer; permission: RepositoryPermission | 'unknown'; isForTwo: boolean };

/** How long an exemption may last, in hours. */
export const durations = { '1': '1 hour', '4': '4 hours', '24': '24 hours', '168': '7 days' };

/**
 * The exemption requests of a pull request that wait for a decision, and the forms that the viewer may send.
 * @param all its exemptions, newest request first.
 */
export function exemptionForms(
  repository: FoundRepository,
  shown: ShownPullRequest,
  all: ExemptionRecord[],
  standing: Standing,
  refused: RefusedForm | null,
  times: Times,
): Html {
  const isOn = ({ expiresAt }: ExemptionRecord) => expiresAt > times.now;
  const requested = all.filter((each) => each.state === 'requested' && isOn(each));
  const approved = all.filter((each) => each.state === 'approved' && isOn(each));
  const path = `${pullRequestPath(repository, shown.number)}/exemptions`;
  const { permission } = standing;
  const maySend = permission === 'admin' || permission === 'write';
  const isOpen = shown.live?.pullRequest.isOpen ?? true;
  return html`${requested.map((each) => request(each, path, standing, times))}
  ${
    maySend
      ? html`<div class="actions">
          ${approved.filter((each) => mayTakeBack(each, standing)).map((each) => takeBack(each, path))}
          ${isOpen ? ask(path, shown.headSha, standing, refused) : ''}
        </div>`
      : ''
  }`;
}

/** A request: who asks, why and for how long. Admins get the forms to decide. */
function request(exemption: ExemptionRecord, path: string, standing: Standing, times: Times): Html {
  const { id, requestedBy, reason, expiresAt, anyHead, headSha } = exemption;
  const { permission, isForTwo } = standing;
  const isSecondMissing = isForTwo && isOwn(exemption, standing);
  return html`<section class="card" aria-label="Exemption request">
    <p>
      <span class="badge scheduled">Requested</span>
      <strong>${actorName(requestedBy)}</strong> requests an exemption until ${instant(expiresAt, times)},
      ${anyHead ? 'for all commits' : html`for commit <code>${headSha.slice(0, 7)}</code> only`}:
    </p>
    <div>${longText(reason)}</div>
    ${
      permission === 'admin' || isOwn(exemption, standing)
        ? html`<div class="actions">
            ${permission === 'admin' && !isSecondMissing ? approve(`${path}/${id}/approve`) : ''}
            ${permission === 'admin' ? confirmation('Deny…', `${path}/${id}/deny`, why(id, 'Reason'), 'Deny request') : ''}
            ${isOwn(exemption, standing) ? takeBack(exemption, path) : ''}
          </div>`
        : ''
    }
    ${isSecondMissing ? html`<p class="muted">This repository requires two people: another admin must approve the request.</p>` : ''}
  </section>`;
}

const isOwn = ({ requestedBy }: ExemptionRecord, { viewer }: Standing): boolean =>
  requestedBy.type === 'user' && requestedBy.id === viewer?.id;

const mayTakeBack = (exemption: ExemptionRecord, standing: Standing): boolean =>
  standing.permission === 'admin' || isOwn(exemption, standing);

const approve = (action: string): Html =>
  html`<form method="post" action="${action}"><button type="submit">Approve</button></form>`;

const takeBack = ({ id, state }: ExemptionRecord, path: string): Html =>
  confirmation(
    state === 'requested' ? 'Withdraw…' : 'Revoke exemption…',
    `${path}/${id}/revoke`,
    why(`revoke-${id}`, 'Reason'),
    state === 'requested' ? 'Withdraw request' : 'Revoke exemption',
  );

const why = (id: string, label: string): Html =>
  textField({ name: 'reason', id: `why-${id}`, label, attributes: html`required maxlength="10000"` });

/** @param refused the form that was refused: its fields keep what was typed. */
function ask(
  path: string,
  headSha: string,
  { permission, isForTwo }: Standing,
  refused: RefusedForm | null,
): Html {
  const isAtOnce = permission === 'admin' && !isForTwo;
  // No other form of the page has a duration.
  const given = refused?.form.has('hours') ? refused.form : null;
  const problems = (given && refused?.problems) || noProblems;
  return html`<details class="confirm" ${given ? html`open` : ''}>
    <summary class="button">${isAtOnce ? 'Exempt…' : 'Request exemption…'}</summary>
    <form class="card form" method="post" action="${path}">
      ${onceField()} ${hidden('head_sha', headSha)}
      ${textArea({
        name: 'reason',
        label: 'Reason',
        value: given?.get('reason') ?? '',
        problems,
        hint: 'The status and this page show the reason.',
        attributes: html`required`,
      })}
      ${chips(
        'radio',
        { name: 'hours', label: 'Duration' },
        Object.entries(durations).map(([value, label]) => ({ value, label })),
        [given?.get('hours') ?? '24'],
      )}
      <label class="choice">
        <input type="checkbox" name="any_head" value="yes" ${given?.has('any_head') ? html`checked` : ''} />
        Keep the exemption when new commits are pushed
      </label>
      <button type="submit">${isAtOnce ? 'Exempt pull request' : 'Request exemption'}</button>
    </form>
  </details>`;
}

/** The exemption that the page shows: the approved one, else the last one that was approved. */
export function shownExemption(exemptions: ExemptionRecord[], now: Date): ExemptionRecord | null {
  const approved = exemptions.filter(({ approvedAt }) => approvedAt !== null);
  const isOn = ({ state, expiresAt }: ExemptionRecord) => state === 'approved' && expiresAt > now;
  return approved.find(isOn) ?? approved[0] ?? null;
}

/** Until when a pull request is exempt, by whom and why; or why it is no longer exempt. */
export function exemptionNotice(exemption: ExemptionRecord, times: Times): Html {
  const { state, expiresAt, reason, requestedBy, anyHead, headSha } = exemption;
  if (state !== 'approved' || expiresAt <= times.now) return endedNotice(exemption, times);
  const which = anyHead ? 'for all commits' : html`for commit <code>${headSha.slice(0, 7)}</code> only`;
  return html`<p class="card" role="status">
    <strong>Exempt until ${instant(expiresAt, times)}</strong>,
    ${which}${reason === '' ? '.' : html`: ${quoted(reason)}.`} Requested by ${nameOf(requestedBy)}, approved
    by ${nameOf(exemption.decidedBy)}. ${exemption.freezeIds ? 'It applies to some freezes only.' : ''}
  </p>`;
}

/** Leaves out the reason, which may be about a past freeze and not be public. */
const endedNotice = (exemption: ExemptionRecord, times: Times): Html =>
  html`<p class="card" role="status">
    The exemption that ${nameOf(exemption.requestedBy)} requested
    ended${exemption.endedAt ? html` at ${instant(exemption.endedAt, times)}` : ''}: ${whyOver(exemption)}.
  </p>`;

function whyOver(exemption: ExemptionRecord): Html {
  const { state, decidedBy, endedBy } = exemption;
  if (state === 'revoked') return html`${nameOf(decidedBy)} revoked the exemption`;
  return whyEnded[endedBy ?? 'time'](exemption);
}

const whyEnded: Record<EndedBy, (exemption: ExemptionRecord) => Html> = {
  pushed: ({ headSha }) =>
    html`another commit was pushed, and the exemption was for <code>${headSha.slice(0, 7)}</code>`,
  retargeted: ({ baseRef }) =>
    html`its base branch was changed, and the exemption was for <code>${baseRef}</code>`,
  time: () => html`the exemption expired`,
  freezes: () => html`the last freeze that it applied to has ended`,
  merged: () => html`the pull request was merged`,
};

const nameOf = (actor: Actor | null): string => (actor ? actorName(actor) : 'somebody');
