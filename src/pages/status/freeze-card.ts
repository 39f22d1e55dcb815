import { html } from 'hono/html';
import type { Explained } from '../../explanations/explain-pull-request.ts';
import type { ReleasingLabels } from '../../explanations/releasing-labels.ts';
import type { Freeze } from '../../freezes/freeze.ts';
import { instant } from '../instant.ts';
import type { Html } from '../layout.ts';
import { longHeading, quoted } from '../long-text.ts';
import { reasonsTable } from './reasons-table.ts';

/** A freeze and what it does with the pull request; only the freeze, where GitHub could not be asked. */
export type ShownFreeze = Pick<Explained, 'freeze'> & Partial<Explained>;

/** Where an admin removes a freeze. */
export type RemovalPlace = { publicUrl: string; fullName: string };

/** A freeze that holds the pull request: until when, why, and what would let it go. */
export const holdingCard = (
  { freeze, verdict, reasons, releasing }: ShownFreeze,
  place: RemovalPlace,
): Html =>
  html`<section class="card">
    ${longHeading(freeze.reason)}
    <p>${lasts(freeze)}</p>
    ${
      verdict === 'unknown'
        ? html`<p>
            Its conditions could not all be judged, and until they can it holds. Holdfast looks again.
          </p>`
        : ''
    }
    ${reasons ? why(freeze, reasons) : ''} ${release(freeze, releasing, place)}
  </section>`;

/** A freeze that is on and lets the pull request go. */
export const passingCard = ({ freeze, verdict, pass, reasons }: ShownFreeze): Html =>
  html`<section class="card">
    ${longHeading(freeze.reason)}
    <p>
      ${
        pass
          ? 'It would hold this pull request, and an exemption lets it through.'
          : verdict === 'excluded'
            ? 'It excludes this pull request.'
            : 'It does not match this pull request.'
      }
    </p>
    <p>${lasts(freeze)}</p>
    ${reasons ? why(freeze, reasons) : ''}
  </section>`;

export const lasts = ({ startsAt, endsAt, timezone }: Freeze): Html =>
  html`Since ${instant(startsAt, timezone)},
  ${endsAt ? html`until <strong>${instant(endsAt, timezone)}</strong>.` : 'until it is removed.'}`;

/** The reasons of several freezes, in a sentence. */
export const reasons = (freezes: Pick<Freeze, 'reason'>[]): Html =>
  html`${freezes.map(({ reason }, index) => html`${index > 0 ? ', ' : ''}${quoted(reason)}`)}`;

const why = ({ matchingConditions }: Freeze, { matching, exclude }: Explained['reasons']): Html =>
  html`${
    matchingConditions.length === 0
      ? html`<p>It holds every pull request${exclude.length > 0 ? ' that it does not exclude' : ''}.</p>`
      : reasonsTable('It holds what matches all of these', matching)
  }
  ${exclude.length > 0 ? reasonsTable('It excludes what matches all of these', exclude) : ''}`;

const release = (
  { id, endsAt, timezone }: Freeze,
  labels: ReleasingLabels | undefined,
  { publicUrl, fullName }: RemovalPlace,
): Html =>
  html`<h4>What would let it go</h4>
    <ul>
      ${endsAt ? html`<li>Its end, at ${instant(endsAt, timezone)}. Nothing needs to be done for it.</li>` : ''}
      ${labels?.putOn.map((label) => html`<li>The label <code>${label}</code>, put on this pull request.</li>`)}
      ${labels?.takeOff.map(
        (label) => html`<li>The label <code>${label}</code>, taken off this pull request.</li>`,
      )}
      <li>
        An admin of ${fullName} who ${endsAt ? '' : 'sets an end to it or '}removes it.
        <details>
          <summary>The call that removes it</summary>
          <pre><code>curl -X POST ${publicUrl}/v1/repos/${fullName}/scheduled_freeze/${id}/delete \\
  -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\
  -d '{"delete_reason": "…"}'</code></pre>
        </details>
      </li>
    </ul>`;
