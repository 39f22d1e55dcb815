import { html } from 'hono/html';
import {
  isNotEnforced,
  isUnknown,
  type RepositoryState,
  repositoryStateOf,
} from '../../explanations/repository-states.ts';
import { exemptionsPath } from '../../page-paths.ts';
import { type SharedEnd, sharedEnds } from '../../words/describe-fields.ts';
import { countText } from '../freeze-now/plan-preview.ts';
import { notSaid } from '../held.ts';
import type { Html } from '../html.ts';
import { stateLine } from '../states.ts';
import { instantAndDistance, type Times, untilTexts } from '../text.ts';
import { countDeployments, type DeploymentCounts, loosenessOf } from './held-deployments.ts';
import type { Overview, SeenOwner } from './overview.ts';
import { updating } from './updating.ts';

/**
 * The first line of an overview: what is frozen, and how many pull requests are blocked. What is not known is said, too.
 * @param list the page of an owner, which lists its repositories; null if the line is about several owners.
 * @param deploymentsIn as of an `Overview`. @param silent how many owners GitHub does not answer about. @param actions the buttons beside it.
 */
export function stateOfOwners(
  owners: SeenOwner[],
  {
    list,
    times,
    actions,
    deploymentsIn,
    silent = 0,
  }: {
    list: string | null;
    times: Times;
    actions: Html | '';
    silent?: number;
  } & Pick<Overview, 'deploymentsIn'>,
): Html {
  const all = owners.flatMap(({ repositories }) => repositories);
  const known = owners.filter(({ isAdmin }) => isAdmin).flatMap(({ repositories }) => repositories);
  const sum = (of: (each: RepositoryState) => number) => all.reduce((total, each) => total + of(each), 0);
  const frozen = all.filter((each) => repositoryStateOf(each) === 'frozen');
  const counted = countDeployments([...deploymentsIn.values()]);
  const ofDeployments = deploymentsIn.size === 0 ? null : counted;
  const wait = known.reduce((total, each) => total + each.deploymentsWait, 0);
  const [held, leaking, unsaid] = [
    sum((each) => each.held),
    sum((each) => each.leaking),
    sum((each) => each.unsaid),
  ];
  const toHold = held + leaking + unsaid + sum((each) => each.waiting);
  const toJudge = all.filter((each) => each.toJudge).length;
  const [trouble, unknown] = [all.filter(isNotEnforced).length, known.filter(isUnknown).length];
  const requests = sum((each) => each.requests);
  const linked = (text: string, state: string, kind = '') =>
    list === null
      ? html`<span class="${kind}">${text}</span>`
      : html`<a href="${list}?state=${state}#repositories" class="${kind}">${text}</a>`;
  const isOn = frozen.length + deploymentsIn.size > 0;
  const counts = [
    toHold > 0 || frozen.length > 0
      ? html`<strong>${held === toHold ? held : `${held} of ${toHold}`}</strong>
          ${held === 1 && toHold === 1 ? 'pull request' : 'pull requests'} blocked`
      : null,
    unsaid > 0 ? notSaid(unsaid) : null,
    updating(all) || null,
    leaking > 0
      ? html`<span class="leaking">GitHub would merge ${countText(leaking, 'pull request')}</span>`
      : null,
    trouble > 0 ? linked(`${trouble} not enforced`, 'trouble', 'leaking') : null,
    unknown > 0 ? linked(`${unknown} not known to be enforced`, 'unknown') : null,
    toJudge > 0 ? html`${toJudge} not judged yet` : null,
    ...loosenessOf(counted),
    wait > 0 ? html`${countText(wait, 'deployment')} ${wait === 1 ? 'waits' : 'wait'}` : null,
    requests > 0
      ? html`<a href="${list === null ? '#decide' : exemptionsPath(owners[0]!.account.login)}"
          >${countText(requests, 'request')} ${requests === 1 ? 'waits' : 'wait'}</a
        >`
      : null,
  ].filter((each) => each !== null);
  const said = isOn ? whatIsFrozen(owners, frozen, all, ofDeployments, times) : nothing(owners, list, silent);
  const isHeld = frozen.length + counted.frozen + counted.unknown > 0;
  const state = isHeld ? 'frozen' : isOn ? 'notEnforced' : all.length === 0 ? 'unknown' : 'free';
  return stateLine(state, said, { counts, actions });
}

function nothing(owners: SeenOwner[], list: string | null, silent: number): Html {
  if (owners.length === 0) return html`GitHub does not answer about your owners`;
  if (silent > 0) return html`Nothing is frozen where GitHub answers`;
  return list === null
    ? html`Nothing is frozen`
    : html`Nothing is frozen in <bdi>${owners[0]!.account.login}</bdi>`;
}

/** `acme is frozen until Fri 27 Nov, 18:00`, or `2 of 9 repositories of acme are frozen`. */
function whatIsFrozen(
  owners: SeenOwner[],
  frozen: RepositoryState[],
  all: RepositoryState[],
  deployments: Pick<DeploymentCounts, 'frozen' | 'unknown'> | null,
  times: Times,
): Html {
  const [only] = owners.length === 1 ? owners : [];
  const counts = { frozen: frozen.length, all: all.length, deployments };
  const ends = frozen.map(({ until }) => until);
  return frozenWords(only?.account.login ?? null, counts, ends, times);
}

/**
 * The same from numbers of repositories.
 * @param login null for several owners. @param counts `deployments` is null if no freeze of deployments is on; `unknown` of
 *   it are those where it is not known what it holds, or not for the reader to know. @param ends of what is frozen; null for
 *   none.
 */
export function frozenWords(
  login: string | null,
  {
    frozen,
    all,
    deployments,
  }: Record<'frozen' | 'all', number> & { deployments: Pick<DeploymentCounts, 'frozen' | 'unknown'> | null },
  ends: (Date | null)[],
  times: Times,
): Html {
  const until = untilOf(ends, times);
  const of = login === null ? '' : html` of <bdi>${login}</bdi>`;
  const repositories = html`${countText(all, 'repository', 'repositories')}${of}`;
  const said = deployments && deploymentsFrozenIn(deployments, repositories);
  if (frozen === 0 && said) return said;
  const merges =
    login !== null && frozen === all
      ? html`<bdi>${login}</bdi> is frozen`
      : html`${frozen} of ${repositories} ${frozen === 1 ? 'is' : 'are'} frozen`;
  return html`${merges}${until}${said ? html`. ${said}` : ''}`;
}

function deploymentsFrozenIn(
  { frozen, unknown }: Pick<DeploymentCounts, 'frozen' | 'unknown'>,
  repositories: Html,
): Html {
  if (unknown > 0) return html`A freeze of deployments is on in ${frozen + unknown} of ${repositories}`;
  return frozen > 0
    ? html`Deployments are frozen in ${frozen} of ${repositories}`
    : html`A freeze of deployments is on, and enforced in none of ${repositories}`;
}

/** When they are free again. */
function untilOf(ends: (Date | null)[], times: Times): Html {
  const [first, ...others] = sharedEnds(ends) as [SharedEnd, ...SharedEnd[]];
  if (others.length > 0) return html`: ${untilTexts([first, ...others], times)}`;
  return first.at ? html` until ${instantAndDistance(first.at, times)}` : html` until removed`;
}
