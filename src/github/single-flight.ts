import { isTooManyRequests } from '../errors.ts';

/** Asks a question once, however many ask it at the same time. */
export class SingleFlight<Answer> {
  readonly #underWay = new Map<string, Promise<Answer>>();

  /** The answer that is under way for this key, or else that of `ask`. */
  async run(key: string, ask: () => Promise<Answer>): Promise<Answer> {
    const underWay = this.#underWay.get(key);
    if (underWay) {
      return underWay.catch((error: unknown) => {
        // The limit belonged to the first caller. One of the others asks for all of them.
        if (isTooManyRequests(error)) return this.run(key, ask);
        throw error;
      });
    }
    const answer = ask().finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, answer);
    return answer;
  }
}
