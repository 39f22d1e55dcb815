import { html } from 'hono/html';
import { recallMergeGroup, type RecalledMergeGroup } from '../../explanations/explanations-for-pages.ts';
import { writtenStatuses, type WrittenStatus } from '../../statuses/write-store.ts';
import type { asPublic } from '../../freezes/freeze.ts';
import { type FoundRepository, fullName } from '../../installations/find-repository.ts';
import { whyNot } from '../held.ts';
import { type Html, layout } from '../layout.ts';
import { longHeading, type Times } from '../text.ts';
import { pullRequestPath, repositoryPath } from '../../installations/page-paths.ts';
import { absentPage, reading, type RepositoryVisit, timesOf } from '../reader.ts';
import { lasts, reasons, statusesTable } from './freeze-card.ts';

const shaShape = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/** The page that a merge group's status links to: what the group merges, and what holds it. It ends with the group. */
export async function mergeGroupPage(visit: RepositoryVisit): Promise<Response> {
  const { deps, context, viewer, repository } = visit;
  const sha = context.req.param('sha') ?? '';
  const group = shaShape.test(sha) ? await recallMergeGroup(deps, repository, sha) : null;
  if (!group) return absentPage(visit);
  const statuses = await writtenStatuses(deps.db, repository.id, sha);
  const freezes = [...group.heldBy, ...group.pullRequests.flatMap(({ heldBy }) => heldBy)];
  const read = await reading(visit, freezes);
  const title = `${fullName(repository)}: merge group ${sha.slice(0, 10)}`;
  const times = timesOf(visit);
  const shown = body(repository, sha, readAs(read, group), statuses, times);
  const { name, account } = repository;
  const crumbs = [{ name, href: repositoryPath(repository) }, { name: `Merge group ${sha.slice(0, 10)}` }];
  return context.html(layout({ title, body: shown, viewer, owner: account.login, crumbs, zone: times.zone }));
}

const readAs = (read: typeof asPublic, group: RecalledMergeGroup): RecalledMergeGroup => ({
  ...group,
  pullRequests: group.pullRequests.map((each) => ({ ...each, heldBy: each.heldBy.map(read) })),
  heldBy: group.heldBy.map(read),
});

function body(
  repository: FoundRepository,
  sha: string,
  { branch, status, pullRequests, heldBy, notHeld }: RecalledMergeGroup,
  statuses: WrittenStatus[],
  times: Times,
): Html {
  return html`<h1>Merge group <code>${sha.slice(0, 10)}</code> for <code>${branch}</code></h1>
    <p>${verdict(heldBy.length > 0, status, notHeld)}</p>
    ${heldBy.length > 0 ? html`<h2>What blocks it</h2>` : ''}
    ${heldBy.map(
      (freeze) =>
        html`<section class="card">
          ${longHeading(freeze.reason)}
          <p>${lasts(freeze, times)}</p>
        </section>`,
    )}
    <h2>What it merges</h2>
    ${
      pullRequests.length === 0
        ? html`<p>GitHub’s queue does not show the group yet. Reload the page in a moment.</p>`
        : html`<ul>
            ${pullRequests.map(
              ({ number, heldBy: holding }) =>
                html`<li>
                  <a href="${pullRequestPath(repository, number)}">#${number}</a>
                  ${holding.length > 0 ? html`is frozen by ${reasons(holding)}` : 'is free'}
                </li>`,
            )}
          </ul>`
    }
    ${statusesTable(sha, statuses, times)}`;
}

function verdict(
  isHeld: boolean,
  status: RecalledMergeGroup['status'],
  notHeld: RecalledMergeGroup['notHeld'],
): Html {
  if (!status) return html`<span class="badge">Not checked yet</span> Reload the page in a moment.`;
  if (status.isFinal) return html`<span class="badge held">Failed</span> ${status.description}`;
  if (!isHeld) return html`<span class="badge free">Free</span> ${status.description}`;
  if (notHeld === 'leaking')
    return html`<span class="badge leaking">Not blocked</span> Freezes hold this group, but GitHub would merge
      it: the branch does not require the Holdfast status.`;
  if (notHeld)
    return html`<span class="badge held">Pending</span> ${status.description}, but ${whyNot[notHeld]}.`;
  const next =
    status.state === 'failure'
      ? 'GitHub removes the pull request from the queue. Add it again after the freeze.'
      : 'The group keeps its place, because the freeze ends before the queue times out.';
  return html`<span class="badge held">Blocked</span> ${status.description}. ${next}`;
}
