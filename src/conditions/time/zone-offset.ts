import { Temporal } from 'temporal-polyfill';
import { oneDay } from './calendar.ts';

/** How far the wall clock of a zone is ahead of UTC, in milliseconds. */
export const offsetAt = (zone: string, now: number): number =>
  Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone).offsetNanoseconds / 1_000_000;

/**
 * The first instant after `from`, `until` included, at which the wall clock of a zone is set; null: it is not set.
 * Offsets are compared a day apart: no zone sets its clock and takes it back within a day. Temporal's own search
 * for transitions is not used: it looks through years where days are asked for.
 * @param offset that at `from`.
 */
export function nextOffsetChange(zone: string, offset: number, from: number, until: number): number | null {
  for (let low = from; low < until; low += oneDay) {
    const high = Math.min(low + oneDay, until);
    if (offsetAt(zone, high) !== offset) return firstOtherOffset(zone, offset, low, high);
  }
  return null;
}

function firstOtherOffset(zone: string, offset: number, low: number, high: number): number {
  while (high - low > 1) {
    const middle = low + Math.floor((high - low) / 2);
    if (offsetAt(zone, middle) === offset) low = middle;
    else high = middle;
  }
  return high;
}
