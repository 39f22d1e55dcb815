import { html } from 'hono/html';
import { whatDeploymentsWait, whatIsBlocked } from '../../words/describe-fields.ts';
import type { PlanPreview, PreviewedRepository } from '../../explanations/preview-plan.ts';
import { repositoryPath } from '../../page-paths.ts';
import type { Html } from '../html.ts';
import { headings } from '../text.ts';

/** How many repositories are listed. */
const mostRepositoriesShown = 100;
/** How many runs that wait are named. */
const mostRuns = 3;

/** How many environments it would hold, and where nothing; nothing for a freeze of merges alone. */
export function deploymentsSummary(preview: PlanPreview): Html | '' {
  const found = preview.deployments;
  if (!found) return '';
  const { held, leaks, notes } = whatDeploymentsWait(found.places, found.unknown, 'would be');
  const isPartial = preview.notLookedAt.length > 0;
  return html`<p>
    ${held === null ? '' : html`${isPartial ? 'Where Holdfast has looked: ' : ''}<strong>${held}</strong>`}
    ${leaks.map((leak) => html`<strong class="leaking">${leak}</strong> `)}
    ${notes.map((note) => html`<strong>${note}</strong> `)}
  </p>`;
}

/** What a freeze would do to deployments, and its environments in each repository. Nothing for one of merges alone. */
export function deploymentsPreview(login: string, { holding, repositories }: PlanPreview): Html | '' {
  const blocked = whatIsBlocked(holding);
  if (blocked === null) return '';
  const left = repositories.length - mostRepositoriesShown;
  return html`<p>${blocked}</p>
    <table class="stacked">
      ${headings(['Repository', 'Environments'])}
      <tbody>
        ${repositories.slice(0, mostRepositoriesShown).map((each) => rowOf(login, each))}
      </tbody>
    </table>
    ${left > 0 ? html`<p>and ${left} more</p>` : ''}`;
}

const rowOf = (login: string, { name, environments }: PreviewedRepository): Html =>
  html`<tr>
    <th scope="row">
      <a href="${repositoryPath({ name, account: { login } })}#enforcement">${name}</a>
    </th>
    <td>
      ${
        environments === null
          ? 'GitHub does not say which environments there are'
          : environments.length === 0
            ? html`<strong class="leaking">None: no deployment would wait</strong>`
            : environments.map(wordsOf)
      }
    </td>
  </tr>`;

const wordsOf = ({
  name,
  hasRule,
  waiting,
}: NonNullable<PreviewedRepository['environments']>[number]): Html =>
  html`<p>
    <bdi>${name}</bdi>:
    ${hasRule ? 'GitHub waits for Holdfast' : html`<strong class="leaking">the rule is not enabled</strong>`}${waiting.length > 0 ? html`, ${waiting.length} waiting now: ${waiting.slice(0, mostRuns).map(({ workflow, runNumber, ref }, at) => html`${at > 0 ? ', ' : ''}<bdi>${workflow} #${runNumber}</bdi> of <bdi>${ref}</bdi>`)}${waiting.length > mostRuns ? ` and ${waiting.length - mostRuns} more` : ''}` : ''}
  </p>`;
