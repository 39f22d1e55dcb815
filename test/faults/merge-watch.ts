import { told } from './differences.ts';
import { openOnes, type Stage } from './stage.ts';

/** Follows since when each pull request is surely frozen, and looks at every merge at the moment it happens. */
export class MergeWatch {
  merges = 0;
  /** Merged while frozen, with an excuse: within the bound, or while something was down. */
  excused = 0;
  readonly #stage: Stage;
  readonly #heldSince = new Map<number, number>();
  readonly #merged = new Set<number>();

  constructor(stage: Stage) {
    this.#stage = stage;
    // Auto-merge follows a status at once; what it merged is seen before anything else can happen.
    stage.github.onStatus(() => queueMicrotask(() => this.look()));
  }

  /** To be called after each step, and often in between. */
  look(): void {
    const { github, repository } = this.#stage;
    this.#stage.trouble.watch();
    for (const pr of github.pullRequests(repository)) {
      if (pr.state !== 'merged' || this.#merged.has(pr.number)) continue;
      this.#merged.add(pr.number);
      this.merges += 1;
      if (!this.#isHeld(pr)) continue;
      if (this.#mustBeHeld(pr.number)) this.#stage.violate('frozen and merged', this.#story(pr.number));
      else this.excused += 1;
    }
    this.#follow();
  }

  /** In calm weather: presses the button of everything that must be held, and looks at what it shows. */
  press(): number {
    const { github, repository, violate } = this.#stage;
    const due = openOnes(this.#stage).filter(({ number }) => this.#mustBeHeld(number));
    for (const { number } of due) {
      if (github.currentStatus(repository, number)?.state === 'success') {
        violate('frozen and shown as free', this.#story(number));
      }
      github.merge(repository, number);
      this.look();
    }
    return due.length;
  }

  #follow(): void {
    const { github, repository } = this.#stage;
    for (const pr of github.pullRequests(repository)) {
      if (pr.state !== 'open' || !this.#isHeld(pr)) this.#heldSince.delete(pr.number);
      else if (!this.#heldSince.has(pr.number)) this.#heldSince.set(pr.number, Date.now());
    }
  }

  #isHeld(pr: Parameters<Stage['model']['surelyHolds']>[0]): boolean {
    return this.#stage.model.surelyHolds(pr, this.#stage.time.now());
  }

  #mustBeHeld(number: number): boolean {
    const since = this.#heldSince.get(number);
    const { trouble } = this.#stage;
    if (since === undefined || Date.now() - since < trouble.bound) return false;
    if (this.#stage.time.now() - this.#stage.time.at(since) < trouble.slowness) return false;
    return !trouble.isExcused && !trouble.isBlind(this.#stage.repository, number);
  }

  #story(number: number): string {
    const { github, repository } = this.#stage;
    const { headSha } = github.pullRequest(repository, number);
    const seconds = ((Date.now() - this.#heldSince.get(number)!) / 1000).toFixed(1);
    return `#${number}, frozen for ${seconds} s; ${headSha.slice(0, 7)} shows ${told(this.#stage, headSha)}`;
  }
}
