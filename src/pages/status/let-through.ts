import { html } from 'hono/html';
import { actorName } from '../../events/actor.ts';
import type { ListedEvent } from '../../events/list-events.ts';
import type { ExemptionRecord } from '../../exemptions/exemption-store.ts';
import type { Html } from '../html.ts';
import { instantText, quotedLast, type Times } from '../text.ts';
import { nameOfApprover } from './exemption-forms.ts';
import { reasons, type ShownFreeze } from './freeze-card.ts';
import type { ShownPullRequest, PageVerdict } from './shown-pull-request.ts';

/** What is known of how a pull request was merged. */
type Known = {
  /** Its exemptions, newest first, as far as the viewer may read them. */
  exemptions: ExemptionRecord[];
  /** Its events, newest first, if the viewer may read them. */
  events: ListedEvent[];
};

/** What the page of a pull request says that is no longer open: whether it was merged, and what let it through. */
export function closedVerdict({ holding, live }: ShownPullRequest, known: Known, times: Times): PageVerdict {
  const at = live?.pullRequest.facts.values['merged-at'];
  if (typeof at !== 'number')
    return { tone: 'past', word: 'Closed', text: html`Freezes block open pull requests only.` };
  const mergedAt = new Date(at);
  const when = instantText(mergedAt, times);
  const why = letThrough([...holding, ...(live?.passing ?? [])], mergedAt, known);
  return { tone: 'merged', word: 'Merged', text: html`${when}${why === null ? '.' : html`. ${why}`}` };
}

/** What let it through; null if no freeze is known to have been in its way. */
function letThrough(freezes: ShownFreeze[], mergedAt: Date, { exemptions, events }: Known): Html | null {
  const past = events.filter(({ type }) => type === 'freeze.bypassed');
  if (past.length > 0) return html`${past.map(bypassed)}`;
  const used = exemptions.find(({ state }) => state === 'used');
  if (used)
    return html`The exemption that ${nameOfApprover(used.requestedBy)} requested and
    ${nameOfApprover(used.decidedBy)} approved let it through.`;
  const began = freezes.filter(({ freeze }) => freeze.startsAt <= mergedAt);
  const named = (some: ShownFreeze[]) =>
    reasons(
      some.map(({ freeze }) => freeze),
      quotedLast,
    );
  const excluded = began.filter(({ verdict }) => verdict === 'excluded');
  if (excluded.length > 0) return html`Excluded from ${named(excluded)}`;
  const unmatched = began.filter(({ verdict }) => verdict === 'not_matched');
  if (unmatched.length > 0) return html`It did not match the conditions of ${named(unmatched)}`;
  const later = freezes.filter(({ freeze }) => freeze.startsAt > mergedAt);
  return later.length > 0 ? html`That was before the beginning of ${named(later)}` : null;
}

/** Who went past which freeze. */
export function bypassed(event: ListedEvent): Html {
  const { bypassed_by: by, scheduled_freeze_attributes: freeze } = event.metadata as unknown as {
    bypassed_by: Parameters<typeof actorName>[0] | null;
    scheduled_freeze_attributes?: { reason?: string };
  };
  const reason = freeze?.reason;
  return html`<bdi>${by ? actorName(by) : 'Somebody'}</bdi> went past
    ${reason === undefined ? 'a freeze.' : html`the freeze ${quotedLast(reason)}`} `;
}
