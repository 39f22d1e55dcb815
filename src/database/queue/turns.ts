import type { Takers } from './define-task.ts';
import type { TakenJob } from './queue.ts';

/** A batch that a taker works on, and whose it is. */
export type Batch = { jobs: TakenJob[]; group: string; owner: string };

type Rules = Pick<Takers, 'takers' | 'jobs' | 'together' | 'owner' | 'ofOwner'>;

/** How many takers work on one group at once, so that an event need not wait for a slow look at another one. */
const mostOfGroup = 3;
/** The share of the takers that work for one owner at once. */
const mostOfOwner = 1 / 2;

/**
 * The jobs of one task that this process took and that no taker works on yet. A group or an owner that GitHub answers
 * slowly keeps its own jobs waiting, and no others.
 */
export class Turns {
  readonly #rules: Rules;
  /** By group, in the order in which the groups came. */
  #waiting = new Map<string, TakenJob[]>();
  readonly #groups = new Map<string, number>();
  readonly #owners = new Map<string, number>();

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  /** How many jobs wait. */
  get size(): number {
    return [...this.#waiting.values()].reduce((sum, jobs) => sum + jobs.length, 0);
  }

  add(taken: TakenJob[]): void {
    for (const each of taken) {
      const group = this.#rules.together?.(each.job) ?? each.job.lane ?? '';
      const waiting = this.#waiting.get(group);
      if (waiting) waiting.push(each);
      else this.#waiting.set(group, [each]);
    }
  }

  /** The next batch whose turn it is; null if none may begin now. Call `end` when it has ended. */
  next(): Batch | null {
    for (const [group, waiting] of this.#waiting) {
      const owner = this.#rules.owner?.(waiting[0]!.job) ?? '';
      if (this.#isFull(group, owner)) continue;
      const jobs = waiting.splice(0, this.#rules.jobs);
      // Behind the other groups.
      this.#waiting.delete(group);
      if (waiting.length > 0) this.#waiting.set(group, waiting);
      count(this.#groups, group, 1);
      count(this.#owners, owner, 1);
      return { jobs, group, owner };
    }
    return null;
  }

  end({ group, owner }: Batch): void {
    count(this.#groups, group, -1);
    count(this.#owners, owner, -1);
  }

  /** Hands out what waits, without a taker. */
  clear(): TakenJob[] {
    const all = [...this.#waiting.values()].flat();
    this.#waiting = new Map();
    return all;
  }

  #isFull(group: string, owner: string): boolean {
    const { takers, together, owner: ownerOf, ofOwner = Math.ceil(takers * mostOfOwner) } = this.#rules;
    const isFull = (of: Map<string, number>, key: string, most: number) => (of.get(key) ?? 0) >= most;
    return (
      (together !== undefined && isFull(this.#groups, group, mostOfGroup)) ||
      (ownerOf !== undefined && isFull(this.#owners, owner, ofOwner))
    );
  }
}

function count(of: Map<string, number>, key: string, more: number): void {
  const sum = (of.get(key) ?? 0) + more;
  if (sum === 0) of.delete(key);
  else of.set(key, sum);
}
