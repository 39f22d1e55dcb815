import type { Stage } from './stage.ts';

type Post = { at: number; context: string; state: string; description: string | null };

const statusContext = 'holdfast/freeze';
/** Between the check of a lease and the write under it lies no more. */
const unguarded = 1_000;

/** Counts statuses that were posted again though the same one stood already. */
export class PostWatch {
  posts = 0;
  /** How many were repeated after a crash or an ambiguous answer, which may be. */
  readonly excuses: Record<string, number> = {};
  readonly #stage: Stage;
  readonly #last = new Map<string, Post>();

  constructor(stage: Stage) {
    this.#stage = stage;
    stage.github.onStatus(({ sha, context, state, description }) =>
      this.#see(sha, { at: Date.now(), context, state, description }),
    );
  }

  #see(sha: string, post: Post): void {
    this.posts += 1;
    const { context } = post;
    // Of the contexts of instant holds, only the last counts: a hold that cannot begin goes back to the one in force.
    const key = `${sha} ${context === statusContext ? '' : 'of a hold'}`;
    const former = this.#last.get(key);
    this.#last.set(key, post);
    if (former?.context !== context || former.state !== post.state) return;
    if (former.description !== post.description) return;
    const story = `${sha.slice(0, 7)} ${context}: ${post.state} "${post.description}" again after ${post.at - former.at} ms`;
    // The context of an instant hold is not read before it is written.
    if (context === statusContext && this.#isAfterStaleRead(former, post))
      return this.#stage.violate('posted twice after a stale read', story);
    const excuse = this.#excuse(sha, former, post);
    if (!excuse) return this.#stage.violate('posted twice', story);
    this.excuses[excuse] = (this.excuses[excuse] ?? 0) + 1;
    this.#stage.log(`posted twice (${excuse}) ${story}`);
  }

  /** Why the former post may not have been remembered. */
  #excuse(sha: string, former: Post, post: Post): string | null {
    const { trouble, time, github } = this.#stage;
    const within = (before: number, after: number) => (at: number) =>
      at >= former.at - before && at <= former.at + after;
    const isAmbiguous = github.chaos.events.some(
      ({ kind, path, at }) =>
        path.endsWith(`/statuses/${sha}`) && kind.endsWith('-after') && within(200, 200)(at),
    );
    if (isAmbiguous) return 'ambiguous answer';
    if (trouble.kills.some(within(100, 3_000))) return 'kill';
    if (trouble.restarts.some(within(2_000, 10_000))) return 'database restart';
    // A step ends a lease whose holder is about to write.
    const isSoon = post.at - former.at < unguarded;
    return isSoon && time.steps.some(within(unguarded, unguarded)) ? 'clock step' : null;
  }

  /** Whether a look was answered as of before the former post. */
  #isAfterStaleRead(former: Post, post: Post): boolean {
    return this.#stage.github.requests.some(
      ({ asOf, at }) =>
        asOf !== undefined && asOf <= former.at && at.getTime() >= former.at && at.getTime() <= post.at,
    );
  }
}
