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
  /** When a delivery about a pull request was last lost or late. */
  readonly #missed = new Map<number, number>();

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
      const number = delivery.payload.pull_request?.number as number | undefined;
      const isLost = delivery.outcome !== 'answered' || delivery.statusCode! >= 300;
      if (isLost && number !== undefined) this.#missed.set(number, now);
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
  isBlind(number: number): boolean {
    this.watch();
    const { deliveries } = this.#github;
    const underWay = deliveries.slice(this.#seenDeliveries);
    if (underWay.some(({ payload }) => payload.pull_request?.number === number)) return true;
    return this.isStale || this.#isUnseen(this.#missed.get(number));
  }

  /** Whether GitHub gave an old answer after the last whole and fresh look. */
  get isStale(): boolean {
    return this.#isUnseen(this.#github.chaos.events.findLast(({ kind }) => kind === 'stale')?.at);
  }

  /** Whether no whole and fresh look began since an instant. */
  #isUnseen(at = 0): boolean {
    const look = this.#github.requests.findLast(
      ({ operationName, status, asOf }) =>
        operationName === 'OpenPullRequests' && status === 200 && asOf === undefined,
    );
    return at > 0 && at >= (look?.at.getTime() ?? 0);
  }
}
