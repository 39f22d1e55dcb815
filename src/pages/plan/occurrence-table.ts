import { html } from 'hono/html';
import type { Occurrence } from '../../plans/occurrences.ts';
import { clockChangeAt } from '../../time/local-time.ts';
import type { Html } from '../layout.ts';
import { instant, type Times } from '../text.ts';

/** The occurrences of a plan. @param zone its own zone. */
export const occurrenceTable = (occurrences: Occurrence[], zone: string, times: Times): Html =>
  html`<table class="occurrences">
    <thead>
      <tr>
        <th>Start</th>
        <th>End</th>
      </tr>
    </thead>
    <tbody>
      ${occurrences.map(
        ({ start, end, startsAt, endsAt }) =>
          html`<tr>
            <td>${instant(startsAt, times, zone)} ${clockNote(start, zone, 'start')}</td>
            <td>
              ${endsAt && end !== null ? html`${instant(endsAt, times, zone)} ${clockNote(end, zone, 'end')}` : 'None'}
            </td>
          </tr>`,
      )}
    </tbody>
  </table>`;

/** Explains what happens to a time that a clock change skips or repeats. */
function clockNote(local: string, zone: string, edge: 'start' | 'end'): Html {
  const time = local.slice(11, 16);
  switch (clockChangeAt(local, zone)) {
    case 'skipped':
      return html`<span class="clock-note"
        >Clocks go forward: ${time} does not exist that day, so it ${edge}s after the gap.</span
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
