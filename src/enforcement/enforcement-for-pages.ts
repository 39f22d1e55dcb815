import type { Clock } from '../clock.ts';
import type { Deps } from '../deps.ts';
import type { FoundRepository } from '../repositories/find-repository.ts';
import { within } from '../within.ts';
import { checkEnforcement, type EnforcementReport } from './check-enforcement.ts';

/** Milliseconds that a report is shown again: each costs GitHub calls, and people load pages as often as they like. */
const freshFor = 60_000;
/** One that says that something is missing, shorter: whoever mends it loads the page again. */
const missingFreshFor = 10_000;
/** Milliseconds that a page waits for a report; the look itself goes on for the next one. */
const patience = 3_000;
const mostKept = 1_000;

type Look = { report: Promise<EnforcementReport>; until: number };

/** Whether freezes are enforced, for pages: one look serves everybody, however many ask. */
export class EnforcementForPages {
  readonly #clock: Clock;
  readonly #looks = new Map<bigint, Look>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @returns null while the look is under way for longer than a page waits. */
  async get(deps: Deps, repository: FoundRepository): Promise<EnforcementReport | null> {
    const known = this.#looks.get(repository.id);
    const look = known && known.until > this.#clock.now() ? known : this.#begin(deps, repository);
    return within(patience, look.report);
  }

  #begin(deps: Deps, repository: FoundRepository): Look {
    const now = this.#clock.now();
    const look = { report: checkEnforcement(deps, repository), until: now + freshFor };
    look.report.then(
      ({ enforced }) => {
        if (enforced !== true) look.until = now + missingFreshFor;
      },
      // It fails only where our database does; then the next page looks again.
      () => this.#looks.delete(repository.id),
    );
    if (this.#looks.size >= mostKept) this.#looks.clear();
    this.#looks.set(repository.id, look);
    return look;
  }
}
