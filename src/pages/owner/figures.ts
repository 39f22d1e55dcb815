import { html } from 'hono/html';
import {
  areDeploymentsFrozen,
  isNotEnforced,
  isUnknown,
  type RepositoryState,
} from '../../explanations/repository-states.ts';
import { exemptionsPath } from '../../installations/page-paths.ts';
import { countOf } from '../freeze-now/plan-preview.ts';
import type { Html } from '../layout.ts';
import type { SeenOwner } from './overview.ts';
import { updating } from './updating.ts';

/**
 * Counts what is so now. What is not known has a figure of its own.
 * @param list the page of an owner, which lists its repositories; null if the figures are about several owners.
 */
export function figures(owners: SeenOwner[], list: string | null): Html {
  const all = owners.flatMap(({ repositories }) => repositories);
  const known = owners.filter(({ isAdmin }) => isAdmin).flatMap(({ repositories }) => repositories);
  const count = (some: RepositoryState[], isIt: (each: RepositoryState) => boolean) =>
    some.filter(isIt).length;
  const sum = (of: (each: RepositoryState) => number) => all.reduce((total, each) => total + of(each), 0);
  const frozen = count(all, ({ ongoing }) => ongoing > 0);
  const ofDeployments = count(all, areDeploymentsFrozen);
  const wait = known.reduce((total, each) => total + each.deploymentsWait, 0);
  const [held, leaking] = [sum((each) => each.held), sum((each) => each.leaking)];
  const toHold = held + leaking + sum((each) => each.waiting);
  const toJudge = count(all, (each) => each.toJudge);
  const [trouble, unknown] = [count(all, isNotEnforced), count(known, isUnknown)];
  const requests = sum((each) => each.requests);
  const linked = (text: string, path: string, kind = '') =>
    list === null
      ? html`<span class="${kind}">${text}</span>`
      : html`<a href="${path}" class="${kind}">${text}</a>`;
  const places = (number: number) => countOf(number, 'repository', 'repositories');
  const rowsOf = (state: string) => `${list}?state=${state}#repositories`;
  return html`<dl class="figures">
    ${figure('Repositories frozen', html`<span class="${frozen > 0 ? 'held' : 'free'}">${frozen} of ${all.length}</span>`)}
    ${ofDeployments > 0 ? figure('Deployments frozen', html`<span class="held">${ofDeployments} of ${all.length}</span>`) : ''}
    ${wait > 0 ? figure('Deployments that wait', html`${wait}`) : ''}
    ${figure('Pull requests blocked', html`${held === toHold ? held : `${held} of ${toHold}`} ${updating(all)}`)}
    ${leaking > 0 ? figure('GitHub would merge', html`<span class="leaking">${countOf(leaking, 'pull request')}</span>`) : ''}
    ${toJudge > 0 ? figure('Not judged yet', html`${places(toJudge)}`) : ''}
    ${trouble > 0 ? figure('Not enforced', linked(places(trouble), rowsOf('trouble'), 'leaking')) : ''}
    ${unknown > 0 ? figure('Not known to be enforced', linked(places(unknown), rowsOf('unknown'))) : ''}
    ${requests > 0 ? figure('Requested exemptions', linked(String(requests), exemptionsPath(owners[0]!.account.login))) : ''}
  </dl>`;
}

const figure = (name: string, value: Html): Html =>
  html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
