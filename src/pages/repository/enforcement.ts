import { html } from 'hono/html';
import type { EnforcementReport } from '../../explanations/enforcement/recent-enforcement.ts';
import type { Finding } from '../../explanations/enforcement/finding.ts';
import { instantText, type Times } from '../text.ts';
import type { Html } from '../html.ts';
import { within } from '../../time/clock.ts';
import type { Deps } from '../../deps.ts';
import { nullIf } from '../../errors.ts';
import { settingsOf } from '../../explanations/enforcement/read-service.ts';
import {
  asksForComments,
  asksForDeployments,
  type Grants,
  missingForComments,
  missingForDeployments,
} from '../../github/app-manifest.ts';
import { askGitHub } from '../../github/ask-github.ts';
import { webUrlOf } from '../../github/web-url.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';

/**
 * Whether a freeze would be enforced: what is wrong or unknown and how to fix it, then the rest, folded.
 * @param isLoose whether a freeze of deployments is not enforced: then the verdict says that it is about merges.
 */
export function enforcement(report: EnforcementReport | null, times: Times, isLoose: boolean): Html {
  return html`<section id="enforcement" aria-labelledby="enforcement-heading">
    <h2 id="enforcement-heading">Enforcement</h2>
    ${report ? found(report, times, isLoose) : stillAsking}
  </section>`;
}

const stillAsking = html`<p>Holdfast is still asking GitHub. Reload the page in a moment.</p>`;

function found(report: EnforcementReport, times: Times, isLoose: boolean): Html {
  const of = (state: Finding['state']) => report.findings.filter((finding) => finding.state === state);
  const isPressing = ({ check }: Finding) => isLoose && check === 'deployments';
  const warnings = of('warning');
  return html`<p>
      ${isLoose ? html`<span class="badge leaking">Freezes of deployments are not enforced</span>` : ''}
      ${verdictOf(report, isLoose ? ' of merges' : '')}
      <span class="muted">Checked ${instantText(report.checkedAt, times)}</span>
    </p>
    ${findingList(warnings.filter(isPressing))} ${whatToMend(report)}
    ${folded(
      'warning',
      warnings.filter((each) => !isPressing(each)),
    )}
    ${folded('passed check', of('ok'))}`;
}

/** @param ofWhat what the freezes hold, if others hold something else. */
export function verdictOf({ enforced }: EnforcementReport, ofWhat = ''): Html {
  const words = verdicts[`${enforced}`].replace(/freezes/i, `$&${ofWhat}`);
  return html`<span class="badge ${badges[`${enforced}`]}">${words}</span>`;
}

/** How many problems are not folded. Each branch has its own. */
const mostPressing = 3;

/** What is wrong or unknown, and how to fix it. */
export function whatToMend({ findings }: EnforcementReport): Html {
  const pressing = [
    ...findings.filter(({ state }) => state === 'failed'),
    ...findings.filter(({ state }) => state === 'unknown'),
  ];
  if (pressing.length === 0) return html``;
  return html`${findingList(pressing.slice(0, mostPressing))}
  ${folded('more problem', pressing.slice(mostPressing))}`;
}

/** What is known about deployments: permissions, environments, rules and workflows. */
export function deploymentFindings(report: EnforcementReport | null): Html {
  if (!report) return stillAsking;
  const about = report.findings.filter(({ check }) => check === 'deployments');
  return about.length > 0 ? findingList(about) : html`<p>GitHub did not say what the App may do.</p>`;
}

const folded = (what: string, findings: Finding[]): Html =>
  findings.length === 0
    ? html``
    : html`<details>
        <summary>${findings.length} ${findings.length === 1 ? what : `${what}s`}</summary>
        ${findingList(findings)}
      </details>`;

const badges = { true: 'free', false: 'leaking', unknown: 'past' };

const verdicts = {
  true: 'Freezes are enforced',
  false: 'Freezes are not enforced',
  unknown: 'Holdfast cannot tell whether freezes are enforced',
};

const stateNames = { failed: 'Failed', unknown: 'Unknown', warning: 'Warning', ok: 'Passed' };

const findingList = (findings: Finding[]): Html =>
  findings.length === 0
    ? html``
    : html`<ul class="findings">
        ${findings.map(
          ({ state, message, remedy }) =>
            html`<li>
              <p><strong>${stateNames[state]}:</strong> ${message}</p>
              ${remedy === null ? '' : whatToDo(remedy)}
            </li>`,
        )}
      </ul>`;

