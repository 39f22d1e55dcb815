import { html } from 'hono/html';
import { actorName } from '../../events/actor.ts';
import { shorten } from '../../words/event-words.ts';
import { endsBetween } from '../../words/describe-fields.ts';
import type { CurrentGroup } from '../../explanations/freeze-groups.ts';
import { areDeploymentsFrozen, repositoryStateOf } from '../../explanations/repository-states.ts';
import { calendarPath, ownerFormPath, ownerPath, repositoryPath } from '../../page-paths.ts';
import { bulkAll, bulkBar, bulkBox } from '../bulk.ts';
import { hiddenField, textField } from '../form.ts';
import { countText } from '../freeze-now/plan-preview.ts';
import { blockedOf, deploymentsFrozen, notSaid } from '../held.ts';
import type { Html } from '../html.ts';
import { badge } from '../states.ts';
import { instantText, type Times, untilTexts } from '../text.ts';
import { holdsNoDeployments, whereItHolds } from './held-deployments.ts';
import { mostRowNames, type Overview, type OverviewRow, type SeenOwner } from './overview.ts';
import { yourPullRequests } from './own-pull-requests.ts';
import { weekStrip } from './week-strip.ts';

/** The lists of an overview. @param isOfMany whether it is about several owners, so that each row names its own. */
export function overviewLists(
  { frozen, coming, moreFrozen, moreComes, requests, mine }: Overview,
  times: Times,
  isOfMany: boolean,
  beside: { first?: Html | string; last?: Html | string } = {},
): Html {
  const ends = ownerToEndIn(frozen);
  return html`<div class="columns">
    <div>
      ${
        requests.length > 0
          ? html`<section aria-labelledby="decide">
              <h2 id="decide">Waiting for your decision</h2>
              ${requests}
            </section>`
          : ''
      }
      ${mine.length > 0 ? yourPullRequests(mine, (row) => whenOf(row, times)) : ''}
      ${
        frozen.length > 0
          ? html`<section aria-labelledby="frozen">
              ${ends ? html`<div class="headline">${frozenNow} ${allToEnd(frozen.length, moreFrozen)}</div>` : frozenNow}
              ${cards(frozen, times, isOfMany, ends !== null)}
              ${moreFrozen > 0 ? html`<p>And ${moreFrozen} more: ${linksOf(frozen, frozenPath)}</p>` : ''}
              ${ends ? barToEnd(ends) : ''}
            </section>`
          : ''
      }
      ${weekStrip([...frozen, ...coming], times)}
    </div>
    <aside>
      ${beside.first ?? ''}
      <section aria-labelledby="next">
        <h2 id="next">Next</h2>
        ${coming.length > 0 ? cards(coming, times, isOfMany) : html`<p class="muted">Nothing is scheduled.</p>`}
        ${moreComes ? html`<p>See more in the calendar: ${linksOf(coming, calendarPath)}</p>` : ''}
      </section>
      ${beside.last ?? ''}
    </aside>
  </div>`;
}

const frozenNow = html`<h2 id="frozen">Frozen now</h2>`;

/** How many repositories a form of an owner names, for those who are no admins of it. */
const mostNamed = 50;

/** The owner whose freezes can be ended in place: that of all rows, if the reader is an admin of all that is frozen there. */
function ownerToEndIn(frozen: OverviewRow[]): SeenOwner | null {
  const [owner, ...others] = new Set(frozen.map((row) => row.owner));
  if (!owner || others.length > 0) return null;
  const all = owner.repositories.filter(isFrozen);
  const isTheirs = all.every(({ id }) => owner.permissions.get(id) === 'admin') && all.length <= mostNamed;
  return owner.isAdmin || isTheirs ? owner : null;
}

/** Nothing is selected before the reader does it. */
const allToEnd = (count: number, more: number): Html | '' =>
  count > 1 ? bulkAll(more > 0 ? `Select these ${count}` : 'Select all') : '';

/** Ends the selected cards, as the page _Unfreeze_ does; from there, too, if the reason is missing. */
const barToEnd = ({ account, isAdmin, repositories }: SeenOwner): Html =>
  bulkBar(ownerFormPath(account.login, 'unfreeze'), {
    name: 'End the selected freezes',
    acts: [['End', 'freeze', 'freezes']],
    atOnce: html`${isAdmin ? '' : repositories.filter(isFrozen).map(({ name }) => hiddenField('repository', name))}
    ${textField({ name: 'delete_reason', label: 'Reason', attributes: html`required maxlength="10000"` })}`,
  });

