/** Milliseconds within which every process has stepped. */
const stepsWithin = 10_000;

/** The time of the service and of the sandbox: the real clock, ahead by an offset that only grows. */
export class ServiceTime {
  readonly #steps: { at: number; offset: number }[] = [{ at: 0, offset: 0 }];

  get offset(): number {
    return this.#steps.at(-1)!.offset;
  }

  /** When it was stepped, in real time. */
  get steps(): number[] {
    return this.#steps.slice(1).map(({ at }) => at);
  }

  now(): number {
    return this.at(Date.now());
  }

  /** What it would show if no step came within the last seconds: processes step one after another. */
  before(): number {
    const real = Date.now();
    return real + this.#steps.findLast(({ at }) => at <= real - stepsWithin)!.offset;
  }

  /** What it showed at an instant of the real clock. */
  at(real: number): number {
    return real + this.#steps.findLast(({ at }) => at <= real)!.offset;
  }

  /** Moves it ahead; returns the offset. */
  step(milliseconds: number): number {
    this.#steps.push({ at: Date.now(), offset: this.offset + milliseconds });
    return this.offset;
  }
}
