import { html } from 'hono/html';
import type { Occurrence } from '../../plans/occurrences.ts';
import { clockChangeAt } from '../../time/clock-change.ts';
import { describeInstant } from '../../time/local-time.ts';
import { instant } from '../instant.ts';
import type { Html } from '../layout.ts';

/** The windows of a plan: by its own clock, in UTC and (local-times.js) by the reader's clock. */
export const occurrenceList = (occurrences: Occurrence[], zone: string): Html =>
  html`<ol class="occurrences">
    ${occurrences.map(
      ({ start, end, startsAt, endsAt }) =>
        html`<li>
          ${instant(startsAt, zone)} ${inUtc(startsAt, zone)} ${clockNote(start, zone, 'start')}
          <span class="until"
            >${endsAt ? html`until ${instant(endsAt, zone)} ${inUtc(endsAt, zone)}` : 'until it is removed'}</span
          >
          ${end === null ? '' : clockNote(end, zone, 'end')}
        </li>`,
    )}
  </ol>`;

const inUtc = (at: Date, zone: string): Html =>
  zone === 'UTC' ? html`` : html`<span class="muted">= ${describeInstant(at, 'UTC')}</span>`;

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