const isFrozen = (each: SeenOwner['repositories'][number]): boolean =>
  repositoryStateOf(each) === 'frozen' || areDeploymentsFrozen(each);

/** A link for each owner of some rows. */
function linksOf(rows: OverviewRow[], pathTo: (login: string) => string): Html[] {
  const logins = [...new Set(rows.map(({ owner }) => owner.account.login))];
  return logins.map((login, index) => html`${index > 0 ? ', ' : ''}<a href="${pathTo(login)}">${login}</a>`);
}

const frozenPath = (login: string): string => `${ownerPath(login)}?state=frozen#repositories`;

/** A card for each freeze or plan: until or from when, why, where, by whom, and what it blocks. */
const cards = (rows: OverviewRow[], times: Times, isOfMany: boolean, hasBox = false): Html =>
  html`<ul class="cards">
    ${rows.map((row) => card(row, times, isOfMany, hasBox))}
  </ul>`;

function card(row: OverviewRow, times: Times, isOfMany: boolean, hasBox: boolean): Html {
  const { reason, href, createdBy, counts, deployments } = row;
  const box =
    hasBox && counts ? bulkBox(counts.planId ?? counts.id, shorten(reason, 60), { field: 'ongoing' }) : '';
  return html`<li class="card">
    <h3>${box}<a href="${href}" dir="auto">${shorten(reason, 120)}</a></h3>
    <p>${stateOfRow(row)} ${whenOf(row, times)}</p>
    ${counts ? countsOf(counts) : ''} ${deployments ? whereItHolds(deployments) : ''}
    <p class="muted">
      ${whereOf(row, isOfMany)}${createdBy ? html`, by <bdi>${shorten(actorName(createdBy), 60)}</bdi>` : ''}
    </p>
  </li>`;
}

function stateOfRow({ counts, deployments }: OverviewRow): Html {
  if (!counts) return badge('scheduled');
  if (counts.holdsMerges) return badge('frozen');
  return holdsNoDeployments(deployments) ? badge('notEnforced') : badge('frozen', deploymentsFrozen);
}

/** The repositories of a row. The count of many leads to where they are. */
function whereOf({ owner, names, repositories, href, counts }: OverviewRow, isOfMany: boolean): Html {
  const { account, isAdmin } = owner;
  if (repositories <= mostRowNames)
    return html`${names.map((name, index) => html`${index > 0 ? ', ' : ''}<a href="${repositoryPath({ name, account })}">${isOfMany ? `${account.login}/` : ''}${name}</a>`)}`;
  const list = counts ? frozenPath(account.login) : calendarPath(account.login);
  const count = countText(repositories, 'repository', 'repositories');
  return html`<a href="${isAdmin ? href : list}">${count}${isOfMany ? ` of ${account.login}` : ''}</a>`;
}

const whenOf = (
  { startsAt, firstEndsAt, endsAt, timezone, counts }: Omit<OverviewRow, 'reason' | 'href'>,
  times: Times,
): Html =>
  html`${counts ? '' : html`from ${instantText(startsAt, times, timezone)} `}${untilTexts(endsBetween(firstEndsAt, endsAt), times, timezone)}`;

/** How many pull requests are blocked, and what keeps it from holding. */
function countsOf(group: CurrentGroup): Html {
  if (!group.holdsMerges) return html``;
  const { leaking, unsaid, toJudge, notEnforced, unknown } = group;
  const of = (count: number) => countText(count, 'repository', 'repositories');
  return html`<p>
      ${blockedOf(group)}
      ${leaking > 0 ? html`<span class="leaking">GitHub would merge ${leaking}</span>` : ''}
    </p>
    ${unsaid > 0 ? html`<p class="muted">${notSaid(unsaid)}</p>` : ''}
    ${toJudge > 0 ? html`<p class="muted">${of(toJudge)} not judged yet</p>` : ''}
    ${notEnforced > 0 ? html`<p class="leaking">Not enforced in ${of(notEnforced)}</p>` : ''}
    ${unknown > 0 ? html`<p class="muted">Not known to be enforced in ${of(unknown)}</p>` : ''}`;
}
