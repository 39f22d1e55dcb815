import { type DatabaseTrouble, lastsFor, type TroubleKind } from './trouble.ts';

/** Milliseconds until the same trouble is told again. */
const tellEvery = 60_000;

/** Gets trouble that is news, and null when the database answers again. */
type Tell = (trouble: DatabaseTrouble | null) => void;

type Noted = { trouble: DatabaseTrouble; at: number };

/**
 * What is wrong with a database, as this process found out by its own questions. Whether an answer shows that it is over
 * depends on the kind: a full disk is read as well as any other.
 */
export class KnownTrouble {
  readonly #noted = new Map<TroubleKind, Noted>();
  readonly #toldAt = new Map<TroubleKind, number>();
  readonly #tell: Tell;

  constructor(tell: Tell = () => {}) {
    this.#tell = tell;
  }

  /** A question failed because of it. */
  note(trouble: DatabaseTrouble): void {
    const at = performance.now();
    // What an answer ends is one outage, however its failures change.
    if (lastsFor(trouble.kind) === null)
      for (const kind of this.#noted.keys()) if (lastsFor(kind) === null) this.#noted.delete(kind);
    this.#noted.set(trouble.kind, { trouble, at });
    if (at - (this.#toldAt.get(trouble.kind) ?? -Infinity) < tellEvery) return;
    this.#toldAt.set(trouble.kind, at);
    this.#tell(trouble);
  }

  /** The database answered a question. @param askedAt by `performance.now()`: what failed later is not over. */
  noteAnswer(askedAt: number): void {
    if (this.#noted.size === 0) return;
    for (const [kind, { at }] of this.#noted) if (lastsFor(kind) === null && at <= askedAt) this.end(kind);
  }

  /** It is known to be over. */
  end(kind: TroubleKind): void {
    if (this.#noted.delete(kind) && this.#noted.size === 0) this.#tell(null);
  }

  /** What is wrong now, the newest first. */
  now(): DatabaseTrouble[] {
    const now = performance.now();
    const isOver = ([kind, { at }]: [TroubleKind, Noted]) => now - at >= (lastsFor(kind) ?? Infinity);
    for (const each of this.#noted) if (isOver(each)) this.end(each[0]);
    return [...this.#noted.values()]
      .toSorted((one, other) => other.at - one.at)
      .map(({ trouble }) => trouble);
  }
}
