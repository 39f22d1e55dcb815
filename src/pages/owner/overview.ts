import { html } from 'hono/html';
import { type Actor, actorName } from '../../events/actor.ts';
import { isNotEnforced, isUnknown, type RepositoryState } from '../../explanations/repository-states.ts';
import { exemptionsPath, calendarPath, ownerPath, repositoryPath } from '../../installations/page-paths.ts';
import { countOf } from '../freeze-now/plan-preview.ts';
import type { Html } from '../layout.ts';
import { shorten } from '../../events/event-words.ts';
import { instant, quoted, type Times } from '../text.ts';
import { exemptionLink } from '../status/exemption-forms.ts';
import { mostNames, type Overview, type Request, type Row, type SeenOwner } from './load-overview.ts';

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
  const frozen = count(all, ({ archived, ongoing }) => !archived && ongoing > 0);
  const [held, leaking] = [sum((each) => each.held), sum((each) => each.leaking)];
  const toHold = held + leaking + sum((each) => each.waiting);
  const toJudge = count(all, (each) => each.toJudge);
  const [trouble, unknown] = [count(all, isNotEnforced), count(known, isUnknown)];
  const requests = sum((each) => each.requests);
  const linked = (number: number, path: string, kind = '') =>
    list === null
      ? html`<span class="${kind}">${number}</span>`
      : html`<a href="${path}" class="${kind}">${number}</a>`;
  const rowsOf = (state: string) => `${list}?state=${state}#repositories`;
  return html`<dl class="figures">
    ${figure('Repositories frozen', html`<span class="${frozen > 0 ? 'held' : 'free'}">${frozen} of ${all.length}</span>`)}
    ${figure('Pull requests blocked', html`${held === toHold ? held : `${held} of ${toHold}`}`)}
    ${leaking > 0 ? figure('GitHub would merge', html`<span class="leaking">${leaking}</span>`) : ''}
    ${toJudge > 0 ? figure('Not judged yet', html`${countOf(toJudge, 'repository', 'repositories')}`) : ''}
    ${trouble > 0 ? figure('Not enforced', linked(trouble, rowsOf('trouble'), 'leaking')) : ''}
    ${unknown > 0 ? figure('Not known to be enforced', linked(unknown, rowsOf('unknown'))) : ''}
    ${requests > 0 ? figure('Requested exemptions', linked(requests, exemptionsPath(owners[0]!.account.login))) : ''}
  </dl>`;
}

const figure = (name: string, value: Html): Html =>
  html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;

/** The lists of an overview. @param isOfMany whether it is about several owners, so that each row names its own. */
export function overviewLists(
  { frozen, coming, moreFrozen, moreComes, requests }: Overview,
  times: Times,
  isOfMany: boolean,
): Html {
  return html`${requests.length > 0 ? decisions(requests) : ''}
    <section aria-labelledby="frozen">
      <h2 id="frozen">Frozen now</h2>
      ${frozen.length > 0 ? table(frozen, times, isOfMany) : html`<p class="muted">Nothing is frozen.</p>`}
      ${moreFrozen > 0 ? html`<p>And ${moreFrozen} more: ${linksOf(frozen, frozenPath)}</p>` : ''}
    </section>
    <section aria-labelledby="next">
      <h2 id="next">Next</h2>
      ${coming.length > 0 ? table(coming, times, isOfMany) : html`<p class="muted">Nothing is scheduled.</p>`}
      ${moreComes ? html`<p>See more in the calendar: ${linksOf(coming, calendarPath)}</p>` : ''}
    </section>`;
}

/** A link for each owner of some rows. */
function linksOf(rows: Row[], pathTo: (login: string) => string): Html[] {
  const logins = [...new Set(rows.map(({ owner }) => owner.account.login))];
  return logins.map((login, index) => html`${index > 0 ? ', ' : ''}<a href="${pathTo(login)}">${login}</a>`);
}

const frozenPath = (login: string): string => `${ownerPath(login)}?state=frozen#repositories`;

const decisions = (requests: Request[]): Html =>
  html`<section aria-labelledby="decide">
    <h2 id="decide">Waiting for your decision</h2>
    <ul class="log">
      ${requests.map(
        ({ exemption, repository }) =>
          html`<li>
            ${exemptionLink(exemption, repository)}
            <bdi>${actorName(exemption.requestedBy)}</bdi> requests an exemption: ${quoted(exemption.reason)}
          </li>`,
      )}
    </ul>
  </section>`;

const table = (rows: Row[], times: Times, isOfMany: boolean): Html =>
  html`<table class="stacked freezes">
    <tbody>
      ${rows.map((row) => rowOf(row, times, isOfMany))}
    </tbody>
  </table>`;

function rowOf(row: Row, times: Times, isOfMany: boolean): Html {
  const { reason, href, createdBy, counts } = row;
  return html`<tr>
    <th scope="row">
      <a href="${href}" dir="auto">${shorten(reason, 120)}</a>
      <div class="muted">
        ${whereOf(row, isOfMany)}${createdBy ? html`, by <bdi>${nameOf(createdBy)}</bdi>` : ''}
      </div>
    </th>
    <td>
      <span class="badge ${counts ? 'held' : 'scheduled'}">${counts ? 'Frozen' : 'Scheduled'}</span>
      ${whenOf(row, times)}
    </td>
    <td>${counts ? countsOf(counts) : ''}</td>
  </tr>`;
}

const nameOf = (actor: Actor): string => shorten(actorName(actor), 60);

/** The repositories of a row. The count of many leads to where they are. */
function whereOf({ owner, names, repositories, href, counts }: Row, isOfMany: boolean): Html {
  const { account, isAdmin } = owner;
  if (repositories <= mostNames)
    return html`${names.map((name, index) => html`${index > 0 ? ', ' : ''}<a href="${repositoryPath({ name, account })}">${isOfMany ? `${account.login}/` : ''}${name}</a>`)}`;
  const list = counts ? frozenPath(account.login) : calendarPath(account.login);
  const count = countOf(repositories, 'repository', 'repositories');
  return html`<a href="${isAdmin ? href : list}">${count}${isOfMany ? ` of ${account.login}` : ''}</a>`;
}

function whenOf({ startsAt, endsAt, endsDiffer, timezone, counts }: Row, times: Times): Html {
  const until = endsAt ? html`until ${instant(endsAt, times, timezone)}` : html`until removed`;
  const early = endsDiffer ? html`<span class="muted">or earlier</span>` : '';
  return counts
    ? html`${until} ${early}`
    : html`from ${instant(startsAt, times, timezone)} ${until} ${early}`;
}

/** How many pull requests are blocked, and what keeps it from holding. */
function countsOf({
  holdsMerges,
  held,
  waiting,
  leaking,
  toJudge,
  notEnforced,
  unknown,
}: NonNullable<Row['counts']>): Html {
  if (!holdsMerges) return html``;
  const all = held + waiting + leaking;
  const of = (count: number) => countOf(count, 'repository', 'repositories');
  return html`${held === all ? countOf(held, 'pull request') : `${held} of ${countOf(all, 'pull request')}`}
  blocked ${leaking > 0 ? html`<span class="leaking">GitHub would merge ${leaking}</span>` : ''}
  ${toJudge > 0 ? html`<p class="muted">${of(toJudge)} not judged yet</p>` : ''}
  ${notEnforced > 0 ? html`<p class="leaking">Not enforced in ${of(notEnforced)}</p>` : ''}
  ${unknown > 0 ? html`<p class="muted">Not known to be enforced in ${of(unknown)}</p>` : ''}`;
}
