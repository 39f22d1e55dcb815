/** Work that waits, and how its caller hears of its end. */
type Waiting = () => Promise<void>;

/**
 * Does one work at a time, taking what waits from both ends in turns: what waited longest, then what came last. Under a
 * load of thousands of jobs, a new request is served soon, step by step, and none of the others waits for ever.
 */
export class BothEnds {
  /** In the order of their coming. */
  readonly #waiting: Waiting[] = [];
  #isBusy = false;
  #isLast = false;

  /** Does a work when its turn comes. @returns what it returns. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => work().then(resolve, reject));
      if (!this.#isBusy) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    for (let next; (next = this.#next());) await next();
    this.#isBusy = false;
  }

  #next(): Waiting | undefined {
    this.#isLast = !this.#isLast;
    return this.#isLast ? this.#waiting.pop() : this.#waiting.shift();
  }
}
