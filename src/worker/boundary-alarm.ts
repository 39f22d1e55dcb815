import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';

/** Behind the boundary, so that its job is due also by a database clock that is a little late. */
const margin = 20;
/** Set again by then at the latest; timers cannot wait for weeks. */
const longestWait = 3_600_000;

/**
 * Wakes the workers when the next freeze starts or ends, or when time alone next changes what one holds. The job
 * for it is durable and polling would find it; the alarm makes that a matter of milliseconds instead of half a
 * second.
 */
export class BoundaryAlarm {
  readonly #deps: Pick<Deps, 'db' | 'clock' | 'log'>;
  readonly #wake: () => void;
  #timer: unknown = null;

  constructor(deps: Pick<Deps, 'db' | 'clock' | 'log'>, wake: () => void) {
    this.#deps = deps;
    this.#wake = wake;
  }

  /** Sets the alarm to the next boundary that the database knows. Never throws: polling stands behind it. */
  async set(): Promise<void> {
    const { clock, log } = this.#deps;
    try {
      const next = await this.#nextBoundary();
      this.stop();
      if (!next) return;
      const wait = Math.min(longestWait, Math.max(0, next.getTime() - clock.now()) + margin);
      this.#timer = clock.setTimeout(() => {
        this.#wake();
        void this.set();
      }, wait);
    } catch (error) {
      log.warn({ err: error }, 'the alarm for the next boundary could not be set');
    }
  }

  stop(): void {
    this.#deps.clock.clearTimeout(this.#timer);
  }

  async #nextBoundary(): Promise<Date | null> {
    const { db, clock } = this.#deps;
    const soonest = async (field: 'startsAt' | 'endsAt') => {
      const where = { deletedAt: null, [field]: { gt: nowOf(clock) } };
      const freeze = await db.freeze.findFirst({ where, orderBy: { [field]: 'asc' } });
      return freeze?.[field] ?? null;
    };
    const changing = await db.repository.findFirst({
      where: { nextChangeAt: { gt: nowOf(clock) } },
      orderBy: { nextChangeAt: 'asc' },
    });
    const instants = [
      await soonest('startsAt'),
      await soonest('endsAt'),
      changing?.nextChangeAt ?? null,
    ].filter((instant) => instant !== null);
    return instants.sort((one, other) => one.getTime() - other.getTime())[0] ?? null;
  }
}
