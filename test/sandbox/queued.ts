import type { MergeQueueOptions } from '../../sandbox/actions/merge-queue-verbs.ts';
import type { StatusState } from '../../sandbox/state/model.ts';
import { acme } from './acme.ts';

export const web = 'acme/web';

/** The small world with a merge queue, a clock to move, and short words for both. */
export async function queued() {
  const clock = { now: Date.parse('2026-03-01T09:00:00Z') };
  const world = await acme({ now: () => new Date(clock.now) });
  const { github } = world;

  const pass = (sha: number | string, state: StatusState = 'success') =>
    github.postStatus(web, sha, { by: 'bob', state });

  /** What the group is now that was built for a pull request. */
  function group(number: number) {
    const found = github.mergeGroups(web).find(({ headRef }) => headRef.includes(`/pr-${number}-`));
    if (!found) throw new Error(`#${number} has no merge group`);
    return found;
  }

  return {
    ...world,
    clock,
    pass,
    group,

    /** Opens pull requests that pass, and queues them. */
    queue(count: number, options: MergeQueueOptions = {}, base = 'main'): number[] {
      github.protect(web, base, ['holdfast/freeze']);
      github.enableMergeQueue(web, base, options);
      return Array.from({ length: count }, () => {
        const { number } = github.openPullRequest(web, { author: 'eve', base });
        pass(number);
        github.enqueue(web, number, 'bob');
        return number;
      });
    },
    judge: (number: number, state: StatusState) => pass(group(number).headSha, state),
    inQueue: () => github.mergeQueue(web, 'main').map(({ number }) => number),
    states: () => github.mergeQueue(web, 'main').map(({ state }) => state),
    merged: () => github.merges(web).map(({ number }) => number),
    minutes(count: number) {
      clock.now += count * 60_000;
      github.advanceQueues();
    },

    /** Webhooks since the last look, each as a line, without those of statuses. */
    events(): string[] {
      const all = github.deliveries.splice(0).filter(({ event }) => event !== 'status');
      return all.map(({ event, action, payload }) => {
        const of = /\/pr-(\d+)-/.exec(payload.merge_group?.head_ref ?? '')?.[1] ?? payload.number;
        const why = payload.reason ? ` ${payload.reason}` : '';
        return `${event === 'merge_group' ? 'group ' : ''}#${of} ${action}${why}`;
      });
    },
  };
}
