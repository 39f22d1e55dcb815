import { isTooManyRequests } from '../errors.ts';

/** Asks a question once for all callers that ask it at the same time. */
export class SingleFlight<Answer> {
  readonly #underWay = new Map<string, Promise<Answer>>();

  /** The answer under way for this key, or that of `ask`. */
  async run(key: string, ask: () => Promise<Answer>): Promise<Answer> {
    const underWay = this.#underWay.get(key);
    if (underWay) {
      return underWay.catch((error: unknown) => {
        // The limit was for the first caller. Another caller now asks for the rest.
        if (isTooManyRequests(error)) return this.run(key, ask);
        throw error;
      });
    }
    const answer = ask().finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, answer);
    return answer;
  }
}
