import { html } from 'hono/html';
import type { WrittenStatus } from '../../outbox/written-statuses.ts';
import { instant } from '../instant.ts';
import type { Html } from '../layout.ts';

/** The latest statuses that we wrote on a commit, the newest first. */
export const statusesTable = (sha: string, statuses: WrittenStatus[]): Html =>
  html`<details class="fold">
    <summary><h2>Statuses written</h2></summary>
    ${
      statuses.length === 0
        ? html`<p>None yet on <code>${sha.slice(0, 10)}</code>.</p>`
        : html`<table>
            <caption>
              On
              <code>${sha.slice(0, 10)}</code
              >, the newest first
            </caption>
            <thead>
              <tr>
                <th scope="col">When</th>
                <th scope="col" class="short">State</th>
                <th scope="col">Text</th>
              </tr>
            </thead>
            <tbody>
              ${statuses.map(
                ({ at, state, description }) =>
                  html`<tr>
                    <td>${instant(at, 'UTC')}</td>
                    <td class="short">${state}</td>
                    <td>${description}</td>
                  </tr>`,
              )}
            </tbody>
          </table>`
    }
  </details>`;
