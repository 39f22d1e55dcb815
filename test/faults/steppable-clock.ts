import type { Clock } from '../../src/time/clock.ts';
import type { Database } from '../../src/database/database.ts';

type Timer = { callback: () => void; due: number; every: number | null; handle?: NodeJS.Timeout };

const longestTimeout = 2 ** 31 - 1;
/** Replicas replace the same function. */
const lock = 'SELECT pg_advisory_xact_lock(72707370)';

/**
 * The system's clock, ahead by an offset that can be made larger. Timers that a step passes fire at once, as after
 * a machine has slept. Jobs of the database that it drives are due by this clock as well.
 */
export class SteppableClock implements Clock {
  #offset: number;
  readonly #timers = new Set<Timer>();
  #driven: Database | null = null;
  #wrongBy = 0;
  /** Whether the database has this clock, and no other process uses it. */
  readonly #isOfDatabase: boolean;

  constructor(offset: number, isOfDatabase: boolean) {
    this.#offset = offset;
    this.#isOfDatabase = isOfDatabase;
  }

  now(): number {
    return this.elapsed() + this.#wrongBy;
  }

  /** The right time. */
  elapsed(): number {
    return Date.now() + this.#offset;
  }

  /** Somebody sets the clock of this machine wrong, or right. Timers go on. */
  async setWrong(milliseconds: number): Promise<void> {
    this.#wrongBy = milliseconds;
    if (this.#isOfDatabase) await this.#tellDatabase();
  }

  setTimeout(callback: () => void, milliseconds: number): Timer {
    return this.#add({ callback, due: this.elapsed() + milliseconds, every: null });
  }

  setInterval(callback: () => void, milliseconds: number): Timer {
    return this.#add({ callback, due: this.elapsed() + milliseconds, every: Math.max(1, milliseconds) });
  }

  clearTimeout(timer: unknown): void {
    if (this.#timers.delete(timer as Timer)) clearTimeout((timer as Timer).handle);
  }

  clearInterval(timer: unknown): void {
    this.clearTimeout(timer);
  }

  /** To an offset that is not smaller. */
  async step(offset: number): Promise<void> {
    this.#offset = Math.max(this.#offset, offset);
    await this.#tellDatabase();
    for (const timer of this.#timers) this.#arm(timer);
  }

  async drive(database: Database): Promise<void> {
    this.#driven = database;
    await this.#tellDatabase();
  }

  #add(timer: Timer): Timer {
    this.#timers.add(timer);
    this.#arm(timer);
    return timer;
  }

  #arm(timer: Timer): void {
    clearTimeout(timer.handle);
    const wait = Math.min(longestTimeout, Math.max(0, timer.due - this.elapsed()));
    timer.handle = setTimeout(() => this.#fire(timer), wait);
  }

  #fire(timer: Timer): void {
    if (timer.due > this.elapsed()) return this.#arm(timer);
    if (timer.every === null) this.#timers.delete(timer);
    else {
      timer.due = this.elapsed() + timer.every;
      this.#arm(timer);
    }
    timer.callback();
  }

  /** Tried until it works: the database may be restarting. */
  async #tellDatabase(): Promise<void> {
    while (this.#driven) {
      const { prisma } = this.#driven;
      const body = `SELECT now() + interval '${this.#offset + (this.#isOfDatabase ? this.#wrongBy : 0)} milliseconds'`;
      const define = `CREATE OR REPLACE FUNCTION job_now() RETURNS timestamptz AS $$ ${body} $$ LANGUAGE sql STABLE`;
      try {
        await prisma.$transaction([prisma.$executeRawUnsafe(lock), prisma.$executeRawUnsafe(define)]);
        return;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    }
  }
}
