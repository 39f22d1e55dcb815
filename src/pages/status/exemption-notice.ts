import { html } from 'hono/html';
import type { Actor } from '../../events/actor.ts';
import type { EndedBy } from '../../exemptions/exemption.ts';
import type { ExemptionRecord } from '../../exemptions/exemption-store.ts';
import { instant } from '../instant.ts';
import type { Html } from '../layout.ts';
import { quoted } from '../long-text.ts';
import { actorName } from '../repository/actor-name.ts';

/** The exemption that the page shows: the approved one, else the last one that was approved. */
export function shownExemption(exemptions: ExemptionRecord[], now: Date): ExemptionRecord | null {
  const approved = exemptions.filter(({ approvedAt }) => approvedAt !== null);
  const isOn = ({ state, expiresAt }: ExemptionRecord) => state === 'approved' && expiresAt > now;
  return approved.find(isOn) ?? approved[0] ?? null;
}

/** Until when a pull request is exempt, by whom and why; or why it is no longer exempt. */
export function exemptionNotice(exemption: ExemptionRecord, now: Date): Html {
  const { state, expiresAt, reason, requestedBy, anyHead, headSha } = exemption;
  if (state !== 'approved' || expiresAt <= now) return endedNotice(exemption);
  const which = anyHead ? 'for all commits' : html`for commit <code>${headSha.slice(0, 7)}</code> only`;
  return html`<p class="card" role="status">
    <strong>Exempt until ${instant(expiresAt, 'UTC')}</strong>,
    ${which}${reason === '' ? '.' : html`: ${quoted(reason)}.`} Requested by ${nameOf(requestedBy)}, approved
    by ${nameOf(exemption.decidedBy)}. ${exemption.freezeIds ? 'It applies to some freezes only.' : ''}
  </p>`;
}

/** Leaves out the reason, which may be about a past freeze and not be public. */
const endedNotice = (exemption: ExemptionRecord): Html =>
  html`<p class="card" role="status">
    The exemption that ${nameOf(exemption.requestedBy)} requested
    ended${exemption.endedAt ? html` at ${instant(exemption.endedAt, 'UTC')}` : ''}: ${why(exemption)}.
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
  time: () => html`the exemption expired`,
  freezes: () => html`the last freeze that it applied to has ended`,
  merged: () => html`the pull request was merged`,
};

const nameOf = (actor: Actor | null): string => (actor ? actorName(actor) : 'somebody');
