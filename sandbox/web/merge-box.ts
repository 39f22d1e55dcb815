import { html } from 'hono/html';
import { buttonBlocker } from '../actions/merge-button.ts';
import { atLeast, roleOf } from '../state/access.ts';
import {
  bypassBlocker,
  decidingSha,
  latestStatuses,
  requiredStates,
  unmetRequirements,
} from '../state/mergeability.ts';
import type { Account, PullRequest } from '../state/model.ts';
import type { Html } from './web-page.ts';

/** A status or a check run in the merge box. */
type Check = { name: string; said: string; outcome: Outcome; isRequired: boolean; url: string | null };
type Outcome = 'success' | 'pending' | 'failure';

const signs: Record<Outcome, Html> = {
  success: html`<span class="sign green" role="img" aria-label="Successful">✓</span>`,
  pending: html`<span class="sign yellow" role="img" aria-label="Pending">●</span>`,
  failure: html`<span class="sign red" role="img" aria-label="Failing">✕</span>`,
};

/**
 * GitHub's merge box: the checks, the reasons that block, and the button. The form posts to `{page}/merge`.
 * @param person who looks; null: not signed in.
 */
export function mergeBox(pr: PullRequest, person: Account | null, page: string): Html {
  if (pr.merged)
    return box(
      'is-merged',
      html`<h2>Pull request successfully merged and closed</h2>
        <p class="muted">
          ${pr.merged.by.login} merged it
          ${pr.merged.how === 'bypass' ? 'without waiting for requirements to be met ' : ''}as
          <code>${pr.merged.sha.slice(0, 7)}</code>.
        </p>`,
    );
  if (pr.state === 'closed') return box('', html`<h2>Closed with unmerged commits</h2>`);
  const checks = checksOf(pr);
  return box(
    buttonBlocker(pr) ? '' : 'can-merge',
    ...(checks.length > 0 ? [checkList(checks)] : []),
    whatBlocks(pr),
    buttons(pr, person, page),
  );
}

const box = (state: string, ...rows: Html[]): Html =>
  html`<section class="box ${state}" aria-label="Merge">
    ${rows.map((row) => html`<div>${row}</div>`)}
  </section>`;

function checkList(checks: Check[]): Html {
  const count = (outcome: Outcome) => checks.filter((each) => each.outcome === outcome).length;
  const [failing, pending] = [count('failure'), count('pending')];
  const heading =
    failing > 0
      ? 'Some checks were not successful'
      : pending > 0
        ? "Some checks haven't completed yet"
        : 'All checks have passed';
  const tally = (['failure', 'pending', 'success'] as const).filter((each) => count(each) > 0);
  const names = { failure: 'failing', pending: 'pending', success: 'successful' };
  return html`<h2>${heading}</h2>
    <p class="muted">
      ${tally.map((each) => `${count(each)} ${names[each]}`).join(', ')}
      ${checks.length === 1 ? 'check' : 'checks'}
    </p>
    <ul class="checks">
      ${checks.map(
        ({ name, said, outcome, isRequired, url }) =>
          html`<li>
            ${signs[outcome]}
            <span class="said"><strong>${name}</strong> <span class="muted">${said}</span></span>
            ${isRequired ? html`<span class="label">Required</span>` : ''}
            ${url ? html`<a href="${url}">Details</a>` : ''}
          </li>`,
      )}
    </ul>`;
}

function whatBlocks(pr: PullRequest): Html {
  if (pr.draft)
    return html`<h2>This pull request is still a work in progress</h2>
      <p class="muted">Draft pull requests cannot be merged.</p>`;
  if (pr.isConflicting) return html`<h2>This branch has conflicts that must be resolved</h2>`;
  const unmet = unmetRequirements(pr);
  if (unmet.length > 0)
    return html`<h2><span class="sign red" aria-hidden="true">✕</span> Merging is blocked</h2>
      ${unmet.map((each) => html`<p>${each}</p>`)}`;
  const blocker = buttonBlocker(pr);
  return blocker
    ? html`<h2>${blocker}</h2>`
    : html`<h2>This branch has no conflicts with the base branch</h2>
        <p class="muted">Merging can be performed automatically.</p>`;
}

function buttons(pr: PullRequest, person: Account | null, page: string): Html {
  const isBlocked = buttonBlocker(pr) !== null;
  const signIn = html`<p class="muted">
    <a href="/login?return_to=${encodeURIComponent(page)}">Sign in</a> to merge pull requests.
  </p>`;
  const press = (mayPress: boolean) =>
    html`<form method="post" action="${page}/merge">
      <input type="hidden" name="sha" value="${pr.head.sha}" />
      <button class="go" ${mayPress ? '' : html`disabled`}>Merge pull request</button>
    </form>`;
  if (!person) return html`${press(false)} ${signIn}`;
  if (!mayMerge(pr, person))
    return html`<p class="muted">
      Only those with write access to this repository can merge pull requests.
    </p>`;
  return html`${press(!isBlocked)} ${mayPass(pr, person) ? passButton(page) : ''}`;
}

/** Whether a person can merge if nothing blocks. */
export const mayMerge = ({ repository }: PullRequest, person: Account): boolean =>
  !repository.archived && atLeast(roleOf(person, repository), 'write');

/** Whether only requirements block it, and the person can bypass them. */
export const mayPass = (pr: PullRequest, person: Account): boolean =>
  mayMerge(pr, person) &&
  !pr.draft &&
  !pr.isConflicting &&
  unmetRequirements(pr).length > 0 &&
  bypassBlocker(pr, person) === null;

const passButton = (page: string): Html =>
  html`<form method="post" action="${page}/merge">
    <input type="hidden" name="bypass" value="1" />
    <p>
      <label>
        <input type="checkbox" required />
        Merge without waiting for requirements to be met (bypass branch protections)
      </label>
    </p>
    <button class="danger">Bypass rules and merge</button>
  </form>`;

/** The statuses on the deciding commit, the required ones that are missing, and the check runs of the head. */
function checksOf(pr: PullRequest): Check[] {
  const { repository } = pr;
  const sha = decidingSha(pr);
  const required = requiredStates(repository, pr.base, sha);
  const isRequired = (name: string) =>
    required.some(({ context }) => context.toLowerCase() === name.toLowerCase());
  const posted = latestStatuses(repository, sha);
  const missing = required.filter(
    ({ context }) => !posted.some((each) => each.context.toLowerCase() === context.toLowerCase()),
  );
  const runs = repository.checkRuns.get(pr.head.sha) ?? [];
  return [
    ...posted.map(({ context, state, description, targetUrl }) => ({
      name: context,
      said: description ?? '',
      outcome: state === 'error' ? ('failure' as const) : state,
      isRequired: isRequired(context),
      url: targetUrl,
    })),
    ...[...new Set(missing.map(({ context }) => context))].map((name) => ({
      name,
      said: 'Expected — Waiting for status to be reported',
      isRequired: true,
      url: null,
      outcome: 'pending' as const,
    })),
    ...runs.map(({ name, conclusion }) => ({
      name,
      said: conclusion ?? 'in progress',
      isRequired: isRequired(name),
      url: null,
      outcome: outcomeOf(conclusion),
    })),
  ];
}

function outcomeOf(conclusion: string | null): Outcome {
  if (conclusion === null) return 'pending';
  return ['success', 'neutral', 'skipped'].includes(conclusion) ? 'success' : 'failure';
}
