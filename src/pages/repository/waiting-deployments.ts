import { html } from 'hono/html';
import type { Deployment } from '../../deployments/deployment.ts';
import { fullName } from '../../installations/find-repository.ts';
import { freezePath } from '../../installations/page-paths.ts';
import type { Html } from '../layout.ts';
import { instant } from '../text.ts';
import type { RepositoryPage } from './load-page.ts';

/** The deployments that wait at GitHub: where to, from which commit, since when, and for which freeze. */
export function waitingDeployments(page: RepositoryPage, webUrl: string): Html {
  const { waiting } = page;
  if (waiting.length === 0) return html``;
  return html`<section id="deployments" aria-labelledby="deployments-heading">
    <h2 id="deployments-heading">Deployments that wait</h2>
    <ul class="cards">
      ${waiting.map((each) => card(page, `${webUrl}/${fullName(page.repository)}`, each))}
    </ul>
  </section>`;
}

const card = (
  { repository, times }: RepositoryPage,
  repositoryUrl: string,
  { runId, runNumber, workflow, environment, ref, sha, requestedAt, freezeIds }: Deployment,
): Html =>
  html`<li class="card">
    <p>
      <strong><bdi>${environment}</bdi></strong
      >:
      <a href="${repositoryUrl}/actions/runs/${runId}" rel="noreferrer"
        ><bdi>${workflow}</bdi> ${runNumber}</a
      >
      of <bdi>${ref}</bdi>, <code>${sha.slice(0, 7)}</code>, since ${instant(requestedAt, times)}
      (${freezeIds.length === 0 ? 'no freeze holds it' : freezeIds.map((id, at) => html`${at === 0 ? 'held by ' : ', '}<a href="${freezePath(repository, id)}">${at === 0 ? 'a freeze' : 'another'}</a>`)})
    </p>
  </li>`;
