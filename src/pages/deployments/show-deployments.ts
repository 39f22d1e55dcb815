import { html } from 'hono/html';
import { deploymentsOf, type OwnedDeployment } from '../../deployments/deployment-store.ts';
import type { DeploymentState } from '../../deployments/deployment.ts';
import { webUrlOf } from '../../github/web-url.ts';
import { type FoundRepository, fullName, repositoriesOfIds } from '../../installations/find-repository.ts';
import { deploymentsPath, freezePath, ownerLivePath, ownerPath } from '../../page-paths.ts';
import { readSettingsOfAll } from '../../settings/settings.ts';
import { countText } from '../freeze-now/plan-preview.ts';
import { hiddenField } from '../form.ts';
import type { Html } from '../html.ts';
import { liveAt } from '../live.ts';
import { messagePage, showPage, saidMessage } from '../message-page.ts';
import { type OwnerVisit, repositoriesFor } from '../owner/open-owner.ts';
import { absentOrSignIn, readerTimes } from '../reader.ts';
import { askToDeploy } from '../repository/waiting-deployments.ts';
import { headings, instantText, type Times } from '../text.ts';
import { badge, stateLine } from '../states.ts';

/** The most deployments of a table. The page of a repository, and the API, have the others. */
const mostWaiting = 100;
const mostDecided = 50;
/** Milliseconds for which a decision is shown. */
const decidedFor = 7 * 86_400_000;

type Listed = OwnedDeployment & { repository: FoundRepository };

/** What is known of the page: how times are shown, and the address of repositories at GitHub. */
type Shown = { times: Times; web: string };

/**
 * `GET /owners/{owner}/deployments`: the deployments that wait at GitHub, and those that freezes held and that were decided
 * lately, of the repositories that the viewer can write to. The role freezer shows none, by the API neither.
 */
export async function showDeployments(visit: OwnerVisit): Promise<Response> {
  const { deps, context, account, viewer, isAdmin, permissions } = visit;
  if (!viewer) return absentOrSignIn(visit);
  const { login } = account;
  const theirs = repositoriesFor(visit, ['admin', 'write']);
  if (theirs.length === 0 && !isAdmin) {
    const text = `On GitHub, you cannot write to a repository of ${login} that Holdfast knows, so you see no deployments.`;
    const link = { href: ownerPath(login), text: 'Back to the overview' };
    return messagePage(context, { status: 403, title: 'You cannot see deployments', text, link }, viewer);
  }
  const shown: Shown = { times: readerTimes(visit), web: webUrlOf(deps.config.githubApiUrl) };
  const ids = theirs.map(({ id }) => id);
  const since = new Date(shown.times.now.getTime() - decidedFor);
  const [waiting, decided] = await Promise.all([
    deploymentsOf(deps.sql, ids, 'waiting', mostWaiting),
    deploymentsOf(deps.sql, ids, { since }, mostDecided),
  ]);
  const found = await repositoriesOfIds(deps.sql, [
    ...new Set([...waiting, ...decided].map(({ repositoryId }) => repositoryId)),
  ]);
  const byId = new Map(found.map((repository) => [repository.id, repository]));
  const listed = (all: OwnedDeployment[]): Listed[] =>
    all.flatMap((each) => {
      const repository = byId.get(each.repositoryId);
      return repository ? [{ ...each, repository }] : [];
    });
  const settings = await readSettingsOfAll(
    deps.db,
    waiting.map(({ repositoryId }) => repositoryId),
  );
  const letGo = (each: Listed, at: number): Html => {
    const permission = isAdmin ? 'admin' : (permissions.get(each.repositoryId) ?? 'none');
    const isForTwo = settings.get(each.repositoryId)?.twoPersonExemptions ?? true;
    const what = html`${hiddenField('environment', each.environment)}
    ${hiddenField('run_id', String(each.runId))} ${hiddenField('from_list', 'yes')}`;
    return askToDeploy(each.repository, { permission, isForTwo }, 'Let go…', what, String(at));
  };
  const held = waiting.filter(({ freezeIds }) => freezeIds.length > 0).length;
  const body = html`${saidMessage(context)}
    <h1>Deployments</h1>
    ${held > 0 ? stateLine('frozen', html`${badge('frozen')} ${countText(held, 'deployment waits', 'deployments wait')} for the end of a freeze`, { isHeading: false }) : ''}
    <section aria-labelledby="waiting">
      <h2 id="waiting">Waiting</h2>
      ${
        waiting.length === 0
          ? html`<p class="card">
              Nothing waits. When a freeze holds deployments, they stand here until it ends or somebody lets
              them go.
              <a href="/help/deployments">How freezes hold deployments</a>
            </p>`
          : html`<table class="stacked">
              ${headings(['Where', 'What', 'Since', 'Until', html`<span class="said">Let go</span>`])}
              <tbody>
                ${listed(waiting).map(
                  (each, at) =>
                    html`<tr>
                      ${where(each)}
                      <td>${what(each, shown)}</td>
                      <td>${narrow('since')}${instantText(each.requestedAt, shown.times)}</td>
                      <td>${until(each, shown.times)}</td>
                      <td>${each.freezeIds.length > 0 ? letGo(each, at) : ''}</td>
                    </tr>`,
                )}
              </tbody>
            </table>`
      }
    </section>
    <section aria-labelledby="decided">
      <h2 id="decided">Decided in the last 7 days</h2>
      ${
        decided.length === 0
          ? html`<p class="muted">No freeze held a deployment that was decided in the last 7 days.</p>`
          : html`<table class="stacked">
              ${headings(['Where', 'What', 'Waited since', 'Decided'])}
              <tbody>
                ${listed(decided).map(
                  (each) =>
                    html`<tr>
                      ${where(each)}
                      <td>${what(each, shown)}</td>
                      <td>${narrow('since')}${instantText(each.requestedAt, shown.times)}</td>
                      <td>
                        ${outcome(each)} ${each.decidedAt ? instantText(each.decidedAt, shown.times) : ''}
                      </td>
                    </tr>`,
                )}
              </tbody>
            </table>`
      }
    </section>
    ${isAdmin ? '' : html`<p class="muted">You aren’t an admin of ${login}, so this page has only repositories that you can write to, and some of those may be missing.</p>`}`;
  const live = liveAt(visit, ownerLivePath(login));
  return showPage(visit, { title: `Deployments of ${login}`, body, owner: login, tab: 'deployments', live });
}

