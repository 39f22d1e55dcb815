import { html } from 'hono/html';
import type { EnforcementReport } from '../../enforcement/check-enforcement.ts';
import type { Finding } from '../../enforcement/finding.ts';
import { instant } from '../instant.ts';
import type { Html } from '../layout.ts';

/** Whether a freeze would hold: what is wrong or not known, with what to click or call, and folded the rest. */
export function enforcement(report: EnforcementReport | null, zone: string | null): Html {
  return html`<section id="enforcement" aria-labelledby="enforcement-heading">
    <h2 id="enforcement-heading">Is it enforced?</h2>
    ${report ? found(report, zone) : html`<p>GitHub is still being asked. Load the page again in a moment.</p>`}
  </section>`;
}

function found(report: EnforcementReport, zone: string | null): Html {
  const of = (state: Finding['state']) => report.findings.filter((finding) => finding.state === state);
  return html`<p>
      ${verdictOf(report)}
      <span class="muted">Looked at ${instant(report.checkedAt, zone ?? 'UTC', zone)}</span>
    </p>
    ${whatToMend(report)} ${folded('warning', of('warning'))} ${folded('check in order', of('ok'))}`;
}

export const verdictOf = ({ enforced }: EnforcementReport): Html =>
  html`<span class="badge ${badges[`${enforced}`]}">${verdicts[`${enforced}`]}</span>`;

/** What is wrong or not known, with what to click or call. */
export function whatToMend({ findings }: EnforcementReport): Html {
  const pressing = [
    ...findings.filter(({ state }) => state === 'failed'),
    ...findings.filter(({ state }) => state === 'unknown'),
  ];
  return pressing.length > 0 ? list(pressing) : html``;
}

const folded = (what: string, findings: Finding[]): Html =>
  findings.length === 0
    ? html``
    : html`<details>
        <summary>${findings.length} ${findings.length === 1 ? what : what.replace(/\w+/, '$&s')}</summary>
        ${list(findings)}
      </details>`;

const badges = { true: 'free', false: 'leaking', unknown: 'past' };

const verdicts = {
  true: 'Freezes are enforced',
  false: 'Freezes are not enforced',
  unknown: 'It is not known whether freezes are enforced',
};

const stateNames = { failed: 'Wrong', unknown: 'Not known', warning: 'Warning', ok: 'Fine' };

const list = (findings: Finding[]): Html =>
  html`<ul class="findings">
    ${findings.map(
      ({ state, message, remedy }) =>
        html`<li>
          <p><strong>${stateNames[state]}:</strong> ${message}</p>
          ${remedy === null ? '' : whatToDo(remedy)}
        </li>`,
    )}
  </ul>`;

/** A remedy with links to click, and with its command, where it ends on one, to copy. */
function whatToDo(remedy: string): Html {
  const [words, command] = remedy.split(/(?<=: )(?=curl )/) as [string, string?];
  return html`<p>${withLinks(words)}</p>
    ${command === undefined ? '' : html`<pre><code>${command}</code></pre>`}`;
}

/** The mark that ends a sentence is not part of its last URL. */
const withLinks = (text: string): Html[] =>
  text
    .split(/(https?:\/\/[^\s'"<>]*[^\s'"<>.,;:)])/)
    .map((part, index) =>
      index % 2 === 1 ? html`<a href="${part}" rel="noreferrer">${part}</a>` : html`${part}`,
    );
