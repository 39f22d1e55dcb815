import { html } from 'hono/html';
import type { EnforcementReport } from '../../explanations/enforcement/recent-enforcement.ts';
import type { Finding } from '../../explanations/enforcement/finding.ts';
import { instant, type Times } from '../text.ts';
import type { Html } from '../layout.ts';

/** Whether a freeze would be enforced: what is wrong or unknown and how to fix it, then the rest, folded. */
export function enforcement(report: EnforcementReport | null, times: Times): Html {
  return html`<section id="enforcement" aria-labelledby="enforcement-heading">
    <h2 id="enforcement-heading">Enforcement</h2>
    ${report ? found(report, times) : stillAsking}
  </section>`;
}

const stillAsking = html`<p>Holdfast is still asking GitHub. Reload the page in a moment.</p>`;

function found(report: EnforcementReport, times: Times): Html {
  const of = (state: Finding['state']) => report.findings.filter((finding) => finding.state === state);
  return html`<p>
      ${verdictOf(report)}
      <span class="muted">Checked ${instant(report.checkedAt, times)}</span>
    </p>
    ${whatToMend(report)} ${folded('warning', of('warning'))} ${folded('passed check', of('ok'))}`;
}

export const verdictOf = ({ enforced }: EnforcementReport): Html =>
  html`<span class="badge ${badges[`${enforced}`]}">${verdicts[`${enforced}`]}</span>`;

/** How many problems are not folded. Each branch has its own. */
const mostPressing = 3;

/** What is wrong or unknown, and how to fix it. */
export function whatToMend({ findings }: EnforcementReport): Html {
  const pressing = [
    ...findings.filter(({ state }) => state === 'failed'),
    ...findings.filter(({ state }) => state === 'unknown'),
  ];
  if (pressing.length === 0) return html``;
  return html`${list(pressing.slice(0, mostPressing))} ${folded('more problem', pressing.slice(mostPressing))}`;
}

/** What is known about deployments: permissions, environments, rules and workflows. */
export function deploymentFindings(report: EnforcementReport | null): Html {
  if (!report) return stillAsking;
  const about = report.findings.filter(({ check }) => check === 'deployments');
  return about.length > 0 ? list(about) : html`<p>GitHub did not say what the App may do.</p>`;
}

const folded = (what: string, findings: Finding[]): Html =>
  findings.length === 0
    ? html``
    : html`<details>
        <summary>${findings.length} ${findings.length === 1 ? what : `${what}s`}</summary>
        ${list(findings)}
      </details>`;

const badges = { true: 'free', false: 'leaking', unknown: 'past' };

const verdicts = {
  true: 'Freezes are enforced',
  false: 'Freezes are not enforced',
  unknown: 'Holdfast cannot tell whether freezes are enforced',
};

const stateNames = { failed: 'Failed', unknown: 'Unknown', warning: 'Warning', ok: 'Passed' };

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

/** A remedy with clickable links. If it ends with a command, the command is in a block to copy. */
function whatToDo(remedy: string): Html {
  const [words, command] = remedy.split(/(?<=: )(?=(?:curl|gh|holdfast) )/) as [string, string?];
  return html`<p>${withLinks(words)}</p>
    ${command === undefined ? '' : html`<pre><code>${command}</code></pre>`}`;
}

/** Punctuation at the end of a sentence is not part of its last URL. */
const withLinks = (text: string): Html[] =>
  text
    .split(/(https?:\/\/[^\s'"<>]*[^\s'"<>.,;:)])/)
    .map((part, index) =>
      index % 2 === 1 ? html`<a href="${part}" rel="noreferrer">${part}</a>` : html`${part}`,
    );
