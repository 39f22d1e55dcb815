import { html } from 'hono/html';
import type { WrittenStatus } from '../../statuses/write-store.ts';
import { instant } from '../instant.ts';
import type { Html } from '../layout.ts';

/** The latest statuses that Holdfast wrote on a commit, newest first. */
export const statusesTable = (sha: string, statuses: WrittenStatus[]): Html =>
  html`<details class="fold">
    <summary><h2>Written statuses</h2></summary>
    ${
      statuses.length === 0
        ? html`<p>None yet on <code>${sha.slice(0, 10)}</code>.</p>`
        : html`<table>
            <caption>
              On
              <code>${sha.slice(0, 10)}</code
              >, newest first
            </caption>
            <thead>
              <tr>
                <th scope="col">When</th>
                <th scope="col" class="short">State</th>
                <th scope="col">Description</th>
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
