import { anotherApp, type MadeApp } from './app-credentials-store.ts';

/**
 * The returns from GitHub that were used. Each state works once. GitHub hands out credentials only once, so an App that
 * could not be saved waits here for the next try.
 */
export class Attempts {
  readonly #taken = new Set<string>();
  readonly #made = new Map<string, MadeApp>();
  #turns: Promise<void> = Promise.resolve();
  #isKept = false;

  /** False if the state was used before or is in use. */
  take(state: string): boolean {
    if (this.#taken.has(state)) return false;
    this.#taken.add(state);
    return true;
  }

  /** Lets the same state be used again. */
  release(state: string): void {
    this.#taken.delete(state);
  }

  remember(state: string, app: MadeApp): void {
    this.#made.set(state, app);
  }

  made(state: string): MadeApp | undefined {
    return this.#made.get(state);
  }

  /**
   * Saves the first App only, one attempt at a time. A file, unlike the database, would not refuse a second App.
   * @throws Refusal conflict if another App was saved; what `keep` throws, after which the next attempt may save.
   */
  async keepFirst(keep: () => Promise<void>): Promise<void> {
    const turn = this.#turns.then(async () => {
      if (this.#isKept) throw anotherApp();
      await keep();
      this.#isKept = true;
    });
    this.#turns = turn.catch(() => {});
    await turn;
  }
}
