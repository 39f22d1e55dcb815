import { minute, hour, day } from './units.ts';

/** A length of time. Whole days follow the wall clock, the rest does not. */
export type ParsedDuration = { days: number; milliseconds: number };

/** Each unit with its words. There is no month, because its length varies. */
const units: [words: RegExp, length: Partial<ParsedDuration>][] = [
  [/^(?:m|min|mins|minute|minutes)$/, { milliseconds: minute }],
  [/^(?:h|hr|hrs|hour|hours)$/, { milliseconds: hour }],
  [/^(?:d|day|days)$/, { days: 1 }],
  [/^(?:w|week|weeks)$/, { days: 7 }],
];

/** Reads `2h`, `1h30m`, `90 minutes` or `3d`, each unit once. @returns null for any other text. */
export function parseDuration(text: string): ParsedDuration | null {
  const lower = text.trim().toLowerCase();
  if (!/^(?:\d{1,5} ?[a-z]+ ?)+$/.test(lower)) return null;
  const sum: ParsedDuration = { days: 0, milliseconds: 0 };
  const seen = new Set<RegExp>();
  for (const [, count, word] of lower.matchAll(/(\d+) ?([a-z]+)/g)) {
    const unit = units.find(([words]) => words.test(word!));
    if (!unit || seen.has(unit[0])) return null;
    seen.add(unit[0]);
    sum.days += Number(count) * (unit[1].days ?? 0);
    sum.milliseconds += Number(count) * (unit[1].milliseconds ?? 0);
  }
  return sum.days + sum.milliseconds > 0 ? sum : null;
}

/** A length where a day is always 24 hours. */
export const millisecondsOf = ({ days, milliseconds }: ParsedDuration): number => days * day + milliseconds;

/** A length for people, in its two greatest units: `2 days 14 h`, `1 h 30 min`, `less than a minute`. */
export function describeLength(milliseconds: number): string {
  const parts: [number, string][] = [
    [Math.floor(milliseconds / day), 'day'],
    [Math.floor((milliseconds % day) / hour), 'h'],
    [Math.floor((milliseconds % hour) / minute), 'min'],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  if (first === -1) return 'less than a minute';
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}${unit === 'day' && count > 1 ? 's' : ''}`)
    .join(' ');
}
