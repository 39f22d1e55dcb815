import { expect } from 'vitest';
import type { ClockTest } from '../../../src/conditions/time/wall-clock.ts';
import { ParseError } from '../../../src/conditions/scanner.ts';

/** Why a text is refused, and where; null if it is not. */
export function refusalOf(read: () => unknown): { message: string; at: number } | null {
  try {
    read();
    return null;
  } catch (error) {
    if (error instanceof ParseError) return { message: error.message, at: error.offset };
    throw error;
  }
}

/** The next changes from an instant on, with what holds from each on: `+2026-03-01T09:00:00.000Z`. */
export function changesFrom(clock: ClockTest, instant: string, count: number): string[] {
  const changes = [];
  let now: number | null = Date.parse(instant);
  while (changes.length < count) {
    const before: boolean = clock.holds(now);
    now = clock.nextChange(now);
    if (now === null) return [...changes, 'never'];
    expect(clock.holds(now - 1)).toBe(before);
    expect(clock.holds(now)).toBe(!before);
    changes.push(`${before ? '-' : '+'}${new Date(now).toISOString()}`);
  }
  return changes;
}
