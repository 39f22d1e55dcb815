import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../src/time/clock.ts';
import type { Database } from '../../src/database/database.ts';

type Timer = { callback: () => void; due: number; every: number | null };

/** Statements of the queue, which timers send. */
const ofTheQueue = / jobs$/;

/**
 * A clock that only a test moves. Timers fire in `tick` alone. Its stopwatch shows the right time, which is GitHub's, and
 * which `now` differs from while the clock is set wrong.
 */
export class TestClock implements Clock {
  #now: number;
  #wrongBy = 0;
  /** In the order in which they are due. */
  readonly #timers: Timer[] = [];
  readonly #driven = new Set<Database>();
  readonly #statements = new Set<Promise<unknown>>();

  constructor(start: string | Date) {
    this.#now = new Date(start).getTime();
  }

  now(): number {
    return this.#now + this.#wrongBy;
  }

  elapsed(): number {
    return this.#now;
  }

  /** Sets the clock wrong, and that of the databases that it drives, as those of one machine. */
  async setWrong(milliseconds: number): Promise<void> {
    await this.#settled();
    this.#wrongBy = milliseconds;
    await this.#moveTo(this.#now);
  }

  /** The clock of another machine, which is ahead of this one. */
  ahead(milliseconds: number): Clock {
    return {
      now: () => this.#now + milliseconds,
      elapsed: () => this.elapsed(),
      setTimeout: (callback, wait) => this.setTimeout(callback, wait),
      clearTimeout: (timer) => this.clearTimeout(timer),
      setInterval: (callback, wait) => this.setInterval(callback, wait),
      clearInterval: (timer) => this.clearInterval(timer),
    };
  }

  setTimeout(callback: () => void, milliseconds: number): Timer {
    return this.#add({ callback, due: this.#now + Math.max(0, milliseconds), every: null });
  }

  setInterval(callback: () => void, milliseconds: number): Timer {
    return this.#add({ callback, due: this.#now + milliseconds, every: Math.max(1, milliseconds) });
  }

  clearTimeout(timer: unknown): void {
    const index = this.#timers.indexOf(timer as Timer);
    if (index !== -1) this.#timers.splice(index, 1);
  }

  clearInterval(timer: unknown): void {
    this.clearTimeout(timer);
  }

  /** Jumps to an instant and fires nothing. What it passed is due at the next `tick`, once, as after a machine slept. */
  async setTime(instant: string | Date): Promise<void> {
    await this.#settled();
    const now = new Date(instant).getTime();
    for (const timer of this.#timers) timer.due = Math.max(timer.due, now);
    await this.#moveTo(now);
  }

  /** Moves on, and fires each timer at its own time. After each it waits for the statements of the queue. */
  async tick(milliseconds: number): Promise<void> {
    await this.#settled();
    const end = this.#now + milliseconds;
    for (let next = this.#timers[0]; next && next.due <= end; next = this.#timers[0]) {
      this.#timers.shift();
      if (next.due > this.#now) await this.#moveTo(next.due);
      if (next.every !== null) {
        next.due += next.every;
        this.#add(next);
      }
      next.callback();
      await this.#settled();
    }
    if (this.#now < end) await this.#moveTo(end);
    await this.#settled();
  }

  /**
   * Gives a database this time: jobs are due by it.
   * @returns the database for the service. When it closes, the time is the server's again.
   */
  async drive(database: Database): Promise<Database> {
    await database.prisma.$transaction([
      database.prisma.$executeRaw`CREATE SCHEMA IF NOT EXISTS test_clock`,
      database.prisma.$executeRaw`CREATE TABLE IF NOT EXISTS test_clock.time (now timestamptz NOT NULL)`,
      database.prisma.$executeRaw`TRUNCATE test_clock.time`,
      database.prisma
        .$executeRaw`CREATE OR REPLACE FUNCTION job_now() RETURNS timestamptz LANGUAGE plpgsql STABLE
        AS 'BEGIN RETURN coalesce((SELECT now FROM test_clock.time), now()); END'`,
      database.prisma.$executeRaw`INSERT INTO test_clock.time VALUES (${new Date(this.now())})`,
    ]);
    this.#driven.add(database);
    const { sql } = database;
    const query: typeof sql.query = (name, text, values) => {
      const asked = sql.query<never>(name, text, values);
      if (ofTheQueue.test(name)) this.#watch(asked);
      return asked;
    };
    return {
      ...database,
      sql: { ...sql, query },
      close: async () => {
        if (this.#driven.delete(database)) await database.prisma.$executeRaw`DELETE FROM test_clock.time`;
        await database.close();
      },
    };
  }

  #watch(asked: Promise<unknown>): void {
    const ended = asked.catch(() => {}).finally(() => this.#statements.delete(ended));
    this.#statements.add(ended);
  }

  #add(timer: Timer): Timer {
    const index = this.#timers.findIndex(({ due }) => due > timer.due);
    this.#timers.splice(index === -1 ? this.#timers.length : index, 0, timer);
    return timer;
  }

  async #moveTo(instant: number): Promise<void> {
    this.#now = instant;
    const now = new Date(this.now());
    await Promise.all(
      [...this.#driven].map(({ prisma }) => prisma.$executeRaw`UPDATE test_clock.time SET now = ${now}`),
    );
  }

  async #settled(): Promise<void> {
    do {
      await Promise.all(this.#statements);
      await setImmediate();
    } while (this.#statements.size > 0);
  }
}
