import { oneDay } from './calendar.ts';
import type { Parsed } from './parsed.ts';
import { parsed, type TimeText } from './time-text.ts';

const oneMinute = 60_000;
const longest = 36_500 * oneDay;
const send =
  'Send days, hours and minutes in this order, such as `7 days ago` or `1 day 2 hours 30 minutes ago`';

/**
 * Reads how long ago: `7 days ago`, `1 day 2 hours 30 minutes ago`, `7 days 18:02 ago`.
 * @returns milliseconds; null when the text does not end in the word `ago`, so is no time ago at all.
 */
export function parseAgo(text: string): Parsed<number> | null {
  const trimmed = text.trimEnd();
  if (!/\bago$/i.test(trimmed)) return null;
  return parsed(text, (from) => {
    const begins = from.at;
    const days = takeCount(from, /(\d+)\s*days?\b\s*/iy);
    const clock = from.take(/(\d+):([0-5]\d)(?!\d)\s*/y);
    const hours = clock ? Number(clock[1]) : takeCount(from, /(\d+)\s*hours?\b\s*/iy);
    const minutes = clock ? Number(clock[2]) : takeCount(from, /(\d+)\s*minutes?\b\s*/iy);
    const isEmpty = days === null && hours === null && minutes === null;
    if (isEmpty || from.at !== trimmed.length - 'ago'.length) from.fail(`Invalid timestamp. ${send}`);
    const ago = (days ?? 0) * oneDay + ((hours ?? 0) * 60 + (minutes ?? 0)) * oneMinute;
    if (ago > longest) from.fail('Invalid timestamp. Send at most 36500 days', begins);
    return ago;
  });
}

function takeCount(from: TimeText, expression: RegExp): number | null {
  const match = from.take(expression);
  return match ? Number(match[1]) : null;
}
