import { Temporal } from 'temporal-polyfill';
import { toLocalTime } from '../../time/local-time.ts';

/** How long a freeze that starts now lasts. */
export const durations = {
  '1h': '1 hour',
  '2h': '2 hours',
  tomorrow: 'Until tomorrow 08:00',
  open: 'Until I remove it',
} as const;
export type Duration = keyof typeof durations;

export const isDuration = (text: string): text is Duration => Object.hasOwn(durations, text);

const minutes = { '1h': 60, '2h': 120 } as const;

/** The wall-clock end in a zone; null if it has no end. */
export function endOf(duration: Duration, now: Date, zone: string): string | null {
  if (duration === 'open') return null;
  if (duration !== 'tomorrow') return toLocalTime(new Date(now.getTime() + minutes[duration] * 60_000), zone);
  const today = Temporal.PlainDate.from(toLocalTime(now, zone).slice(0, 10));
  return `${today.add({ days: 1 })}T08:00:00`;
}
