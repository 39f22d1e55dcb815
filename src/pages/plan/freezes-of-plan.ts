import { html } from 'hono/html';
import { freezeGroupsWithin } from '../../explanations/freeze-groups.ts';
import { holdsMerges, type StoredFreeze } from '../../freezes/freeze.ts';
import { freezePath } from '../../page-paths.ts';
import { countText } from '../freeze-now/plan-preview.ts';
import type { Html } from '../html.ts';
import type { PlanVisit } from '../owner/open-owner.ts';
import { headings, instantText, type Times } from '../text.ts';

/** How long the past is shown, in milliseconds, and how many rows of it at most. */
const pastShown = 366 * 86_400_000;
const mostPast = 400;

/** What the plan froze in the last year, in the repositories that the viewer can read, the newest first. */
export async function pastOf({ deps, plan, repositories, isAdmin }: PlanVisit, times: Times): Promise<Html> {
  const ids = repositories.map(({ id }) => id);
  const inside = repositories.filter((each) => isAdmin || each.private).map(({ id }) => id);
  const groups = await freezeGroupsWithin(
    deps.db,
    ids,
    inside,
    { from: new Date(times.now.getTime() - pastShown), to: times.now },
    mostPast,
    plan.id,
  );
  if (groups.length === 0) return html``;
  return html`<h2>Freezes of the last year</h2>
    <table>
      ${headings(['Start', 'End', 'Repositories'], ['Repositories'])}
      <tbody>
        ${groups.toReversed().map(
          ({ startsAt, endsAt, repositories: count }) =>
            html`<tr>
              <td>${instantText(startsAt, times, plan.timezone)}</td>
              <td>${endsAt ? instantText(endsAt, times, plan.timezone) : 'None'}</td>
              <td class="number">${count}</td>
            </tr>`,
        )}
      </tbody>
    </table>`;
}

/** How many repositories of a plan are named. */
export const mostMatchedNamed = 50;

/** Where the plan freezes now, as far as the viewer can read, and how many pull requests are blocked there. */
export function ongoingList({ plan, account, repositories }: PlanVisit, on: StoredFreeze[]): Html {
  const ids = new Map(on.map(({ repositoryId, id }) => [repositoryId, id]));
  const frozen = repositories.filter(({ id }) => ids.has(id));
  if (frozen.length === 0) return html``;
  const row = ({ id, name, held, waiting }: PlanVisit['repositories'][number]) => {
    const blocked = `: ${waiting > 0 ? `${held} of ` : ''}${countText(held + waiting, 'pull request')} blocked`;
    const link = html`<a href="${freezePath({ name, account }, ids.get(id)!)}">${name}</a>`;
    return html`<li>${link}${holdsMerges(plan) ? blocked : ''}</li>`;
  };
  return html`<h2>Ongoing freezes</h2>
    <ul>
      ${frozen.slice(0, mostMatchedNamed).map(row)}
      ${frozen.length > mostMatchedNamed ? html`<li>and ${frozen.length - mostMatchedNamed} more</li>` : ''}
    </ul>`;
}
