import { html } from 'hono/html';
import type { Occurrence } from '../../plans/occurrences.ts';
import { clockChangeAt } from '../../time/clock-change.ts';
import { describeInstant } from '../../time/local-time.ts';
import { instant } from '../instant.ts';
import type { Html } from '../layout.ts';

/** The windows of a plan: by its own clock and, else than without scripts (local-times.js), by the reader's. */
export const occurrenceTable = (occurrences: Occurrence[], zone: string): Html =>
  html`<table class="occurrences">
    <thead>
      <tr>
        <th>From</th>
        <th>Until</th>
      </tr>
    </thead>
    <tbody>
      ${occurrences.map(
        ({ start, end, startsAt, endsAt }) =>
          html`<tr>
            <td>${time(startsAt, zone)} ${clockNote(start, zone, 'start')}</td>
            <td>
              ${endsAt && end !== null ? html`${time(endsAt, zone)} ${clockNote(end, zone, 'end')}` : 'it is removed'}
            </td>
          </tr>`,
      )}
    </tbody>
  </table>`;

const time = (at: Date, zone: string): Html =>
  html`${instant(at, zone)}${zone === 'UTC' ? '' : html`<noscript> (${describeInstant(at, 'UTC')})</noscript>`}`;

/** Says what becomes of a time that a change of clocks leaves out or shows twice. */
function clockNote(local: string, zone: string, edge: 'start' | 'end'): Html {
  const time = local.slice(11, 16);
  switch (clockChangeAt(local, zone)) {
    case 'skipped':
      return html`<span class="clock-note"
        >Clocks go forward: there is no ${time} that day, so it ${edge}s after the gap.</span
      >`;
    case 'doubled':
      return html`<span class="clock-note"
        >Clocks go back: ${time} comes twice that day. It ${edge}s at the
        ${edge === 'start' ? 'first' : 'second'}.</span
      >`;
    case null:
      return html``;
  }
}
