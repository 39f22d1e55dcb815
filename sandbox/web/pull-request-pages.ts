import { html, raw } from 'hono/html';
import { mayComment } from '../actions/comments.ts';
import { mergePastRequirements, pressMergeButton } from '../actions/merge-button.ts';
import type { Api, ApiContext, Parts } from '../http/api.ts';
import { roleOf } from '../state/access.ts';
import type { Account, PullRequest, Repository } from '../state/model.ts';
import { fullNameOf, type World } from '../state/world.ts';
import { personAt } from './browser-person.ts';
import { commentBox, conversation } from './conversation.ts';
import { mayMerge, mayPass, mergeBox } from './merge-box.ts';
import { type Html, webPage } from './web-page.ts';

/** The pages on which people look at pull requests, comment on them and merge them. `/` links to them. */
export function pullRequestPages(api: Api, { world, pullRequests, comments }: Parts): void {
  const show = (c: ApiContext, title: string, body: Html, head?: Html) => {
    const { pathname, search } = new URL(c.req.url);
    return webPage(title, body, { person: personAt(c, world), path: pathname + search, head });
  };
  const notFound = (c: ApiContext) =>
    c.html(show(c, 'Not Found', html`<p>This is not there, or not for you to see.</p>`), 404);

  api.get('/', (c) => {
    const person = personAt(c, world);
    const visible = [...world.repositories.values()].filter((each) => maySee(person, each));
    return c.html(show(c, 'Repositories', repositoryList(visible)));
  });

  api.get('/:owner/:repo/pulls', (c) => {
    const repository = repositoryIn(c, world);
    if (!repository) return notFound(c);
    return c.html(show(c, `Pull requests of ${fullNameOf(repository)}`, pullRequestList(repository)));
  });

  api.get('/:owner/:repo/pull/:number{[0-9]+}', (c) => {
    const pr = pullRequestIn(c, world);
    if (!pr) return notFound(c);
    const person = personAt(c, world);
    return c.html(show(c, `${pr.title} #${pr.number}`, pullRequestBody(pr, person), keepsUp(person)));
  });

  api.post('/:owner/:repo/pull/:number{[0-9]+}/merge', async (c) => {
    const pr = pullRequestIn(c, world);
    if (!pr) return notFound(c);
    const person = personAt(c, world);
    const given = new URLSearchParams(await c.req.text());
    const isPast = given.has('bypass');
    if (!person || !(isPast ? mayPass : mayMerge)(pr, person))
      return c.html(show(c, 'Forbidden', html`<p>You may not merge this pull request.</p>`), 403);
    const merged = isPast
      ? mergePastRequirements(pullRequests, pr, person)
      : pressMergeButton(pullRequests, pr, person, given.get('sha'));
    if ('sha' in merged) return c.redirect(pathOf(pr));
    const body = html`<p>${merged.message}</p>
      <p><a href="${pathOf(pr)}">Back to the pull request</a></p>`;
    return c.html(show(c, 'It was not merged', body), merged.status);
  });

  api.post('/:owner/:repo/pull/:number{[0-9]+}/comment', async (c) => {
    const pr = pullRequestIn(c, world);
    if (!pr) return notFound(c);
    const person = personAt(c, world);
    if (!person || !mayComment(pr, person))
      return c.html(show(c, 'Forbidden', html`<p>You can't comment on this pull request.</p>`), 403);
    // A browser sends line breaks as CRLF.
    const body = (new URLSearchParams(await c.req.text()).get('body') ?? '').replaceAll('\r\n', '\n');
    if (body.trim() === '') return c.html(show(c, 'Not posted', html`<p>Enter a comment.</p>`), 422);
    comments.create(pr, person, body);
    return c.redirect(pathOf(pr));
  });
}

const maySee = (person: Account | null, repository: Repository): boolean =>
  !repository.private || (person !== null && roleOf(person, repository) !== 'none');

