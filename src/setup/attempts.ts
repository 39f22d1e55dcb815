import { anotherApp, type MadeApp } from './app-credentials-store.ts';

/**
 * Which ways back from GitHub were taken: each state counts once. What GitHub hands out it hands out once, so an App
 * that could not be kept yet waits here for the next try.
 */
export class Attempts {
  readonly #taken = new Set<string>();
  readonly #made = new Map<string, MadeApp>();
  #turns: Promise<void> = Promise.resolve();
  #isKept = false;

  /** False where the state was used before, or is being used. */
  take(state: string): boolean {
    if (this.#taken.has(state)) return false;
    this.#taken.add(state);
    return true;
  }

  /** The same state may come again. */
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
   * Keeps an App, one at a time and once: what is kept in a file has no database that would refuse the second.
   * @throws Refusal conflict where another was kept; what `keep` throws, after which the next may try.
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
