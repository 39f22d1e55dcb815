import { html } from 'hono/html';
import type { ConditionInput } from '../../conditions/ast.ts';
import { type Freeze, holdsMerges } from '../../freezes/freeze.ts';
import type { Html } from '../layout.ts';

/** Longer lists are folded: a list may have 2,000 conditions. */
const mostShown = 12;

/** What a freeze holds: the pull requests that its conditions select, and the deployments of its environments. */
export const whatItHolds = (freeze: Freeze): Html =>
  html`${holdsMerges(freeze) ? conditions(freeze) : ''}
  ${freeze.holds?.includes('deployments') ? deployments(freeze) : ''}`;

const deployments = ({ environments }: Freeze): Html =>
  environments
    ? html`<p>Deployments to environments that match any of</p>
        ${nested(environments)}`
    : html`<p>Every deployment</p>`;

/** The conditions of a freeze as they were sent, in words around them. */
function conditions({ matchingConditions: matching, excludeConditions: exclude }: Freeze): Html {
  return html`${
    matching.length === 0
      ? html`<p>Every pull request</p>`
      : html`<p>Pull requests that match ${allOf(matching)}</p>
          ${list(matching)}`
  }
  ${
    exclude.length === 0
      ? ''
      : html`<p>Except those that match ${allOf(exclude)}</p>
          ${list(exclude)}`
  }`;
}

const allOf = (items: ConditionInput[]): string => (items.length > 1 ? 'all of' : '');

function list(items: ConditionInput[]): Html {
  const shown = nested(items);
  const count = items.reduce((sum, item) => sum + countOf(item), 0);
  if (count <= mostShown) return shown;
  return html`<details>
    <summary>${count} conditions</summary>
    ${shown}
  </details>`;
}

const nested = (items: ConditionInput[]): Html =>
  html`<ul class="conditions">
    ${items.map((item) => html`<li>${condition(item)}</li>`)}
  </ul>`;

function condition(item: ConditionInput): Html {
  if (typeof item === 'string') return html`<code>${item}</code>`;
  if ('and' in item) return html`all of ${nested(item.and)}`;
  if ('or' in item) return html`any of ${nested(item.or)}`;
  return html`not ${nested([item.not])}`;
}

function countOf(item: ConditionInput): number {
  if (typeof item === 'string') return 1;
  const items = 'and' in item ? item.and : 'or' in item ? item.or : [item.not];
  return items.reduce((sum, one) => sum + countOf(one), 0);
}

/** Conditions in one line: `label=risky, any of (base=main, not (author=bob))`. */
export const inOneLine = (items: ConditionInput[]): string => items.map(word).join(', ');

function word(item: ConditionInput): string {
  if (typeof item === 'string') return item;
  if ('and' in item) return `all of (${inOneLine(item.and)})`;
  if ('or' in item) return `any of (${inOneLine(item.or)})`;
  return `not (${word(item.not)})`;
}
