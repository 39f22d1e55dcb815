import { html } from 'hono/html';
import type { Actor } from '../../events/actor.ts';
import type { EndedBy } from '../../exemptions/exemption.ts';
import type { ExemptionRecord } from '../../exemptions/exemption-store.ts';
import { instant } from '../instant.ts';
import type { Html } from '../layout.ts';
import { quoted } from '../long-text.ts';
import { actorName } from '../repository/actor-name.ts';

/** What is shown of a pull request's exemptions: the one that is approved, else the last one that was. */
export function shownExemption(exemptions: ExemptionRecord[], now: Date): ExemptionRecord | null {
  const approved = exemptions.filter(({ approvedAt }) => approvedAt !== null);
  const isOn = ({ state, expiresAt }: ExemptionRecord) => state === 'approved' && expiresAt > now;
  return approved.find(isOn) ?? approved[0] ?? null;
}

/** Until when a pull request is exempt, by whom and why; or why it is not any more. */
export function exemptionNotice(exemption: ExemptionRecord, now: Date): Html {
  const { state, expiresAt, reason, requestedBy, anyHead, headSha } = exemption;
  if (state !== 'approved' || expiresAt <= now) return endedNotice(exemption);
  const which = anyHead
    ? 'whatever is pushed'
    : html`with the commit <code>${headSha.slice(0, 7)}</code> only`;
  return html`<p class="card" role="status">
    <strong>Exempt until ${instant(expiresAt, 'UTC')}</strong>,
    ${which}${reason === '' ? '.' : html`: ${quoted(reason)}.`} Requested by ${nameOf(requestedBy)}, approved
    by ${nameOf(exemption.decidedBy)}.
    ${exemption.freezeIds ? 'It lets the pull request through some freezes, not through others.' : ''}
  </p>`;
}

/** Its reason is left out: it may be about a freeze that is over, and was not public. */
const endedNotice = (exemption: ExemptionRecord): Html =>
  html`<p class="card" role="status">
    This pull request was exempt, as ${nameOf(exemption.requestedBy)} had
    requested${exemption.endedAt ? html`, until ${instant(exemption.endedAt, 'UTC')}` : ''}:
    ${why(exemption)}.
  </p>`;

function why(exemption: ExemptionRecord): Html {
  const { state, decidedBy, endedBy } = exemption;
  if (state === 'revoked') return html`${nameOf(decidedBy)} revoked the exemption`;
  return whyEnded[endedBy ?? 'time'](exemption);
}

const whyEnded: Record<EndedBy, (exemption: ExemptionRecord) => Html> = {
  pushed: ({ headSha }) =>
    html`another commit was pushed, and the exemption was for <code>${headSha.slice(0, 7)}</code>`,
  retargeted: ({ baseRef }) =>
    html`its base branch was changed, and the exemption was for <code>${baseRef}</code>`,
  time: () => html`the time of the exemption was up`,
  freezes: () => html`the last of the freezes that it was for has ended`,
  merged: () => html`it was merged`,
};

const nameOf = (actor: Actor | null): string => (actor ? actorName(actor) : 'somebody');
