import { html } from 'hono/html';
import type { HeldPullRequest, ReasonNotHeld } from '../reconcile/held-pull-requests.ts';
import { pullRequestPath } from '../page-paths.ts';
import type { Html } from './layout.ts';

/** Why one that should be held is not known to be, after a "but". */
export const whyNot: Record<ReasonNotHeld, string> = {
  waiting: 'its status waits to be written',
  refused: 'GitHub refused its status',
  contested: 'somebody keeps overwriting its status',
  leaking: 'GitHub would merge it',
};

/** The same of so many. */
const whyNotAll: Record<ReasonNotHeld, (count: number) => string> = {
  waiting: (count) => (count === 1 ? '1 waits for its status' : `${count} wait for their statuses`),
  refused: (count) => `GitHub refused the status of ${count}`,
  contested: (count) => `somebody keeps overwriting the status of ${count}`,
  leaking: (count) => `GitHub would merge ${count}`,
};

/** `2 pull requests are held. 3 are to be held: 1 waits for its status, GitHub would merge 2.` */
export function countsOf(pullRequests: HeldPullRequest[]): Html {
  const reasons = Map.groupBy(pullRequests, ({ notHeld }) => notHeld);
  const held = reasons.get(null)?.length ?? 0;
  reasons.delete(null);
  const missing = pullRequests.length - held;
  return html`${held === 1 ? '1 pull request is held' : `${held} pull requests are held`}.
  ${
    missing === 0
      ? ''
      : html`${missing === 1 ? '1 is' : `${missing} are`} to be
        held:${[...reasons].map(
          ([reason, its], index) =>
            html`${index > 0 ? ', ' : ' '}<span class="${reason}">${whyNotAll[reason!](its.length)}</span>`,
        )}.`
  }`;
}

/** Links to the pages of these pull requests, by their titles; those that are not known to be held with why. */
export function heldList(
  repository: Parameters<typeof pullRequestPath>[0],
  pullRequests: HeldPullRequest[],
): Html {
  if (pullRequests.length === 0) return html``;
  return html`<ul class="held-pull-requests">
    ${pullRequests.map(
      ({ number, title, notHeld }) =>
        html`<li>
          <a href="${pullRequestPath(repository, number)}"
            >#${number}${title === null ? '' : html` <span dir="auto">${title}</span>`}</a
          >
          ${notHeld && html`<span class="${notHeld}">(${whyNot[notHeld]})</span>`}
        </li>`,
    )}
  </ul>`;
}
