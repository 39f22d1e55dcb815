import { html } from 'hono/html';
import type { HeldPullRequest, ReasonNotHeld } from '../statuses/held-pull-requests.ts';
import { pullRequestPath } from '../installations/page-paths.ts';
import type { Html } from './layout.ts';

/** Why a pull request that should be held may not be. Follows a "but". */
export const whyNot: Record<ReasonNotHeld, string> = {
  waiting: 'Holdfast has not written its status yet',
  refused: 'GitHub refused its status',
  contested: 'somebody keeps overwriting its status',
  leaking: 'GitHub would merge it',
};

/** The same for several pull requests. */
const whyNotAll: Record<ReasonNotHeld, (count: number) => string> = {
  waiting: (count) =>
    count === 1 ? '1 is waiting for its status' : `${count} are waiting for their statuses`,
  refused: (count) => `GitHub refused the status of ${count}`,
  contested: (count) => `somebody keeps overwriting the status of ${count}`,
  leaking: (count) => `GitHub would merge ${count}`,
};

/** For freezes that began after the open pull requests were last checked. */
export const notJudged = html`Not judged yet: Holdfast has not checked the open pull requests since it began.`;

/** `2 pull requests are blocked. 3 more should be blocked: 1 is waiting for its status, GitHub would merge 2.` */
export function countsOf(pullRequests: HeldPullRequest[]): Html {
  const reasons = Map.groupBy(pullRequests, ({ notHeld }) => notHeld);
  const held = reasons.get(null)?.length ?? 0;
  reasons.delete(null);
  const missing = pullRequests.length - held;
  return html`${held === 1 ? '1 pull request is blocked' : `${held} pull requests are blocked`}.
  ${
    missing === 0
      ? ''
      : html`${missing} more should be
        blocked:${[...reasons].map(
          ([reason, its], index) =>
            html`${index > 0 ? ', ' : ' '}<span class="${reason}">${whyNotAll[reason!](its.length)}</span>`,
        )}.`
  }`;
}

/** Links to the pages of these pull requests. One that may not be held has the reason behind it. */
export function heldList(
  repository: Parameters<typeof pullRequestPath>[0],
  pullRequests: Pick<HeldPullRequest, 'number' | 'title' | 'notHeld'>[],
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
