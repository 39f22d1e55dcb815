import { Temporal } from 'temporal-polyfill';

/** What the clock of a zone does with a wall-clock time: it skips it, or shows it twice; null: neither. */
export function clockChangeAt(local: string, timezone: string): 'skipped' | 'doubled' | null {
  const wanted = Temporal.PlainDateTime.from(local);
  const earlier = wanted.toZonedDateTime(timezone, { disambiguation: 'earlier' });
  const later = wanted.toZonedDateTime(timezone, { disambiguation: 'later' });
  if (earlier.epochMilliseconds === later.epochMilliseconds) return null;
  return later.toPlainDateTime().equals(wanted) ? 'doubled' : 'skipped';
}
