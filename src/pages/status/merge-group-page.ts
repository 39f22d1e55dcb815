import { html } from 'hono/html';
import { type RecalledMergeGroup, recallMergeGroup } from '../../explanations/explanations-for-pages.ts';
import { fullName } from '../../installations/find-repository.ts';
import { pullRequestPath, repositoryLivePath } from '../../page-paths.ts';
import { writtenStatuses } from '../../statuses/write-store.ts';
import { whyNot } from '../held.ts';
import { liveAt } from '../live.ts';
import { reading } from '../insiders.ts';
import { absentPage, type RepositoryVisit, readerTimes } from '../reader.ts';
import { longHeading } from '../text.ts';
import { lastsUntil, reasons, statusesTable } from './freeze-card.ts';
import { layoutOf } from './status-pages.ts';

const shaShape = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/** The page that a merge group's status links to: what the group merges, and what holds it. It ends with the group. */
export async function mergeGroupPage(visit: RepositoryVisit): Promise<Response> {
  const { deps, context, repository } = visit;
  const sha = context.req.param('sha') ?? '';
  const group = shaShape.test(sha) ? await recallMergeGroup(deps, repository, sha) : null;
  if (!group) return absentPage(visit);
  const statuses = await writtenStatuses(deps.db, repository.id, sha);
  const freezes = [...group.heldBy, ...group.pullRequests.flatMap(({ heldBy }) => heldBy)];
  const read = await reading(visit, freezes);
  const heldBy = group.heldBy.map(read);
  const times = readerTimes(visit);
  const short = sha.slice(0, 10);
  const { tone, word, text } = groupVerdict(group);
  const body = html`<h1>Merge group <code>${short}</code> for <code>${group.branch}</code></h1>
    <p><span class="badge ${tone}">${word}</span> ${text}</p>
    ${heldBy.length > 0 ? html`<h2>What blocks it</h2>` : ''}
    ${heldBy.map(
      (freeze) =>
        html`<section class="card">
          ${longHeading(freeze.reason)}
          <p>${lastsUntil(freeze, times)}</p>
        </section>`,
    )}
    <h2>What it merges</h2>
    ${
      group.pullRequests.length === 0
        ? html`<p>GitHub’s queue does not show the group yet. Reload the page in a moment.</p>`
        : html`<ul>
            ${group.pullRequests.map(
              ({ number, heldBy }) =>
                html`<li>
                  <a href="${pullRequestPath(repository, number)}">#${number}</a>
                  ${heldBy.length > 0 ? html`is frozen by ${reasons(heldBy.map(read))}` : 'is free'}
                </li>`,
            )}
          </ul>`
    }
    ${statusesTable(sha, statuses, times)}`;
  const title = `${fullName(repository)}: merge group ${short}`;
  return context.html(
    layoutOf(visit, title, `Merge group ${short}`, body, {
      frozen: tone === 'held' ? word : null,
      live: liveAt(visit, repositoryLivePath(repository), [
        sha,
        ...group.pullRequests.map(({ number }) => String(number)),
      ]),
    }),
  );
}

function groupVerdict({ status, heldBy, notHeld }: RecalledMergeGroup): GroupVerdict {
  if (!status) return { tone: null, word: 'Not checked yet', text: 'Reload the page in a moment.' };
  const { description, isFinal, state } = status;
  if (isFinal) return { tone: 'held', word: 'Failed', text: description };
  if (heldBy.length === 0) return { tone: 'free', word: 'Free', text: description };
  if (notHeld === 'leaking')
    return {
      tone: 'leaking',
      word: 'Not blocked',
      text: 'Freezes hold this group, but GitHub would merge it: the branch does not require the Holdfast status.',
    };
  if (notHeld) return { tone: 'held', word: 'Pending', text: `${description}, but ${whyNot[notHeld]}.` };
  const next =
    state === 'failure'
      ? 'GitHub removes the pull request from the queue. Add it again after the freeze.'
      : 'The group keeps its place, because the freeze ends before the queue times out.';
  return { tone: 'held', word: 'Blocked', text: `${description}. ${next}` };
}

type GroupVerdict = { tone: 'held' | 'free' | 'leaking' | null; word: string; text: string };
