import { expect } from 'vitest';
import type { ClockTest } from '../../../src/conditions/time/clock-test.ts';
import type { Parsed } from '../../../src/conditions/time/parsed.ts';

/** The result of reading. The test fails if it was refused. */
export function valueOf<Value>(parsed: Parsed<Value>): Value {
  if (!parsed.ok) expect.fail(parsed.message);
  return parsed.value;
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
