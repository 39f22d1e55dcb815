import { html } from 'hono/html';
import type { Explained } from '../../explanations/explain-pull-request.ts';
import type { ReleasingLabels } from '../../explanations/releasing-labels.ts';
import type { Freeze } from '../../freezes/freeze.ts';
import { type FoundRepository, fullName } from '../../installations/find-repository.ts';
import { freezePath } from '../../page-paths.ts';
import { instant } from '../instant.ts';
import type { Html } from '../layout.ts';
import { longHeading, quoted, shorten } from '../long-text.ts';
import { sentence } from '../repository/conditions.ts';
import { reasonsTable } from './reasons-table.ts';

/** A freeze and what it does with the pull request; only the freeze, where GitHub could not be asked. */
export type ShownFreeze = Pick<Explained, 'freeze'> & Partial<Explained>;

/** Where an admin removes a freeze. */
export type RemovalPlace = { publicUrl: string; repository: FoundRepository };

/** So many cards are open; the others fold, so that the page stays readable. */
const mostOpen = 3;

/** A card for each freeze that holds the pull request: until when, why, and what would let it go. */
export const holdingCards = (freezes: ShownFreeze[], place: RemovalPlace): Html =>
  cards(freezes, (each) => holding(each, place));

/** A card for each freeze that is on and lets the pull request go. */
export const passingCards = (freezes: ShownFreeze[], place: RemovalPlace): Html =>
  cards(freezes, (each) => passing(each, place));

const cards = (freezes: ShownFreeze[], content: (freeze: ShownFreeze) => Html): Html =>
  html`${freezes.map((each, index) =>
    index < mostOpen
      ? html`<section class="card">${longHeading(each.freeze.reason)} ${content(each)}</section>`
      : html`<details class="card fold">
          <summary>
            <h3 dir="auto">${shorten(each.freeze.reason, 120)}</h3>
            ${untilOf(each.freeze)}
          </summary>
          ${content(each)}
        </details>`,
  )}`;

const holding = ({ freeze, verdict, reasons, releasing }: ShownFreeze, place: RemovalPlace): Html =>
  html`<p>${lasts(freeze)}</p>
    ${
      verdict === 'unknown'
        ? html`<p>
            Its conditions could not all be judged, and until they can it holds. Holdfast looks again.
          </p>`
        : ''
    }
    ${reasons ? why(freeze, reasons) : ''} ${release(freeze, releasing, place)}`;

const passing = ({ freeze, verdict, pass, reasons }: ShownFreeze, { repository }: RemovalPlace): Html =>
  html`<p>
      ${
        pass
          ? 'It would hold this pull request, and an exemption lets it through.'
          : verdict === 'excluded'
            ? 'It excludes this pull request.'
            : 'It does not match this pull request.'
      }
    </p>
    <p>${lasts(freeze)} <a href="${freezePath(repository, freeze.id)}">The freeze</a></p>
    ${reasons ? why(freeze, reasons) : ''}`;

const untilOf = ({ endsAt, timezone }: Freeze): Html =>
  endsAt ? html`until ${instant(endsAt, timezone)}` : html`until it is removed`;

export const lasts = ({ startsAt, endsAt, timezone }: Freeze): Html =>
  html`Since ${instant(startsAt, timezone)},
  ${endsAt ? html`until <strong>${instant(endsAt, timezone)}</strong>.` : 'until it is removed.'}`;

/** The reasons of several freezes, in a sentence. */
export const reasons = (freezes: Pick<Freeze, 'reason'>[]): Html =>
  html`${freezes.map(({ reason }, index) => html`${index > 0 ? ', ' : ''}${quoted(reason)}`)}`;

const why = (freeze: Freeze, { matching, exclude }: Explained['reasons']): Html =>
  html`${
    freeze.matchingConditions.length === 0
      ? html`<p>It holds every pull request${exclude.length > 0 ? ' that it does not exclude' : ''}.</p>`
      : html`<p>It holds what matches ${sentence(freeze.matchingConditions)}.</p>
          ${reasonsTable('What it holds', matching)}`
  }
  ${
    exclude.length > 0
      ? html`<p>It excludes what matches ${sentence(freeze.excludeConditions)}.</p>
          ${reasonsTable('What it excludes', exclude)}`
      : ''
  }`;

function release(
  { id, endsAt, timezone }: Freeze,
  labels: ReleasingLabels | undefined,
  { publicUrl, repository }: RemovalPlace,
): Html {
  const name = fullName(repository);
  return html`<h4>What would let it go</h4>
    <ul>
      ${endsAt ? html`<li>Its end, at ${instant(endsAt, timezone)}. Nothing needs to be done for it.</li>` : ''}
      ${labels?.putOn.map((label) => html`<li>The label <code>${label}</code>, put on this pull request.</li>`)}
      ${labels?.takeOff.map(
        (label) => html`<li>The label <code>${label}</code>, taken off this pull request.</li>`,
      )}
      <li>
        An admin of ${name} who ${endsAt ? 'ends' : 'sets an end to it'} or removes it, on
        <a href="${freezePath(repository, id)}">the page of the freeze</a>.
        <details>
          <summary>The call that removes it</summary>
          <pre><code>curl -X POST ${publicUrl}/v1/repos/${name}/scheduled_freeze/${id}/delete \\
  -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\
  -d '{"delete_reason": "…"}'</code></pre>
        </details>
      </li>
    </ul>`;
}
