import { html } from 'hono/html';
import type { Reason } from '../../conditions/explain.ts';
import type { Html } from '../layout.ts';

/** The conditions of a list, each with what it saw; those that decide come out in bold. */
export const reasonsTable = (caption: string, reasons: Reason[]): Html =>
  html`<table>
    <caption>
      ${caption}
    </caption>
    <thead>
      <tr>
        <th scope="col">Condition</th>
        <th scope="col">Seen here</th>
        <th scope="col" class="short">Matches</th>
      </tr>
    </thead>
    <tbody>
      ${reasons.map(
        (reason) =>
          html`<tr class="${reason.decides ? 'decides' : ''}">
            <td><code>${placeOf(reason)}${reason.condition}</code></td>
            <td>${seen(reason)}</td>
            <td class="short">${matches(reason)}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;

/** The words around a nested condition: `not or `. */
const placeOf = ({ path }: Reason): string =>
  path
    .filter((step) => typeof step === 'string')
    .map((step) => `${step} `)
    .join('');

function seen({ saw, more, why }: Reason): Html | string {
  if (saw === null) return why ?? 'not known';
  if (saw.length === 0) return html`<span class="muted">none</span>`;
  const values = saw.map((value, index) => html`${index > 0 ? ', ' : ''}<code>${String(value)}</code>`);
  return html`${values}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Of the condition with the words before it: a `not` turns what the condition itself says. */
function matches({ path, match }: Reason): string {
  if (match === 'unknown') return 'could not be judged';
  const isTurned = path.filter((step) => step === 'not').length % 2 === 1;
  return match !== isTurned ? 'yes' : 'no';
}
