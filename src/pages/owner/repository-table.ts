import { html } from 'hono/html';
import { asPublic } from '../../freezes/freeze.ts';
import type { FreezeSpan } from '../../freezes/list-freezes.ts';
import { repositoryPath } from '../../installations/page-paths.ts';
import { countOf } from '../freeze-now/plan-preview.ts';
import { shorten } from '../../events/event-words.ts';
import { instant, type Times } from '../text.ts';
import type { Html } from '../layout.ts';
import {
  type Enforced,
  isNotEnforced,
  type RepositoryState,
  stateOf,
} from '../../explanations/repository-states.ts';

export type Table = {
  login: string;
  rows: RepositoryState[];
  /** Why each is frozen, or will be next, as the viewer may read it. */
  reasons: Map<bigint, string>;
  enforced: Map<bigint, Enforced>;
  times: Times;
  /** Whether rows have checkboxes, to freeze or unfreeze repositories. */
  isTickable: boolean;
};

/** One row for each repository. */
export function repositoryTable(table: Table): Html {
  const { rows, isTickable } = table;
  return html`<table class="repositories">
    <caption class="said">
      Repositories, the most important first
    </caption>
    <thead>
      <tr>
        ${isTickable ? html`<th class="tick-box"><span class="said">Select</span></th>` : ''}
        <th>Repository</th>
        <th>Now</th>
        <th class="number">Blocked</th>
        <th>Enforced</th>
      </tr>
    </thead>
    <tbody>
      ${rows.map((row) => rowOf(table, row))}
    </tbody>
  </table>`;
}

function rowOf({ login, reasons, enforced, times, isTickable }: Table, row: RepositoryState): Html {
  const reason = reasons.get(row.id);
  return html`<tr>
    ${
      isTickable
        ? html`<td class="tick-box">
            <input
              type="checkbox"
              form="chosen"
              name="repository"
              value="${row.name}"
              aria-label="${row.name}"
              ${row.isFreezable ? '' : html`disabled`}
            />
          </td>`
        : ''
    }
    <th scope="row">
      <a href="${repositoryPath({ name: row.name, account: { login } })}">${row.name}</a>
      ${row.private ? html`<span class="muted">private</span>` : ''}
      ${reason === undefined ? '' : html`<span class="reason"><bdi>${shorten(reason, 90)}</bdi></span>`}
    </th>
    <td>${nowOf(row, times)}</td>
    <td class="number of-held">${heldOf(row)}</td>
    <td class="of-enforced">${enforcedWord(row, enforced.get(row.id))}</td>
  </tr>`;
}

function nowOf(row: RepositoryState, times: Times): Html {
  const { until, next, requests } = row;
  const waiting = requests > 0 ? html`<span class="badge past">${countOf(requests, 'request')}</span>` : '';
  switch (stateOf(row)) {
    case 'frozen':
      return html`<span class="badge held">Frozen</span> ${waiting}
        <span class="when">${until ? html`until ${instant(until, times)}` : 'until removed'}</span>`;
    case 'scheduled':
      return html`<span class="badge scheduled">Scheduled</span> ${waiting}
        <span class="when">${instant(next!, times)}</span>`;
    case 'free':
      return html`<span class="badge free">Free</span> ${waiting}`;
    case 'archived':
      return html`<span class="badge past">Archived</span>`;
  }
}

/** How many of the pull requests that should be held are held, and in red how many GitHub would merge. */
function heldOf({ held, waiting, leaking }: RepositoryState): Html {
  const all = held + waiting + leaking;
  if (all === 0) return html`<span class="muted none">–</span>`;
  return html`${held === all ? held : html`${held} of ${all}`}
  ${leaking > 0 ? html`<span class="leaking">${leaking} not blocked</span>` : ''}`;
}

function enforcedWord(row: RepositoryState, enforced: Enforced | undefined): Html {
  if (isNotEnforced(row) || enforced === false) return html`<strong class="leaking">No</strong>`;
  if (enforced === undefined) return html`<span class="muted none">–</span>`;
  if (enforced === null) return html`<span class="muted">Checking</span>`;
  return enforced === true ? html`Yes` : html`Unknown`;
}

/**
 * The reasons of freezes by repository, as the viewer reads them.
 * @param isInside whether the viewer sees reasons that are not public.
 */
export const reasonsOf = (
  spans: FreezeSpan[],
  isInside: (repositoryId: bigint) => boolean,
): Map<bigint, string> =>
  new Map(
    spans.map((span) => [span.repositoryId, (isInside(span.repositoryId) ? span : asPublic(span)).reason]),
  );
