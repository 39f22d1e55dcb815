import { html } from 'hono/html';
import { type Deployment, environmentKey } from '../../deployments/deployment.ts';
import { webUrlOf } from '../../github/web-url.ts';
import { holdsDeployments } from '../../freezes/freeze.ts';
import type { ExemptionRecord } from '../../exemptions/exemption-store.ts';
import { type FoundRepository, fullName } from '../../installations/find-repository.ts';
import { readSettings } from '../../settings/settings.ts';
import { deploymentExemptionsPath, freezePath } from '../../page-paths.ts';
import { confirmation, hiddenField, onceField, textArea, textField } from '../form.ts';
import type { Html } from '../html.ts';
import {
  coverage,
  exemptionRequest,
  exemptUntil,
  formsPath,
  isAtOnce,
  mayTakeBack,
  nameOfApprover,
  type Standing,
  standingIn,
  takeBack,
} from '../status/exemption-forms.ts';
import { aboutListed } from '../status/request-card.ts';
import type { RepositoryVisit } from '../reader.ts';
import { instantText, type Times } from '../text.ts';
import type { RepositoryPage } from './load-page.ts';

/**
 * The deployments that wait at GitHub: where to, from which commit, since when, and for which freeze; and the exemptions
 * that let them go.
 * @param permission of the viewer.
 */
export async function waitingDeployments(
  visit: RepositoryVisit,
  page: RepositoryPage,
  permission: Standing['permission'],
): Promise<Html> {
  const { waiting, exemptions, repository, times, current } = page;
  const mayAsk = permission === 'admin' || permission === 'write';
  const mayBeHeld = mayAsk && current.some((freeze) => holdsDeployments(freeze));
  if (waiting.length === 0 && exemptions.length === 0 && !mayBeHeld) return html``;
  const { db, config } = visit.deps;
  const standing = await standingIn(visit, permission, await readSettings(db, repository.id));
  const asked = exemptions.filter(({ state }) => state === 'requested');
  const about = await aboutListed(
    visit.deps,
    asked.map((exemption) => ({ exemption, repository })),
    times,
  );
  const repositoryUrl = `${webUrlOf(config.githubApiUrl)}/${fullName(repository)}`;
  return html`<section id="deployments" aria-labelledby="deployments-heading">
    <h2 id="deployments-heading">${waiting.length > 0 ? 'Deployments that wait' : 'Deployments'}</h2>
    ${
      waiting.length > 0
        ? html`<ul class="cards">
            ${waiting.map((each, at) => card(page, repositoryUrl, each, mayAsk ? standing : null, String(at)))}
          </ul>`
        : ''
    }
    ${exemptions.map((each) =>
      each.state === 'requested'
        ? exemptionRequest(each, repository, standing, times, {
            about: about({ exemption: each, repository }),
          })
        : openToDeploy(each, repository, standing, times),
    )}
    ${mayBeHeld ? html`<div class="actions">${askToDeploy(repository, standing, 'Exempt a commit…', ofCommit, 'commit')}</div>` : ''}
  </section>`;
}

const ofCommit = html`${textField({ name: 'environment', label: 'Environment', attributes: html`required maxlength="255"` })}
${textField({ name: 'sha', label: 'Full SHA of the commit', hint: 'One run of it goes out, also one that does not exist yet.', attributes: html`required maxlength="64"` })}`;

/** @param standing null if the viewer may not exempt it. */
function card(
  { repository, times, exemptions }: RepositoryPage,
  repositoryUrl: string,
  { runId, runNumber, workflow, environment, ref, sha, requestedAt, freezeIds }: Deployment,
  standing: Standing | null,
  id: string,
): Html {
  const isAsked = exemptions.some(
    ({ deployment }) =>
      deployment?.runId === runId && environmentKey(deployment.environment) === environmentKey(environment),
  );
  const isHeld = freezeIds.length > 0;
  return html`<li class="card">
    <p>
      <strong><bdi>${environment}</bdi></strong
      >:
      <a href="${repositoryUrl}/actions/runs/${runId}" rel="noreferrer"
        ><bdi>${workflow}</bdi> ${runNumber}</a
      >
      of <bdi>${ref}</bdi>, <code>${sha.slice(0, 7)}</code>, since ${instantText(requestedAt, times)}
      (${isHeld ? freezeIds.map((id, at) => html`${at === 0 ? 'held by ' : ', '}<a href="${freezePath(repository, id)}">${at === 0 ? 'a freeze' : 'another'}</a>`) : 'no freeze holds it'})
    </p>
    ${
      standing && isHeld && !isAsked
        ? askToDeploy(
            repository,
            standing,
            'Let this one go…',
            html`${hiddenField('environment', environment)} ${hiddenField('run_id', String(runId))}`,
            id,
          )
        : ''
    }
  </li>`;
}

/** An approved exemption of a deployment that is not over. */
const openToDeploy = (
  exemption: ExemptionRecord,
  repository: FoundRepository,
  standing: Standing,
  times: Times,
): Html =>
  html`<section class="card" aria-label="Exemption">
    <p>
      <span class="badge free">Exempt</span> ${exemptUntil(exemption, times)} It is for
      ${coverage(exemption)}. Requested by ${nameOfApprover(exemption.requestedBy)}, approved by
      ${nameOfApprover(exemption.decidedBy)}.
    </p>
    ${mayTakeBack(exemption, standing) ? takeBack(exemption, formsPath(exemption, repository)) : ''}
  </section>`;

/**
 * The form that exempts a deployment, or requests that.
 * @param name the label of the button that opens it. @param what the fields that say which deployment.
 * @param id tells its fields from those of other forms of the page.
 */
export const askToDeploy = (
  repository: FoundRepository,
  standing: Pick<Standing, 'permission' | 'isForTwo'>,
  name: string,
  what: Html,
  id: string,
): Html => {
  const reason = {
    ...{ name: 'reason', id: `reason-${id}`, label: 'Reason', attributes: html`required maxlength="10000"` },
    hint: 'GitHub shows the reason. The exemption lasts for 24 hours.',
  };
  return confirmation(
    name,
    deploymentExemptionsPath(repository),
    html`${onceField()} ${what} ${textArea(reason)}`,
    isAtOnce(standing) ? 'Let it go' : 'Request exemption',
    'confirms',
  );
};
