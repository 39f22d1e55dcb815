import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from 'hono';
import { html } from 'hono/html';
import { streamSSE } from 'hono/streaming';
import { ownerPath, repositoryPath } from '../../installations/page-paths.ts';
import { assetUrl } from '../assets.ts';
import { countOf } from '../freeze-now/plan-preview.ts';
import { type Html, layout } from '../layout.ts';
import { type OpenedOwner, openOwnerPage } from '../owner/open-owner.ts';
import { absentPage, type PageDeps } from '../reader.ts';
import { isDone, type Progress, readProgress } from './read-progress.ts';

/** Milliseconds between two reads of our tables. */
const step = 1_000;
/** Milliseconds until the browser must connect again, so that we check again whether the viewer may see this. */
const longest = 55_000;

/** `GET /owners/{owner}/progress`: how many pull requests a new freeze holds already. The page updates itself. */
export async function showProgress(deps: PageDeps, context: Context): Promise<Response> {
  const opened = await openOwnerPage(deps, context);
  if (opened instanceof Response) return opened;
  const query = context.req.query();
  const progress = await readProgress(deps, opened, query);
  if (!progress) return absentPage(deps, context, opened.viewer);
  const { login } = opened.account;
  const live = `/owners/${login}/progress/live?${new URLSearchParams(query)}`;
  const body = html`<h1>Freezing ${login}</h1>
    <section class="card" ${isDone(progress) ? '' : html`data-live="${live}"`} aria-live="polite">
      ${progressOf(progress, opened)}
    </section>
    <div class="actions">
      <a class="button quiet" href="${progress.path}">Details</a>
      <a class="button quiet" href="${ownerPath(login)}">All repositories</a>
    </div>`;
  // With the address, because a browser that has a fragment would only go to that.
  const own = `/owners/${login}/progress?${new URLSearchParams(query)}`;
  const head = html`<script type="module" src="${assetUrl('progress.js')}"></script>
    <noscript><meta http-equiv="refresh" content="5; url=${own}" /></noscript>`;
  return context.html(
    layout({
      title: `Freezing ${login}`,
      body,
      viewer: opened.viewer,
      head: isDone(progress) ? undefined : head,
    }),
  );
}

/** `GET /owners/{owner}/progress/live`: the same as server-sent events, for browsers with scripts. */
export async function streamProgress(deps: PageDeps, context: Context): Promise<Response> {
  const opened = await openOwnerPage(deps, context);
  if (opened instanceof Response) return opened;
  const query = context.req.query();
  const first = await readProgress(deps, opened, query);
  if (!first) return absentPage(deps, context, opened.viewer);
  return streamSSE(context, async (stream) => {
    const left = new AbortController();
    stream.onAbort(() => left.abort());
    const timeUp = AbortSignal.any([left.signal, deps.stopping, AbortSignal.timeout(longest)]);
    let said = '';
    let progress: Progress | null = first;
    while (progress && !timeUp.aborted) {
      const now = String(await progressOf(progress, opened));
      if (now !== said) await stream.writeSSE({ event: 'progress', data: now });
      said = now;
      if (isDone(progress)) break;
      // An aborted wait ends the stream.
      await sleep(step, undefined, { signal: timeUp }).catch(() => {});
      if (!timeUp.aborted) progress = await readProgress(deps, opened, query);
    }
    if (!progress) await stream.writeSSE({ event: 'progress', data: String(await over) });
    if (!progress || isDone(progress)) await stream.writeSSE({ event: 'end', data: '' });
  });
}

/** Shown if the freeze ends or is deleted while the page is open. */
const over = html`<p class="progress-line">
  <span class="badge past">Over</span> The freeze has ended or was deleted.
</p>`;

/** `31 of 44 pull requests held on GitHub.` */
function progressOf(progress: Progress, { account }: OpenedOwner): Html {
  const { isOn, repositories, toLook, toHold, held, isAsking, notEnforced, notKnown } = progress;
  if (!isOn)
    return html`<p class="progress-line">
      <span class="badge scheduled">Not started</span> The freeze holds nothing yet.
    </p>`;
  const done = isDone(progress);
  const isSure = held === toHold && notEnforced.length + notKnown.length === 0;
  return html`<p class="progress-line">
      <strong
        >${held === toHold ? countOf(held, 'pull request') : `${held} of ${countOf(toHold, 'pull request')}`}</strong
      >
      held on GitHub in ${countOf(repositories, 'repository', 'repositories')}
      ${done && isSure ? html`<span class="badge held">Frozen</span>` : ''}
    </p>
    ${done ? '' : html`<progress max="${Math.max(1, toHold)}" value="${held}" aria-label="Pull requests held"></progress>`}
    ${toLook > 0 ? html`<p class="muted">Checking ${countOf(toLook, 'more repository', 'more repositories')}.</p>` : ''}
    ${isAsking ? html`<p class="muted">Asking GitHub whether it is enforced.</p>` : ''}
    ${places(account, html`<strong class="leaking">Not enforced:</strong>`, notEnforced)}
    ${places(account, html`<strong>GitHub doesn’t say whether it is enforced:</strong>`, notKnown)}`;
}

const places = (account: { login: string }, what: Html, names: string[]): Html =>
  names.length === 0
    ? html``
    : html`<p>
        ${what}
        ${names.map((name, index) => html`${index > 0 ? ', ' : ''}<a href="${repositoryPath({ name, account })}#enforcement">${name}</a>`)}
      </p>`;