/** A word for a value whose column has no heading on a phone. */
const narrow = (word: string): Html => html`<span class="only-narrow">${word} </span>`;

const where = ({ environment, repository }: Listed): Html =>
  html`<th scope="row">
    <bdi>${environment}</bdi>
    <p class="muted"><a href="${deploymentsPath(repository)}">${repository.name}</a></p>
  </th>`;

/** Which run deploys which commit, and who started it. */
const what = (
  { repository, runId, runNumber, workflow, ref, sha, startedBy }: Listed,
  { web }: Shown,
): Html =>
  html`<a href="${web}/${fullName(repository)}/actions/runs/${runId}" rel="noreferrer"
      ><bdi>${workflow}</bdi> ${runNumber}</a
    >
    ${startedBy === null ? '' : html`by <bdi>${startedBy}</bdi>`}
    <p class="muted">
      <bdi>${ref}</bdi>,
      <a href="${web}/${fullName(repository)}/commit/${sha}" rel="noreferrer"
        ><code>${sha.slice(0, 7)}</code></a
      >
    </p>`;

/** When the freezes end that hold it. */
const until = ({ freezeIds, repository, until: at }: Listed, times: Times): Html =>
  freezeIds.length === 0
    ? html`not held`
    : html`${at ? narrow('until') : ''}<a href="${freezePath(repository, freezeIds[0]!)}"
          >${at ? instantText(at, times) : 'until removed'}</a
        >`;

const words: Partial<Record<DeploymentState, [badge: string, word: string]>> = {
  approved: ['free', 'Went out'],
  rejected: ['past', 'Rejected'],
  superseded: ['past', 'A newer one went out'],
  bypassed: ['leaking', 'Went past the freeze'],
};

const outcome = ({ state }: Listed): Html => {
  const [badge, word] = words[state] ?? ['past', state];
  return html`<span class="badge ${badge}">${word}</span>`;
};
