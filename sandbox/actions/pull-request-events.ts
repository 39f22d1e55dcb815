import type { World } from '../state/world.ts';
import { pullRequestJson, pullRequestSummary } from '../json/pull-request-json.ts';
import type { Account, PullRequest } from '../state/model.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';

/** Sends `pull_request` webhooks, and updates `updated_at` with each. */
export class PullRequestEvents {
  readonly #world: World;
  readonly #webhooks: Webhooks;
  /** Called after each event: the merge queue drops a pull request that changed. */
  onEvent: (pr: PullRequest, action: string, payload: object) => void = () => {};

  constructor(world: World, webhooks: Webhooks) {
    this.#world = world;
    this.#webhooks = webhooks;
  }

  emit(pr: PullRequest, action: string, payload: object = {}, by: Account = pr.author): void {
    this.send('pull_request', pr, action, { number: pr.number, ...payload }, by);
    this.onEvent(pr, action, payload);
  }

  send(event: string, pr: PullRequest, action: string, payload: object, by: Account): void {
    pr.updatedAt = this.#world.now();
    this.#world.formerVersions.changed(pr);
    // Events of reviews have it as lists do.
    const pull_request =
      event === 'pull_request'
        ? pullRequestJson(this.#world, pr, { forWebhook: true })
        : pullRequestSummary(this.#world, pr);
    this.#webhooks.emit({
      event,
      action,
      repository: pr.repository,
      sender: by,
      payload: { pull_request, ...payload },
    });
  }
}
