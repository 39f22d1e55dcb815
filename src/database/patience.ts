import { AsyncLocalStorage } from 'node:async_hooks';
import { within } from '../time/clock.ts';
import { DatabaseTrouble } from './trouble.ts';

/** Milliseconds that a request waits for the database at once: for a connection and an answer together. */
export const requestPatience = 5_000;
/** Milliseconds for a connection, whoever asks. */
export const connectionPatience = 5_000;
/** Milliseconds for a statement of a job. PostgreSQL ends a longer one. */
export const statementPatience = 10_000;

/** Somebody who waits for the database, for a limited time without an answer. */
class Asker {
  readonly #patience: number;
  /** Since when it has no answer. */
  #since: number | null = null;

  constructor(patience: number) {
    this.#patience = patience;
  }

  left(): number {
    this.#since ??= performance.now();
    return this.#since + this.#patience - performance.now();
  }

  hear(): void {
    this.#since = null;
  }

  giveUp(): void {
    this.#since = -Infinity;
  }
}

/** Who asks is known wherever a statement is sent, so that nobody has to hand it through. */
const askers = new AsyncLocalStorage<Asker>();

/**
 * Does work that waits for the database for a limited time. After one answer did not come in time, it asks nothing more.
 * Other work has `connectionPatience` and `statementPatience`.
 */
export const withPatience = <Result>(milliseconds: number, work: () => Result): Result =>
  askers.run(new Asker(milliseconds), work);

/** How many milliseconds the present work waits for its next answer. Not positive: it asks nothing more. */
export const patienceLeft = (): number => askers.getStore()?.left() ?? statementPatience;

/** The database answered the present work, also with an error. */
export const noteAnswer = (): void => askers.getStore()?.hear();

/** An answer did not come in time. */
export const noteSilence = (): void => askers.getStore()?.giveUp();

/** Waits for what others asked for as long as the present work may. @throws DatabaseTrouble */
export async function inPatience<Answer extends object>(asked: Promise<Answer>): Promise<Answer> {
  const answer = await within(Math.max(0, patienceLeft()), asked);
  if (answer === null) throw tooLate();
  return answer;
}

/** Somebody has waited long enough, and does not ask again. */
export const tooLate = (): DatabaseTrouble => new DatabaseTrouble('silent', false);
