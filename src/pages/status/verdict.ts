import { html } from 'hono/html';
import { heldBelow } from '../../explanations/explain-pull-request.ts';
import { whyNot } from '../held.ts';
import { instant } from '../instant.ts';
import type { Html } from '../layout.ts';
import type { ShownFreeze } from './freeze-card.ts';
import type { Look } from './look-at-pull-request.ts';

/** The first sentence of a pull request's page: whether it is held, by how many freezes, and until when. */
export function verdict({ holding, isUnjudged, notHeld, live }: Look, isOpen: boolean): Html {
  if (!isOpen) return html`<span class="badge">Closed</span> Freezes hold open pull requests only.`;
  if (holding.length === 0 && isUnjudged)
    return html`<span class="badge held">Not judged yet</span> A freeze began after Holdfast last checked this
      pull request.`;
  if (holding.length === 0 && !live?.sharedHolds.length)
    return html`<span class="badge free">Free</span> No freeze holds this pull request.`;
  const said = holding.length === 0 && live && heldBelow(live).length > 0 ? belowIt : byWhat(holding);
  if (notHeld === 'leaking')
    return html`<span class="badge leaking">Not held</span> ${said}, but GitHub would merge it: its base
      branch does not require the Holdfast status, or accepts it from other sources. An admin can run
      <code>holdfast doctor</code> to find out why.`;
  if (notHeld) return html`<span class="badge held">Pending</span> ${said}, but ${whyNot[notHeld]}.`;
  return html`<span class="badge held">Held</span> ${said}.`;
}

const belowIt = html`A pull request below it in its stack is held, and so is this one`;

function byWhat(freezes: ShownFreeze[]): Html {
  if (freezes.length === 0) return html`Its commit is held, and so is this pull request`;
  const by = freezes.length === 1 ? 'A freeze holds' : `${freezes.length} freezes hold`;
  return html`${by} this pull request${until(freezes.map(({ freeze }) => freeze))}`;
}

/** When the last of the freezes ends. */
function until(freezes: ShownFreeze['freeze'][]): Html {
  const endless = freezes.filter(({ endsAt }) => endsAt === null).length;
  if (endless === 0) {
    const last = freezes.reduce((one, other) => (one.endsAt! >= other.endsAt! ? one : other));
    return html` until <strong>${instant(last.endsAt!, last.timezone)}</strong>`;
  }
  if (freezes.length === 1) return html` <strong>until it is removed</strong>`;
  return html`, <strong>${endless === 1 ? 'one' : endless} of them without an end</strong>`;
}
