import type { Condition, Subject } from './conditions.ts';

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

  /** The freezes that hold a pull request at an instant. */
  holding(pr: Shown, at: number): ModelFreeze[] {
    const subject = { ...pr, scopes: this.scopesOf(pr.number) };
    const all = (conditions: Condition[]) => conditions.every((condition) => condition.holds(subject, at));
    return this.living(at).filter(
      ({ startsAt, matching, exclude }) =>
        startsAt <= at && all(matching) && !(exclude.length > 0 && all(exclude)),
    );
  }

  /** Whether it is frozen beyond doubt: by a freeze that was acknowledged, on facts that were. */
  surelyHolds(pr: Shown, at: number): boolean {
    if (this.scopesChanging.has(pr.number)) return false;
    return this.holding(pr, at).some(({ isChanging }) => !isChanging);
  }

  /** The status of a head SHA, for all open pull requests that share it. */
  expected(sharing: Shown[], at: number): Expected {
    const holds = sharing.flatMap((pr) => this.holding(pr, at).map((freeze) => ({ pr, freeze })));
    if (holds.length === 0) return { state: 'success', descriptions: ['No freeze holds this pull request.'] };
    const last = Math.max(...holds.map(({ freeze }) => freeze.endsAt));
    const more = new Set(holds.map(({ freeze }) => freeze.id)).size - 1;
    const descriptions = holds
      .filter(({ freeze }) => freeze.endsAt === last)
      .map(({ pr, freeze }) => {
        const who = sharing.length > 1 ? `#${pr.number} is frozen` : 'Frozen';
        const until = last === Infinity ? 'until removed' : `until ${spoken(last)} UTC`;
        return `${who} ${until}${more > 0 ? ` (+${more} more)` : ''}: ${freeze.reason}`;
      });
    return { state: 'pending', descriptions };
  }
}

/** `2026-03-01 10:00`, with seconds where there are some. */
function spoken(instant: number): string {
  const text = new Date(instant).toISOString().slice(0, 19).replace('T', ' ');
  return text.endsWith(':00') ? text.slice(0, 16) : text;
}
