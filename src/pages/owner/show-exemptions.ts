import { html } from 'hono/html';
import { signInSettings } from '../../auth/sign-in/github-identity.ts';
import { actorName } from '../../events/actor.ts';
import { exemptionStates } from '../../exemptions/exemption.ts';
import {
  type ExemptionPlace,
  type ExemptionRecord,
  listExemptions,
} from '../../exemptions/exemption-store.ts';
import { nullIf } from '../../errors.ts';
import { exemptionsPath, ownerLivePath, ownerPath } from '../../page-paths.ts';
import { type FoundRepository, fullName, repositoriesOfIds } from '../../installations/find-repository.ts';
import { holderText } from '../../settings/role-holders.ts';
import { readSettingsOfAll } from '../../settings/settings.ts';
import { bulkBar, bulkBox } from '../bulk.ts';
import { filterChoice, filterField, hiddenField, queryLink } from '../form.ts';
import type { Html } from '../html.ts';
import { liveAt } from '../live.ts';
import { saidMessage, messagePage, showPage } from '../message-page.ts';
import { absentOrSignIn, readerTimes } from '../reader.ts';
import { pageLinks } from '../repository/freeze-list.ts';
import { aboutListed } from '../status/request-card.ts';
import {
  exemptionLink,
  exemptionRequest,
  mayApprove,
  nameOfExemption,
  type Standing,
} from '../status/exemption-forms.ts';
import { badge } from '../states.ts';
import { instantText, quotedText, type Times } from '../text.ts';
import { stillApproved, undoApproval } from '../undo.ts';
import { idsWithRole, type OwnerVisit, repositoriesFor } from './open-owner.ts';

/** The most requests and active exemptions that the page shows. */
const mostOpen = 50;
const pastPerPage = 25;

type Listed = { exemption: ExemptionRecord; repository: FoundRepository };

/**
 * `GET /owners/{owner}/exemptions`: what waits for a decision, what is active, and what is over, of the repositories
 * that the viewer can write to or decides in.
 */
export async function showExemptions(visit: OwnerVisit): Promise<Response> {
  const { deps, context, account, viewer, isAdmin } = visit;
  if (!viewer) return absentOrSignIn(visit);
  const deciding = isAdmin ? new Set<bigint>() : await idsWithRole({ ...visit, viewer }, ['approver']);
  const theirs = repositoriesFor(visit, ['admin', 'write'], deciding);
  const { login } = account;
  if (theirs.length === 0 && !isAdmin) {
    const text = `On GitHub, you cannot write to a repository of ${login} that Holdfast knows, so you see no exemptions.`;
    const link = { href: ownerPath(login), text: 'Back to the overview' };
    return messagePage(context, { status: 403, title: 'You cannot see exemptions', text, link }, viewer);
  }
  const times = readerTimes(visit);
  const view = readExemptionsView(context.req.query());
  const chosen = theirs.filter(({ name }) => name.toLowerCase() === view.repository?.toLowerCase());
  const some = view.repository === null ? theirs : chosen;
  const place: ExemptionPlace =
    isAdmin && view.repository === null
      ? { accountId: account.id }
      : { repositories: some.map(({ id }) => id) };
  const at = times.now;
  const list = (filter: Parameters<typeof listExemptions>[2], size: number, cursor?: string) =>
    listExemptions(deps.db, place, filter, { size, cursor });
  const open = { isOver: { at, is: false } };
  const isAll = view.state === null;
  const past = isAll ? { isOver: { at, is: true } } : { state: view.state ?? undefined };
  const [waiting, active, over] = await Promise.all([
    isAll && view.cursor === null ? list({ ...open, state: 'requested' }, mostOpen) : null,
    isAll && view.cursor === null ? list({ ...open, state: 'approved' }, mostOpen) : null,
    // A cursor that is not ours shows the first page.
    list(past, pastPerPage, view.cursor ?? undefined)
      .catch(nullIf('invalid'))
      .then((page) => page ?? list(past, pastPerPage)),
  ]);
  const all = [waiting, active, over].flatMap((page) => page?.rows ?? []);
  const found = await repositoriesOfIds(deps.sql, [...new Set(all.map(({ repositoryId }) => repositoryId))]);
  const byId = new Map(found.map((repository) => [repository.id, repository]));
  const listed = (rows: ExemptionRecord[]): Listed[] =>
    rows.flatMap((exemption) => {
      const repository = byId.get(exemption.repositoryId);
      return repository ? [{ exemption, repository }] : [];
    });
  const undo = undoApproval(visit, listed(active?.rows ?? []), hiddenField('from_list', 'yes'));
  const body = html`${saidMessage(context, undo, stillApproved(context, listed(all)))}
    <h1>Exemptions</h1>
    ${filters(view)}
    ${waiting ? await waitingList(visit, deciding, listed(waiting.rows).toReversed(), waiting.older !== null, times) : ''}
    ${active ? section('Active', listed(active.rows), 'No exemptions are active.', times) : ''}
    ${section(isAll ? 'Over' : stateNames[view.state!], listed(over.rows), isAll ? 'No exemptions are over.' : 'None.', times)}
    ${pageLinks('Pages of exemptions', [
      ['Newer exemptions', over.newer && queryLink({ ...view, cursor: over.newer })],
      ['Older exemptions', over.older && queryLink({ ...view, cursor: over.older })],
    ])}
    ${isAdmin ? '' : html`<p class="muted">You aren’t an admin of ${login}, so this page has only repositories that you can write to or are an approver of, and some of those may be missing. Open their pull requests directly.</p>`}`;
  const title = `Exemptions of ${login}`;
  const live = liveAt(visit, ownerLivePath(login));
  return showPage(visit, { title, body, owner: login, tab: 'exemptions', live });
}

