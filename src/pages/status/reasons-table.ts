import { html } from 'hono/html';
import type { Reason } from '../../conditions/explain.ts';
import type { Html } from '../layout.ts';

/** How many conditions are not folded. A list may have 2,000, so those that decide come first. */
const mostShown = 12;

/** The conditions of a list, each with the value that it saw. Those that decide are bold. */
export function reasonsTable(caption: string, reasons: Reason[]): Html {
  if (reasons.length <= mostShown) return table(caption, reasons);
  const decisiveFirst = [
    ...reasons.filter(({ decides }) => decides),
    ...reasons.filter(({ decides }) => !decides),
  ];
  return html`${table(caption, decisiveFirst.slice(0, mostShown))}
    <details>
      <summary>${reasons.length - mostShown} more conditions</summary>
      ${table('More conditions', decisiveFirst.slice(mostShown))}
    </details>`;
}

const table = (caption: string, reasons: Reason[]): Html =>
  html`<table>
    <caption>
      ${caption}
    </caption>
    <thead>
      <tr>
        <th scope="col">Condition</th>
        <th scope="col">Value</th>
        <th scope="col" class="short">Matches</th>
      </tr>
    </thead>
    <tbody>
      ${reasons.map(
        (reason) =>
          html`<tr class="${reason.decides ? 'decides' : ''}">
            <td>${isTurned(reason) ? 'not ' : ''}<code dir="auto">${reason.condition}</code></td>
            <td>${seen(reason)}</td>
            <td class="short">${matches(reason)}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;

/** Whether an odd number of `not`s around the condition inverts it. */
const isTurned = ({ path }: Reason): boolean => path.filter((step) => step === 'not').length % 2 === 1;

function seen({ saw, more, why }: Reason): Html | string {
  if (saw === null) return why ?? 'unknown';
  if (saw.length === 0) return html`<span class="muted">none</span>`;
  const values = saw.map(
    (value, index) => html`${index > 0 ? ', ' : ''}<code dir="auto">${String(value)}</code>`,
  );
  return html`${values}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The result of the condition, including a `not` before it. */
function matches(reason: Reason): string {
  if (reason.match === 'unknown') return 'could not be judged';
  return reason.match !== isTurned(reason) ? 'yes' : 'no';
}
