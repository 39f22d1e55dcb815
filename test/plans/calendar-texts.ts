// Calendars in tests, and what their freezes are.
import { readEvents } from '../../src/plans/source/source-events.ts';

export const now = new Date('2026-11-15T00:00:00Z');
type Options = { titles?: string[] | null; timezone?: string; charset?: string | null };
export const read = (
  bytes: Uint8Array,
  { titles = null, timezone = 'Europe/Paris', charset = null }: Options = {},
) => {
  const { windows, warnings } = readEvents({ bytes, charset, titles, timezone, now });
  return { windows: windows.map(({ start, end }) => `${start} ${end}`).toSorted(), warnings };
};
export const file = (...lines: string[]): Buffer =>
  Buffer.from(['BEGIN:VCALENDAR', 'VERSION:2.0', ...lines, 'END:VCALENDAR', ''].join('\r\n'));
export const event = (...lines: string[]): string =>
  ['BEGIN:VEVENT', 'SUMMARY:Freeze', ...lines, 'END:VEVENT'].join('\r\n');
export const day = (date: string, next: string) => `${date}T00:00:00 ${next}T00:00:00`;
export const christmas = [day('2026-12-25', '2026-12-26')];
