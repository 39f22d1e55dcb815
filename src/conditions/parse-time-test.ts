import type { Comparison, Range, Test } from './ast.ts';
import { ConditionError } from './condition-error.ts';
import { parseInterval } from './time/interval.ts';
import type { Parsed } from './time/parsed.ts';
import { parseAgo } from './time/relative.ts';
import { parseSchedule } from './time/schedule.ts';
import { parseTimestamp } from './time/timestamp.ts';

/** Reads the value for a timestamp: an instant, or a length of time before now. @throws ConditionError */
export function parseInstantTest(operator: Range, raw: string, column: number): Test {
  const ago = parseAgo(raw);
  if (ago) return { type: 'age', operator, ago: valueOf(ago, column) };
  return { type: 'instant', operator, at: valueOf(parseTimestamp(raw), column) };
}

/** Reads the value for the current time: a schedule, an interval, or an instant. @throws ConditionError */
export function parseClockTest(
  type: 'schedule' | 'now',
  operator: Comparison,
  raw: string,
  column: number,
): Test {
  if (operator === '=' || operator === '!=') {
    const isInterval = raw.replace(/\[[^\]]*\]/g, '').includes('/');
    if (type === 'now' && !isInterval) {
      const message =
        'Invalid interval. `=` and `!=` take one such as 2026-12-24T18:00/2027-01-02T09:00[Europe/Paris]; for one instant use `>=` or `<`';
      throw new ConditionError(message, column);
    }
    const clock = valueOf(type === 'schedule' ? parseSchedule(raw) : parseInterval(raw), column);
    return { type: 'clock', operator, clock };
  }
  if (parseAgo(raw)) {
    throw new ConditionError(
      'Invalid timestamp. A time ago is not for `current-datetime`: now is never ago',
      column,
    );
  }
  return { type: 'now', operator, at: valueOf(parseTimestamp(raw), column) };
}

function valueOf<Value>(parsed: Parsed<Value>, column: number): Value {
  if (parsed.ok) return parsed.value;
  throw new ConditionError(parsed.message, column + parsed.at);
}