/** A remedy: its words, a button that leads to the right page of GitHub, and the call to copy, folded. */
function whatToDo(remedy: string): Html {
  const [words, command] = remedy.split(/(?:, or [^:,]*)?: (?=(?:curl|gh|holdfast) )/) as [string, string?];
  const [, page] = /(https?:\/\/[^\s'"<>]*[^\s'"<>.,;:)])/.exec(words) ?? [];
  const said = page === undefined ? words : words.replace(`at ${page}`, 'on GitHub').replace(page, 'GitHub');
  return html`<p>${said.replace(/[^.]$/, '$&.')}</p>
    ${page === undefined ? '' : html`<p><a class="button" href="${page}" rel="noreferrer">Fix it on GitHub</a></p>`}
    ${
      command === undefined
        ? ''
        : html`<details>
            <summary>${command.startsWith('holdfast') ? 'With the command line' : 'With the API'}</summary>
            <pre><code>${command}</code></pre>
          </details>`
    }`;
}

// What works only if the owner of the App requests more permissions, and each account accepts them. GitHub has no API
// to change what an App requests.

const extras = {
  comments: {
    asks: asksForComments,
    missingFrom: missingForComments,
    permissions: html`<i>Issues: read</i>, so that GitHub sends comments to Holdfast, and
      <i>Pull requests: read and write</i>, so that Holdfast can reply`,
    event: 'Issue comment',
  },
  deployments: {
    asks: (app: Grants) => asksForDeployments(app) && missingForDeployments(app).length === 0,
    missingFrom: missingForDeployments,
    permissions: html`<i>Deployments: read and write</i>, so that Holdfast can approve or reject deployments
      that wait, and <i>Actions: read</i>, so that it finds them`,
    event: 'Deployment protection rule',
  },
};
type Extra = keyof typeof extras;

/** What the App requests and an account granted, and the pages on GitHub where people change that. */
export type ExtraPermissions = Record<Extra, { isRequested: boolean; missing: string[] }> & {
  settings: string;
  installation: string;
};

/** An account that installed the App. */
type Installed = Pick<FoundRepository, 'account'> & {
  installation: Pick<FoundRepository['installation'], 'id' | 'permissions'>;
};

/** The page of an installation on GitHub. */
export function installationPage(deps: Pick<Deps, 'config'>, { account, installation }: Installed): string {
  const owner = account.type === 'Organization' ? `organizations/${account.login}/` : '';
  return `${webUrlOf(deps.config.githubApiUrl)}/${owner}settings/installations/${installation.id}`;
}

/** Milliseconds that a page waits. */
const refusedPushesPatience = 2_000;

/** @returns null while GitHub does not say what the App requests. */
export async function readExtraPermissions(deps: Deps, to: Installed): Promise<ExtraPermissions | null> {
  const asked = askGitHub(deps, 'App', 'what the App asks for', async () => {
    const { rest } = await deps.github.asApp();
    return (await rest.apps.getAuthenticated()).data!;
  });
  const app = await within(refusedPushesPatience, asked).catch(nullIf('unavailable'));
  if (!app) return null;
  const requested = { permissions: app.permissions as Grants['permissions'], events: app.events };
  const permissions = to.installation.permissions as Grants['permissions'];
  const read = ({ asks, missingFrom }: (typeof extras)[Extra]) => ({
    isRequested: asks(requested),
    missing: missingFrom({ permissions }),
  });
  return {
    comments: read(extras.comments),
    deployments: read(extras.deployments),
    settings: settingsOf(webUrlOf(deps.config.githubApiUrl), app),
    installation: installationPage(deps, to),
  };
}

/** Whether the account granted what an extra takes. */
export const isGranted = (found: ExtraPermissions | null, extra: Extra): found is ExtraPermissions =>
  found !== null && found[extra].isRequested && found[extra].missing.length === 0;

/** How to grant what an extra takes; for what is not granted yet. */
export function howToGrant(found: ExtraPermissions | null, extra: Extra): Html {
  if (!found) return html`<p>GitHub does not answer. Reload the page in a moment.</p>`;
  const { permissions, event } = extras[extra];
  const accept = html`<a href="${found.installation}" rel="noreferrer">the installation on GitHub</a>`;
  return found[extra].isRequested
    ? html`<p>Ask an owner to accept ${found[extra].missing.join(' and ')} in ${accept}.</p>`
    : html`<p>
        This takes two more permissions. Add them in
        <a href="${found.settings}/permissions" rel="noreferrer">the App’s settings</a>: ${permissions}.
        Subscribe to the <i>${event}</i> event there too. Then ask an owner to accept the new permissions in
        ${accept}.
      </p>`;
}