function repositoryIn(c: ApiContext, world: World): Repository | undefined {
  const found = world.findRepository(`${c.req.param('owner')}/${c.req.param('repo')}`);
  return found && maySee(personAt(c, world), found) ? found : undefined;
}

const pullRequestIn = (c: ApiContext, world: World): PullRequest | undefined =>
  repositoryIn(c, world)?.pullRequests.get(Number(c.req.param('number')));

const pathOf = ({ repository, number }: PullRequest): string => `/${fullNameOf(repository)}/pull/${number}`;

/**
 * The page updates by itself: a script replaces what changed, but not the comment that somebody writes. Without scripts,
 * the browser reloads the page of a person who can't write one.
 */
const keepsUp = (person: Account | null): Html =>
  html`${person ? '' : html`<noscript><meta http-equiv="refresh" content="5" /></noscript>`}
    <script>
      ${raw(`setInterval(async () => {
      const answer = await fetch(location.href).catch(() => null);
      if (!answer?.ok) return;
      const next = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('#live');
      const shown = document.querySelector('#live');
      if (next && next.innerHTML !== shown.innerHTML) shown.replaceWith(next);
    }, 1000);`)};
    </script>`;

function repositoryList(repositories: Repository[]): Html {
  const open = ({ pullRequests }: Repository) =>
    [...pullRequests.values()].filter(({ state }) => state === 'open').length;
  return html`<ul class="box">
    ${repositories.map((repository) => {
      const name = fullNameOf(repository);
      return html`<li>
        <a href="/${name}/pulls"><strong>${name}</strong></a>
        ${repository.private ? html`<span class="label">Private</span>` : ''}
        <span class="muted">${open(repository)} open pull requests</span>
      </li>`;
    })}
  </ul>`;
}

function pullRequestList({ pullRequests }: Repository): Html {
  const all = [...pullRequests.values()].reverse();
  const [open, closed] = [true, false].map((isOpen) =>
    all.filter(({ state }) => (state === 'open') === isOpen),
  );
  return html`${rows(open!)}
  ${
    closed!.length > 0
      ? html`<h2>Closed</h2>
          ${rows(closed!)}`
      : ''
  }`;
}

const rows = (pullRequests: PullRequest[]): Html =>
  html`<ul class="box">
    ${pullRequests.map(
      (pr) =>
        html`<li>
          ${badge(pr)} <a href="${pathOf(pr)}"><strong>${pr.title}</strong></a> ${labels(pr)}
          <p class="muted">#${pr.number} by ${pr.author.login}</p>
        </li>`,
    )}
  </ul>`;

function badge(pr: PullRequest): Html {
  if (pr.merged) return html`<span class="badge merged">Merged</span>`;
  if (pr.state === 'closed') return html`<span class="badge closed">Closed</span>`;
  return pr.draft ? html`<span class="badge draft">Draft</span>` : html`<span class="badge open">Open</span>`;
}

const labels = ({ labels: all }: PullRequest): Html =>
  html`${all.map(({ name }) => html`<span class="label">${name}</span> `)}`;

function pullRequestBody(pr: PullRequest, person: Account | null): Html {
  const { repository, head, base, author, commits, merged } = pr;
  const name = fullNameOf(repository);
  const from = head.repository === repository ? head.ref : `${head.repository.owner.login}:${head.ref}`;
  return html`<div id="live">
      <p>
        ${badge(pr)}
        <strong>${merged ? merged.by.login : author.login}</strong> ${merged ? 'merged' : 'wants to merge'}
        ${commits.length} ${commits.length === 1 ? 'commit' : 'commits'} into <code>${base}</code> from
        <code>${from}</code>
      </p>
      <p><a href="/${name}/pulls">All pull requests of ${name}</a> ${labels(pr)}</p>
      ${pr.body ? html`<p class="box"><span>${pr.body}</span></p>` : ''} ${conversation(pr)}
      ${mergeBox(pr, person, pathOf(pr))}
    </div>
    ${commentBox(pr, person, pathOf(pr))}`;
}
