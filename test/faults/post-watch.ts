import type { Stage } from './stage.ts';

type Post = { at: number; state: string; description: string | null };

/** Counts statuses that were posted again though the same one stood already. */
export class PostWatch {
  posts = 0;
  /** Repeated after a crash or an ambiguous answer, which may be. */
  excused = 0;
  readonly #stage: Stage;
  readonly #last = new Map<string, Post>();

  constructor(stage: Stage) {
    this.#stage = stage;
    stage.github.onStatus(({ sha, state, description }) =>
      this.#see(sha, { at: Date.now(), state, description }),
    );
  }

  #see(sha: string, post: Post): void {
    this.posts += 1;
    const former = this.#last.get(sha);
    this.#last.set(sha, post);
    if (former?.state !== post.state || former.description !== post.description) return;
    const excuse = this.#excuse(sha, former, post);
    if (excuse) this.excused += 1;
    const story = `${sha.slice(0, 7)}: ${post.state} "${post.description}" again after ${post.at - former.at} ms`;
    if (excuse) this.#stage.log(`posted twice (${excuse}) ${story}`);
    else if (this.#hasStaleRead(former, post)) this.#stage.violate('posted twice after a stale read', story);
    else this.#stage.violate('posted twice', story);
  }

  /** What of the former post may not have been remembered. */
  #excuse(sha: string, former: Post, post: Post): string | null {
    const { trouble, time, github } = this.#stage;
    const within = (before: number, after: number) => (at: number) =>
      at >= former.at - before && at <= former.at + after;
    if (trouble.kills.some(within(100, 3_000))) return 'kill';
    if (trouble.restarts.some(within(2_000, 10_000))) return 'database restart';
    // A step ends a lease that its holder is using.
    if (post.at - former.at < 15_000 && time.steps.some(within(15_000, 15_000))) return 'clock step';
    const isAmbiguous = github.chaos.events.some(
      ({ kind, path, at }) =>
        path.endsWith(`/statuses/${sha}`) && kind.endsWith('-after') && within(200, 200)(at),
    );
    return isAmbiguous ? 'ambiguous answer' : null;
  }

  #hasStaleRead(former: Post, post: Post): boolean {
    return this.#stage.github.chaos.events.some(
      ({ kind, at }) => kind === 'stale' && at >= former.at - 2_000 && at <= post.at,
    );
  }
}
