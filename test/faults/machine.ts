// Bounds in real time are meant for an ordinary machine that has nothing else to do.
import { ordinaryWork } from '../support/cpu-time.ts';

/** Milliseconds of work: so long that a busy machine takes turns. */
const ordinary = 100;
const every = 1_000;
/** So many seconds' delays count. */
const counted = 30;

/** How slow the machine is now: how long a piece of work takes, and how late its timers are. */
export class Machine {
  #work = 1;
  readonly #delays: number[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor() {
    this.measure();
    let due = performance.now() + every;
    this.#timer = setInterval(() => {
      this.#delays.push(performance.now() - due);
      if (this.#delays.length > counted) this.#delays.shift();
      due = performance.now() + every;
    }, every);
  }

  /** Does the work: nothing else happens in this process meanwhile. */
  measure(): void {
    const began = performance.now();
    ordinaryWork(ordinary);
    this.#work = (performance.now() - began) / ordinary;
  }

  /** The time here that stands for so much on an ordinary machine: no less, and what this one lately stood still. */
  allow(milliseconds: number): number {
    return milliseconds * Math.max(1, this.#work) + this.#delays.reduce((all, one) => all + one, 0);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
