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
  /** The plan that made it, whose id and start its own is put together of; absent: it was made by itself. */
  planId?: string;
  /** A change of it is under way: nobody can say yet what it is. */
  isChanging: boolean;
};

/** What was sent to the service of an exemption, and what it acknowledged. */
export type ModelExemption = {
  id: string;
  number: number;
  headSha: string;
  /** The base branch at the request. */
  base: string;
  anyHead: boolean;
  /** null: every freeze. */
  freezeIds: string[] | null;
  reason: string;
  expiresAt: number;
  state: 'requested' | 'approved' | 'denied' | 'revoked';
};

type Scopes = Subject['scopes'];

/** A pull request as the sandbox tells it. */
export type Shown = { number: number; state: string; headSha: string } & Omit<Subject, 'scopes'>;

/**
 * A freeze that would hold a pull request, and the exemption that lets it through, if any.
 * @property isKnown false: only because conditions could not be judged.
 */
type Hold = { pr: Shown; freeze: ModelFreeze; isKnown: boolean; exemption: ModelExemption | null };

const unknown = 'could not be judged: CI says that it touches every scope';

/** What a head SHA must show: one of these texts, where freezes end together. */
export type Expected = { state: 'pending' | 'success'; descriptions: string[] };

/**
 * What should be true, in as few lines as possible and without a line of the service's own code: the freezes, scopes and
 * exemptions that were acknowledged, judged on what the sandbox shows.
 */
export class Model {
  readonly freezes: ModelFreeze[] = [];
  readonly exemptions: ModelExemption[] = [];
  readonly #scopes = new Map<number, Scopes>();
  /** Pull requests whose scopes are being pushed. */
  readonly scopesChanging = new Set<number>();
  /** Pull requests of exemptions that are under way: each as often as there are some. */
  readonly deciding: number[] = [];

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

  /** What an exemption does is over: its time is up, its head or its base is not that of the pull request, or none of its freezes lives. */
  isOver({ expiresAt, freezeIds, ...exemption }: ModelExemption, pr: Shown, at: number): boolean {
    const lives = (id: string) => this.living(at).some((freeze) => freeze.id === id);
    const isPushed = !exemption.anyHead && exemption.headSha !== pr.headSha;
    const isMoved = isPushed || exemption.base !== pr.base;
    return (
      at >= expiresAt || isMoved || pr.state === 'merged' || (freezeIds !== null && !freezeIds.some(lives))
    );
  }

  /** Of several that let it through the one that lasts longest. */
  #exemptionOf(pr: Shown, freezeId: string, at: number): ModelExemption | null {
    const all = this.exemptions.filter(
      (each) =>
        each.state === 'approved' &&
        each.number === pr.number &&
        (each.freezeIds?.includes(freezeId) ?? true) &&
        !this.isOver(each, pr, at),
    );
    return all.toSorted((one, other) => other.expiresAt - one.expiresAt)[0] ?? null;
  }

  /** The freezes that hold a pull request at an instant. What is not known holds. */
  holding(pr: Shown, at: number): Hold[] {
    return this.#covering(pr, at).filter(({ exemption }) => exemption === null);
  }

  /** The freezes that would hold it, but for exemptions. */
  #covering(pr: Shown, at: number): Hold[] {
    const subject = { ...pr, scopes: this.scopesOf(pr.number) };
    return this.living(at).flatMap((freeze): Hold[] => {
      const { startsAt, matching, exclude } = freeze;
      const isMatched = all(matching).holds(subject, at, false);
      const isExcluded = exclude.length > 0 && all(exclude).holds(subject, at, false);
      if (startsAt > at || isMatched === false || isExcluded === true) return [];
      const isKnown = isMatched !== null && isExcluded !== null;
      return [{ pr, freeze, isKnown, exemption: this.#exemptionOf(pr, freeze.id, at) }];
    });
  }

  /** Whether it is frozen beyond doubt: by a freeze that was acknowledged, on facts that were. */
  surelyHolds(pr: Shown, at: number): boolean {
    if (this.scopesChanging.has(pr.number) || this.deciding.includes(pr.number)) return false;
    return this.holding(pr, at).some(({ freeze }) => !freeze.isChanging);
  }

  /** The status of a head SHA, for all open pull requests that share it. */
  expected(sharing: Shown[], at: number): Expected {
    const holds = sharing.flatMap((pr) => this.holding(pr, at));
    if (holds.length === 0) return { state: 'success', descriptions: this.#freeTexts(sharing, at) };
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

  #freeTexts(sharing: Shown[], at: number): string[] {
    const passes = sharing.flatMap((pr) => this.#covering(pr, at));
    const first = Math.min(...passes.map(({ exemption }) => exemption!.expiresAt));
    if (passes.length === 0) return ['No freeze holds this pull request.'];
    return passes
      .filter(({ exemption }) => exemption!.expiresAt === first)
      .map(({ pr, exemption }) => {
        const who = sharing.length > 1 ? `#${pr.number} is exempt` : 'Exempt';
        return `${who} until ${spoken(first)} UTC: ${exemption!.reason}`;
      });
  }
}

/** `2026-03-01 10:00`, with seconds where there are some. */
function spoken(instant: number): string {
  const text = new Date(instant).toISOString().slice(0, 19).replace('T', ' ');
  return text.endsWith(':00') ? text.slice(0, 16) : text;
}
