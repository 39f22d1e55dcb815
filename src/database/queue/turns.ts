import type { Takers } from './define-task.ts';
import type { TakenJob } from './queue.ts';

/** A batch that a taker works on, and whose it is. */
export type Batch = { jobs: TakenJob[]; group: string; owner: string };

type Rules = Pick<Takers, 'takers' | 'jobs' | 'newestToo' | 'together' | 'ofOwner'>;
/** What waits, and whether the next one is that which was sent last. */
type Waiting = { jobs: TakenJob[]; isNewestNext: boolean };

/** How many takers work on one group at once, so that an event need not wait for a slow look at another one. */
const mostOfGroup = 3;
/** The share of the takers that work for one owner at once. */
const mostOfOwner = 1 / 2;
/** How many jobs for each taker wait for their turn in this process before it leaves the others to other processes. */
const mostInTurn = 16;
/** The same where it takes the newest too. */
const mostOfNewest = 128;

/**
 * The jobs of one task that this process took and that no taker works on yet. A group or an owner that GitHub answers
 * slowly keeps its own jobs waiting, and no others.
 */
export class Turns {
  readonly #rules: Rules;
  /** By group, in the order in which the groups came. */
  #waiting = new Map<string, Waiting>();
  #size = 0;
  readonly #groups = new Map<string, number>();
  readonly #owners = new Map<string, number>();

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  /** How many jobs wait. */
  get size(): number {
    return this.#size;
  }

  /**
   * Whether this process takes no more: what waits is of owners that have their share of the takers. Of a task that takes
   * the newest too, it takes some whenever it hears of one, because that may be of another owner.
   */
  get isCrowded(): boolean {
    return this.#size >= mostInTurn * this.#rules.takers;
  }

  /** Whether so many wait that it takes not even the newest. */
  get isFull(): boolean {
    return this.#size >= mostOfNewest * this.#rules.takers;
  }

  add(taken: TakenJob[]): void {
    const { newestToo, together } = this.#rules;
    this.#size += taken.length;
    for (const each of newestToo ? taken.toSorted(bySending) : taken) {
      const group = together?.(each.job) ?? each.job.lane ?? each.job.owner ?? '';
      const waiting = this.#waiting.get(group);
      if (waiting) waiting.jobs.push(each);
      else this.#waiting.set(group, { jobs: [each], isNewestNext: false });
    }
  }

  /** The next batch whose turn it is; null if none may begin now. Call `end` when it has ended. */
  next(): Batch | null {
    for (const [group, waiting] of this.#waiting) {
      const owner = ownerOf(waiting.jobs[0]!);
      if (this.#isFull(group, owner)) continue;
      const most = this.#rules.jobs;
      const jobs = waiting.isNewestNext ? waiting.jobs.splice(-most) : waiting.jobs.splice(0, most);
      this.#size -= jobs.length;
      waiting.isNewestNext = (this.#rules.newestToo ?? false) && !waiting.isNewestNext;
      // Behind the other groups.
      this.#waiting.delete(group);
      if (waiting.jobs.length > 0) this.#waiting.set(group, waiting);
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
    const all = [...this.#waiting.values()].flatMap(({ jobs }) => jobs);
    this.#waiting = new Map();
    this.#size = 0;
    return all;
  }

  #isFull(group: string, owner: string): boolean {
    const { takers, together, ofOwner = Math.ceil(takers * mostOfOwner) } = this.#rules;
    const isFull = (of: Map<string, number>, key: string, most: number) => (of.get(key) ?? 0) >= most;
    return (
      (together !== undefined && isFull(this.#groups, group, mostOfGroup)) ||
      isFull(this.#owners, owner, ofOwner)
    );
  }
}

/** A job that is for no owner in particular waits for no other. */
const ownerOf = ({ job }: TakenJob): string => job.owner ?? `alone ${job.about}`;

const bySending = (one: TakenJob, other: TakenJob): number => Number(one.id - other.id);

function count(of: Map<string, number>, key: string, more: number): void {
  const sum = (of.get(key) ?? 0) + more;
  if (sum === 0) of.delete(key);
  else of.set(key, sum);
}
