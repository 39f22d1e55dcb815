import type { Sandbox } from '../../sandbox/github.ts';
import type { Fleet } from './fleet.ts';
import type { Machine } from './machine.ts';
import type { ServiceTime } from './service-time.ts';

/** So long after the last trouble, by the service's clock, every pause and every lease has run out. */
const longestPause = 65_000;
/** A healthy service that sees everything needs no longer for a change, in real time on an ordinary machine. */
const longestChange = 5_000;

/** What excuses the service: processes and a database that were down, and calls of GitHub that failed. */
export class Trouble {
  readonly kills: number[] = [];
  readonly restarts: number[] = [];
  isDatabaseDown = false;
  readonly #github: Sandbox;
  readonly #fleet: Fleet;
  readonly #time: ServiceTime;
  readonly #machine: Machine;
  /** What the pace of statuses adds to a change, in milliseconds of the service's clock. */
  readonly slowness: number;
  #last = 0;
  #seenEvents = 0;
  #seenDeliveries = 0;
  /** When a delivery about a pull request was last lost or late, by `acme/web#1`. */
  readonly #missed = new Map<string, number>();

  constructor(github: Sandbox, fleet: Fleet, time: ServiceTime, machine: Machine, slowness: number) {
    this.#github = github;
    this.#fleet = fleet;
    this.#time = time;
    this.#machine = machine;
    this.slowness = slowness;
  }

  /** To be called often. */
  watch(): void {
    const now = Date.now();
    const { chaos, deliveries } = this.#github;
    for (const event of chaos.events.slice(this.#seenEvents)) this.#last = Math.max(this.#last, event.at);
    this.#seenEvents = chaos.events.length;
    if (!this.#fleet.isWhole || this.isDatabaseDown) this.#last = now;
    // A delivery is under way for a while; those that still are will be looked at again.
    for (const [index, delivery] of [...deliveries.entries()].slice(this.#seenDeliveries)) {
      if (delivery.outcome === 'sending') return;
      this.#seenDeliveries = index + 1;
      const isLost = delivery.outcome !== 'answered' || delivery.statusCode! >= 300;
      const subject = subjectOf(delivery);
      if (isLost && subject !== null) this.#missed.set(subject, now);
    }
  }

  /** How long a change may take now. */
  get bound(): number {
    return this.#machine.allow(longestChange);
  }

  /** Whether the service was healthy for the whole bound until now, and owed nothing to what was before. */
  get isExcused(): boolean {
    this.watch();
    const since = Date.now() - this.bound;
    if (this.#last > since) return true;
    return this.#time.at(since) - this.#time.at(this.#last) < longestPause;
  }

  /** Whether the service cannot know how a pull request is: no whole and fresh look since it missed something. */
  isBlind(repository: string, number: number): boolean {
    this.watch();
    const { deliveries } = this.#github;
    const underWay = deliveries.slice(this.#seenDeliveries);
    const subject = `${repository}#${number}`;
    if (underWay.some((delivery) => subjectOf(delivery) === subject)) return true;
    return this.isStale(repository) || this.#isUnseen(repository, this.#missed.get(subject));
  }

  /** Whether GitHub gave an old answer after the last whole and fresh look at a repository. */
  isStale(repository: string): boolean {
    return this.#isUnseen(repository, this.#github.chaos.events.findLast(({ kind }) => kind === 'stale')?.at);
  }

  /** Whether no whole and fresh look began since an instant. */
  #isUnseen(name: string, at = 0): boolean {
    const look = this.#github.requests.findLast(
      ({ operationName, repository, status, asOf }) =>
        operationName === 'OpenPullRequests' && repository === name && status === 200 && asOf === undefined,
    );
    return at > 0 && at >= (look?.at.getTime() ?? 0);
  }
}

/** The pull request that a delivery is about: `acme/web#1`. */
function subjectOf({ payload }: Sandbox['deliveries'][number]): string | null {
  const number = payload.pull_request?.number as number | undefined;
  return number === undefined ? null : `${payload.repository.full_name}#${number}`;
}
