import { html } from 'hono/html';
import type { CurrentGroup } from '../../explanations/freeze-groups.ts';
import { type RepositoryState, requiredIn } from '../../explanations/repository-states.ts';
import { repositoriesOfIds } from '../../installations/find-repository.ts';
import { pullRequestPath } from '../../page-paths.ts';
import { shorten } from '../../words/event-words.ts';
import { asGitHubSees, heldBadge, isNotBlocked, isUnsaid, type ShownHeld } from '../held.ts';
import type { Html } from '../html.ts';
import { permissionOf, type PageDeps, type Viewer } from '../reader.ts';
import { badge } from '../states.ts';
import type { OverviewRow, SeenOwner } from './overview.ts';

// The reader's own pull requests that freezes should hold.

/** @property by what holds it. */
export type OwnHeld = Omit<CurrentGroup['mine'][number], 'repositoryId'> & {
  state: RepositoryState;
  owner: SeenOwner;
  by: OverviewRow[];
};

export type OwnPullRequest = Omit<OwnHeld, 'notHeld'> & Pick<ShownHeld, 'notHeld'>;

/** For how many public repositories of others' owners GitHub is asked whether the viewer writes there. */
const mostAsked = 5;

/** Says of each whether GitHub refuses to merge it, and asks it where the viewer may know what its branch requires. */
export async function ownPullRequests(
  deps: PageDeps,
  viewer: Viewer,
  all: OwnHeld[],
): Promise<OwnPullRequest[]> {
  const unsaid = all.filter(isUnsaid);
  const known = await knownTo(deps, viewer, unsaid);
  await Promise.all(
    [...Map.groupBy(known, ({ baseRef }) => baseRef)].map(([base, its]) => {
      // It is about this branch alone, whatever is known of the repository.
      const places = new Map(its.map(({ state }) => [state.id, { ...state, leaking: 0, enforced: null }]));
      return requiredIn(deps, [...places.values()], [base]);
    }),
  );
  return (
    await Promise.all(all.map((each) => asGitHubSees(deps, each.state, [each], known.includes(each))))
  ).flat();
}

/** Those in repositories of which the viewer may know whether freezes are enforced. */
async function knownTo(deps: PageDeps, viewer: Viewer, all: OwnHeld[]): Promise<OwnHeld[]> {
  const isInside = ({ owner, state }: OwnHeld) => owner.isAdmin || state.private;
  const others = [...new Set(all.filter((each) => !isInside(each)).map(({ state }) => state.id))];
  const asked = others.length === 0 ? [] : await repositoriesOfIds(deps.sql, others.slice(0, mostAsked));
  const permissions = await Promise.all(
    asked.map(
      async (repository) => [repository.id, await permissionOf({ deps, viewer, repository })] as const,
    ),
  );
  const written = new Set(
    permissions.filter(([, word]) => word === 'admin' || word === 'write').map(([id]) => id),
  );
  return all.filter((each) => isInside(each) || written.has(each.state.id));
}

/** For developers: which of theirs is blocked, why and until when, and what they can do. */
export const yourPullRequests = (mine: OwnPullRequest[], whenOf: (row: OverviewRow) => Html): Html =>
  html`<section aria-labelledby="yours">
    <h2 id="yours">Your pull requests</h2>
    <ul class="cards rows">
      ${mine.map(({ owner: { account }, state: { name }, number, title, notHeld, isAsked, by }) => {
        const path = pullRequestPath({ name, account }, number);
        return html`<li class="card">
          <div>
            <h3>
              <a href="${path}">${name} #${number} <bdi>${title ?? ''}</bdi></a>
            </h3>
            <p class="muted">
              ${by.map((row, at) => html`${at > 0 ? ', ' : ''}<a href="${row.href}" dir="auto">${shorten(row.reason, 120)}</a> ${whenOf(row)}`)}
            </p>
          </div>
          <p class="actions">
            ${heldBadge(notHeld)}
            ${isAsked ? badge('waiting', 'Requested') : isNotBlocked(notHeld) ? '' : html`<a class="button quiet" href="${path}?exempt=yes">Request exemption</a>`}
          </p>
        </li>`;
      })}
    </ul>
  </section>`;
