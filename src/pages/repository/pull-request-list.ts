import { html } from 'hono/html';
import { shorten } from '../../words/event-words.ts';
import { holdsMerges } from '../../freezes/freeze.ts';
import { isJudged } from '../../freezes/list-freezes.ts';
import { pullRequestPath } from '../../page-paths.ts';
import { heldBadge, isNotBlocked, type ShownHeld } from '../held.ts';
import type { Html } from '../html.ts';
import { badge } from '../states.ts';
import { freezeStateOf } from './freeze-list.ts';
import type { RepositoryPage } from './load-page.ts';

/** How many pull requests are listed, the blocked ones first. */
const mostListed = 30;
/** How many freezes are named that block one. */
const mostNamed = 2;

/** The open pull requests: which are blocked, exempt or free, why, and the way to exempt. @param mayAsk whether the viewer may. */
export function pullRequestList({ open, current, repository, now }: RepositoryPage, mayAsk: boolean): Html {
  const ongoing = current.filter((freeze) => freezeStateOf(freeze, now) === 'ongoing' && holdsMerges(freeze));
  const isUnjudged = ongoing.some((freeze) => !isJudged(repository, freeze));
  const isBlocked = (each: ShownHeld) => each.heldBy.some((id) => ongoing.some((freeze) => freeze.id === id));
  const sorted = open.toSorted((one, other) => Number(isBlocked(other)) - Number(isBlocked(one)));
  const row = (each: ShownHeld) => {
    const { number, title, author, heldBy, notHeld, isExempt } = each;
    const path = pullRequestPath(repository, number);
    const by = ongoing.filter(({ id }) => heldBy.includes(id));
    const state = isBlocked(each)
      ? heldBadge(notHeld)
      : isExempt
        ? badge('exempt')
        : isUnjudged
          ? badge('unknown', 'Not judged yet')
          : badge('free');
    return html`<li class="card">
      <div>
        <h3>
          <a href="${path}">#${number} <span dir="auto">${title ?? ''}</span></a>
        </h3>
        <p class="muted">
          ${author === null ? '' : html`<bdi>${author}</bdi>`}${by.slice(0, mostNamed).map(({ reason }, at) => html`${at > 0 || author !== null ? ' · ' : ''}<bdi>${shorten(reason, 80)}</bdi>`)}
          ${by.length > mostNamed ? `and ${by.length - mostNamed} more` : ''}
        </p>
      </div>
      <p class="actions">
        ${state}
        ${mayAsk && by.length > 0 && !isNotBlocked(notHeld) ? html`<a class="button quiet" href="${path}?exempt=yes">Exempt…</a>` : ''}
      </p>
    </li>`;
  };
  return html`<section aria-labelledby="pull-requests">
    <h2 id="pull-requests">Open pull requests</h2>
    ${
      open.length === 0
        ? html`<p class="muted">No pull requests are open.</p>`
        : html`<ul class="cards rows">
            ${sorted.slice(0, mostListed).map(row)}
          </ul>`
    }
    ${open.length > mostListed ? html`<p class="muted">and ${open.length - mostListed} more</p>` : ''}
  </section>`;
}
