import { html } from 'hono/html';
import type { RepositoryPermission } from '../../auth/repository-permission.ts';
import type { ExemptionRecord } from '../../exemptions/exemption-store.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';
import { pullRequestPath } from '../../page-paths.ts';
import { chips, confirmation, noProblems, textArea, textField } from '../form.ts';
import { instant } from '../instant.ts';
import type { Html } from '../layout.ts';
import { longText } from '../long-text.ts';
import type { Viewer } from '../reader.ts';
import { actorName } from '../repository/actor-name.ts';
import type { Look } from './look-at-pull-request.ts';
import { onceField } from '../send-once.ts';
import type { RefusedForm } from './pull-request-page.ts';

/** Who looks at the page, what they may do with its repository, and whether exemptions there take two persons. */
export type Standing = { viewer: Viewer; permission: RepositoryPermission | 'unknown'; isForTwo: boolean };

/** How long somebody may ask to be let through. Hours. */
export const durations = { '1': '1 hour', '4': '4 hours', '24': '24 hours', '168': '7 days' };

/**
 * What waits for a decision on a pull request, and the forms to ask and to decide, for who may send them.
 * @param all its exemptions, the latest request first.
 */
export function exemptionForms(
  repository: FoundRepository,
  look: Look,
  all: ExemptionRecord[],
  standing: Standing,
  refused: RefusedForm | null,
  now: Date,
): Html {
  const isOn = ({ expiresAt }: ExemptionRecord) => expiresAt > now;
  const requested = all.filter((each) => each.state === 'requested' && isOn(each));
  const approved = all.filter((each) => each.state === 'approved' && isOn(each));
  const path = `${pullRequestPath(repository, look.number)}/exemptions`;
  const { permission } = standing;
  const maySend = permission === 'admin' || permission === 'write';
  const isOpen = look.live?.pullRequest.isOpen ?? true;
  return html`${requested.map((each) => request(each, path, standing))}
  ${
    maySend
      ? html`<div class="actions">
          ${approved.filter((each) => mayTakeBack(each, standing)).map((each) => takeBack(each, path))}
          ${isOpen ? ask(path, standing, refused) : ''}
        </div>`
      : ''
  }`;
}

/** Somebody asks to be let through: who, why, for how long; for admins, what to answer. */
function request(exemption: ExemptionRecord, path: string, standing: Standing): Html {
  const { id, requestedBy, reason, expiresAt, anyHead, headSha } = exemption;
  const { permission, isForTwo } = standing;
  const isSecondMissing = isForTwo && isOwn(exemption, standing);
  return html`<section class="card" aria-label="Request to be let through">
    <p>
      <span class="badge scheduled">Requested</span>
      <strong>${actorName(requestedBy)}</strong> asks to be let through until ${instant(expiresAt, 'UTC')},
      ${anyHead ? 'whatever is pushed' : html`with the commit <code>${headSha.slice(0, 7)}</code> only`}:
    </p>
    <div>${longText(reason)}</div>
    ${
      permission === 'admin' || isOwn(exemption, standing)
        ? html`<div class="actions">
            ${permission === 'admin' && !isSecondMissing ? approve(`${path}/${id}/approve`) : ''}
            ${permission === 'admin' ? confirmation('Deny…', `${path}/${id}/deny`, why(id, 'Why not?'), 'Deny the request') : ''}
            ${isOwn(exemption, standing) ? takeBack(exemption, path) : ''}
          </div>`
        : ''
    }
    ${isSecondMissing ? html`<p class="muted">This repository asks for two persons: another admin approves it.</p>` : ''}
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
    state === 'requested' ? 'Withdraw…' : 'Revoke the exemption…',
    `${path}/${id}/revoke`,
    why(`revoke-${id}`, 'Why?'),
    state === 'requested' ? 'Withdraw the request' : 'Revoke the exemption',
  );

const why = (id: string, label: string): Html =>
  textField({ name: 'reason', id: `why-${id}`, label, attributes: html`required maxlength="10000"` });

/** @param refused the form that was sent and refused: its fields stay as they were. */
function ask(path: string, { permission, isForTwo }: Standing, refused: RefusedForm | null): Html {
  const isAtOnce = permission === 'admin' && !isForTwo;
  // The other forms of the page have no duration.
  const given = refused?.form.has('hours') ? refused.form : null;
  const problems = (given && refused?.problems) || noProblems;
  return html`<details class="confirm" ${given ? html`open` : ''}>
    <summary class="button">${isAtOnce ? 'Let through…' : 'Ask to be let through…'}</summary>
    <form class="card form" method="post" action="${path}">
      ${onceField()}
      ${textArea({
        ...{ name: 'reason', label: 'Why?', value: given?.get('reason') ?? '', problems },
        hint: 'The status and this page show it.',
        attributes: html`required`,
      })}
      ${chips(
        'radio',
        { name: 'hours', label: 'For how long?' },
        Object.entries(durations).map(([value, label]) => ({ value, label })),
        [given?.get('hours') ?? '24'],
      )}
      <label class="choice">
        <input type="checkbox" name="any_head" value="yes" ${given?.has('any_head') ? html`checked` : ''} />
        Also with what is pushed later
      </label>
      <button type="submit">${isAtOnce ? 'Let it through' : 'Ask an admin'}</button>
    </form>
  </details>`;
}
