import { html } from 'hono/html';
import { actorName } from '../../events/actor.ts';
import type { ListedEvent } from '../../events/list-events.ts';
import type { ExemptionRecord } from '../../exemptions/exemption-store.ts';
import type { WrittenStatus } from '../../statuses/write-store.ts';
import type { Html } from '../html.ts';
import { icon, type State, states } from '../states.ts';
import { instantText, quotedLast, type Times } from '../text.ts';
import { endOfExemption, nameOfApprover } from './exemption-forms.ts';
import { bypassed } from './let-through.ts';
import type { ShownPullRequest } from './shown-pull-request.ts';

type Moment = { at: Date; state: State; said: Html };

/** How many moments are shown, the newest ones. */
const mostShown = 20;

/**
 * What happened to a pull request, the oldest first: opened, blocked, requested, approved, let go, merged.
 * @param known its exemptions and events, as far as the viewer may read them; and the statuses on its head, newest first.
 */
export function timeline(
  { live }: ShownPullRequest,
  known: { exemptions: ExemptionRecord[]; events: ListedEvent[]; statuses: WrittenStatus[] },
  times: Times,
): Html {
  const values = live?.pullRequest.facts.values;
  const [openedAt, mergedAt] = [values?.['created-at'], values?.['merged-at']];
  const moments: Moment[] = [
    ...(typeof openedAt === 'number'
      ? [
          {
            at: new Date(openedAt),
            state: 'unknown' as const,
            said: html`Opened${live?.pullRequest.author ? html` by <bdi>${live.pullRequest.author}</bdi>` : ''}`,
          },
        ]
      : []),
    ...known.exemptions.flatMap((each) => ofExemption(each, times)),
    ...known.statuses.toReversed().flatMap(ofStatus),
    ...known.events
      .filter(({ type }) => type === 'freeze.bypassed')
      .map((event) => ({ at: event.receivedAt, state: 'notEnforced' as const, said: bypassed(event) })),
    ...(typeof mergedAt === 'number'
      ? [{ at: new Date(mergedAt), state: 'merged' as const, said: html`Merged` }]
      : []),
  ];
  const sorted = moments.toSorted((one, other) => secondOf(one) - secondOf(other)).slice(-mostShown);
  if (sorted.length === 0) return html``;
  return html`<section aria-labelledby="timeline">
    <h2 id="timeline">Timeline</h2>
    <ol class="timeline">
      ${sorted.map(
        ({ at, state, said }) =>
          html`<li class="${states[state].tone}">
            ${icon(state === 'unknown' ? 'git-pull-request' : states[state].icon)}
            <p>${said} <span class="muted">${instantText(at, times)}</span></p>
          </li>`,
      )}
    </ol>
  </section>`;
}

/** GitHub's times are whole seconds, so what caused a status, which stands before it, is in the same one at most. */
const secondOf = ({ at }: Moment): number => Math.floor(at.getTime() / 1000);

/** A status as a moment, if it says another thing than the one before. */
function ofStatus({ at, state, description }: WrittenStatus, index: number, all: WrittenStatus[]): Moment[] {
  const before = all[index - 1];
  if (before && (before.state === 'success') === (state === 'success') && before.description === description)
    return [];
  const isFree = state === 'success';
  return [
    {
      at,
      state: isFree ? 'free' : 'blocked',
      said: html`${!isFree ? 'Blocked' : index > 0 ? 'Let go' : 'Free'}: <bdi>${description}</bdi>`,
    },
  ];
}

function ofExemption(exemption: ExemptionRecord, times: Times): Moment[] {
  const { requestedAt, requestedBy, approvedAt, decidedAt, decidedBy, reason, state, decisionReason } =
    exemption;
  const requested = reason === '' ? '.' : html`: ${quotedLast(reason)}`;
  const moments: Moment[] = [
    {
      at: requestedAt,
      state: 'waiting',
      said: html`<bdi>${actorName(requestedBy)}</bdi> requested an exemption${requested}`,
    },
  ];
  if (approvedAt)
    moments.push({
      at: approvedAt,
      state: 'exempt',
      said: html`<bdi>${state === 'revoked' ? 'Somebody' : nameOfApprover(decidedBy)}</bdi> approved it`,
    });
  if (state === 'denied' && decidedAt)
    moments.push({
      at: decidedAt,
      state: 'ended',
      said: html`<bdi>${nameOfApprover(decidedBy)}</bdi> denied
        it${decisionReason ? html`: ${quotedLast(decisionReason)}` : ''}`,
    });
  if (approvedAt && exemption.endedAt && state !== 'used')
    moments.push({
      at: exemption.endedAt,
      state: 'ended',
      said: html`The exemption ended: ${endOfExemption(exemption)}`,
    });
  return moments.filter(({ at }) => at <= times.now);
}