type View = { repository: string | null; state: ExemptionRecord['state'] | null; cursor: string | null };

const readExemptionsView = (query: Record<string, string>): View => ({
  repository: query['repository']?.trim().slice(0, 100) || null,
  state: exemptionStates.find((state) => state === query['state']) ?? null,
  cursor: query['cursor'] || null,
});

const stateNames: Record<ExemptionRecord['state'], string> = {
  requested: 'Requested',
  approved: 'Approved',
  denied: 'Denied',
  revoked: 'Revoked',
  expired: 'Expired',
  used: 'Merged or deployed',
};

const filters = ({ repository, state }: View): Html =>
  html`<form class="choice" method="get" role="search" aria-label="Exemptions">
    ${filterField('repository', 'Repository', repository, html`maxlength="100"`)}
    ${filterChoice('state', 'State', 'All', stateNames, state)}
    <button type="submit" class="quiet">Show</button>
  </form>`;

/** The requests that wait, the oldest first, each with the forms that the viewer may send. */
async function waitingList(
  { deps, viewer, account, isAdmin, permissions }: OwnerVisit,
  deciding: ReadonlySet<bigint>,
  listed: Listed[],
  isMore: boolean,
  times: Times,
): Promise<Html> {
  const ids = [...new Set(listed.map(({ repository }) => repository.id))];
  const [settings, about] = await Promise.all([
    readSettingsOfAll(deps.db, ids),
    aboutListed(deps, listed, times),
  ]);
  const standingIn = ({ id }: FoundRepository): Standing => {
    const permission = isAdmin ? 'admin' : (permissions.get(id) ?? 'none');
    const { approvers, twoPersonExemptions: isForTwo } = settings.get(id)!;
    return {
      ...{ viewer, permission, isForTwo },
      mayDecide: permission === 'admin' || deciding.has(id),
      approvers: approvers.map((each) => holderText(each, account.login)),
      maySignIn: signInSettings(deps.config) !== null,
    };
  };
  return html`<section aria-labelledby="waiting">
    <h2 id="waiting">Waiting for a decision</h2>
    ${listed.length === 0 ? html`<p class="muted">Nothing waits for a decision.</p>` : ''}
    ${listed.map(({ exemption, repository }) =>
      exemptionRequest(exemption, repository, standingIn(repository), times, {
        sent: hiddenField('from_list', 'yes'),
        about: about({ exemption, repository }),
        isListed: true,
        box: mayApprove(exemption, standingIn(repository)) ? boxOf({ exemption, repository }) : '',
      }),
    )}
    ${listed.some(({ exemption, repository }) => mayApprove(exemption, standingIn(repository))) ? bulkBar(exemptionsPath(account.login), approval) : ''}
    ${isMore ? html`<p><a href="?state=requested">Show all requests</a></p>` : ''}
  </section>`;
}

const boxOf = ({ exemption: { id, pullRequest, deployment }, repository }: Listed): Html =>
  bulkBox(id, nameOfExemption(fullName(repository), pullRequest, deployment?.environment));

const approval: Parameters<typeof bulkBar>[1] = {
  name: 'Approve the selected requests',
  acts: [['Approve', 'request', 'requests']],
};

function section(name: string, listed: Listed[], none: string, times: Times): Html {
  const id = name.toLowerCase();
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${name}</h2>
    ${
      listed.length === 0
        ? html`<p class="muted">${none}</p>`
        : html`<table class="stacked">
            <tbody>
              ${listed.map((each) => row(each, times))}
            </tbody>
          </table>`
    }
  </section>`;
}

const row = ({ exemption, repository }: Listed, times: Times): Html => {
  const { state, expiresAt, endedAt, requestedBy, decidedBy, reason } = exemption;
  const isExpired = endedAt === null && expiresAt <= times.now;
  const isActive = state === 'approved' && !isExpired;
  const isMerged = state === 'used' && !exemption.deployment;
  const shownState = state === 'used' ? 'Deployed' : stateNames[isExpired ? 'expired' : state];
  return html`<tr>
    <th scope="row">${exemptionLink(exemption, repository)}</th>
    <td>
      ${isMerged ? badge('merged') : isActive ? badge('exempt') : state === 'requested' && !isExpired ? badge('waiting', shownState) : html`<span class="badge past">${shownState}</span>`}
      ${endedAt ? instantText(endedAt, times) : html`until ${instantText(expiresAt, times)}`}
    </td>
    <td>
      <bdi>${actorName(requestedBy)}</bdi>: ${quotedText(reason)}
      ${decidedBy && actorName(decidedBy) !== actorName(requestedBy) ? html`<span class="muted">decided by <bdi>${actorName(decidedBy)}</bdi></span>` : ''}
    </td>
  </tr>`;
};
