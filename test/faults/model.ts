import { all, type Condition, type Subject } from './conditions.ts';

/** What was sent to the service of a freeze, and what it acknowledged. */
export type ModelFreeze = {
  id: string;
  reason: string;
  startsAt: number;
  /** Infinity: no end. */
  endsAt: number;
  matching: Condition[];
  exclude: Condition[];
  isDeleted: boolean;
  /** A change of it is under way: nobody can say yet what it is. */
  isChanging: boolean;
};

type Scopes = Subject['scopes'];

/** A pull request as the sandbox tells it. */
export type Shown = { number: number; state: string; headSha: string } & Omit<Subject, 'scopes'>;

/** A freeze that holds a pull request; not `isKnown`: only because conditions could not be judged. */
type Hold = { pr: Shown; freeze: ModelFreeze; isKnown: boolean };

const unknown = 'could not be judged: CI says that it touches every scope';

/** What a head SHA must show: one of these texts, where freezes end together. */
export type Expected = { state: 'pending' | 'success'; descriptions: string[] };

/**
 * What should be true, in as few lines as possible and without a line of the service's own code: the freezes and
 * scopes that were acknowledged, judged on what the sandbox shows.
 */
export class Model {
  readonly freezes: ModelFreeze[] = [];
  readonly #scopes = new Map<number, Scopes>();
  /** Pull requests whose scopes are being pushed. */
  readonly scopesChanging = new Set<number>();

  scopesOf(number: number): Scopes {
    return this.#scopes.get(number) ?? { names: [], all: false };
  }

  setScopes(number: number, scopes: Scopes): void {
    this.#scopes.set(number, scopes);
  }

  /** Neither deleted nor ended. */
  living(at: number): ModelFreeze[] {
    return this.freezes.filter((freeze) => !freeze.isDeleted && at < freeze.endsAt);
  }

  /** The freezes that hold a pull request at an instant. What is not known holds. */
  holding(pr: Shown, at: number): Hold[] {
    const subject = { ...pr, scopes: this.scopesOf(pr.number) };
    return this.living(at).flatMap((freeze): Hold[] => {
      const { startsAt, matching, exclude } = freeze;
      const isMatched = all(matching).holds(subject, at, false);
      const isExcluded = exclude.length > 0 && all(exclude).holds(subject, at, false);
      if (startsAt > at || isMatched === false || isExcluded === true) return [];
      return [{ pr, freeze, isKnown: isMatched !== null && isExcluded !== null }];
    });
  }

  /** Whether it is frozen beyond doubt: by a freeze that was acknowledged, on facts that were. */
  surelyHolds(pr: Shown, at: number): boolean {
    if (this.scopesChanging.has(pr.number)) return false;
    return this.holding(pr, at).some(({ freeze }) => !freeze.isChanging);
  }

  /** The status of a head SHA, for all open pull requests that share it. */
  expected(sharing: Shown[], at: number): Expected {
    const holds = sharing.flatMap((pr) => this.holding(pr, at));
    if (holds.length === 0) return { state: 'success', descriptions: ['No freeze holds this pull request.'] };
    const last = Math.max(...holds.map(({ freeze }) => freeze.endsAt));
    const more = new Set(holds.map(({ freeze }) => freeze.id)).size - 1;
    const descriptions = holds
      .filter(({ freeze }) => freeze.endsAt === last)
      .map(({ pr, freeze, isKnown }) => {
        const who = sharing.length > 1 ? `#${pr.number} is frozen` : 'Frozen';
        const until = last === Infinity ? 'until removed' : `until ${spoken(last)} UTC`;
        return `${who} ${until}${more > 0 ? ` (+${more} more)` : ''}: ${isKnown ? freeze.reason : unknown}`;
      });
    return { state: 'pending', descriptions };
  }
}

/** `2026-03-01 10:00`, with seconds where there are some. */
function spoken(instant: number): string {
  const text = new Date(instant).toISOString().slice(0, 19).replace('T', ' ');
  return text.endsWith(':00') ? text.slice(0, 16) : text;
}
