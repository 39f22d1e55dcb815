import { now, schedule } from './attribute.ts';

/** The attributes that follow the clock. */
export const timeAttributes = {
  'current-datetime': now(
    'clock',
    'the current time; `=` and `!=` take an interval, the orderings a timestamp',
    'nobody',
  ),
  schedule: schedule('clock', 'whether the current time is in the named days and hours', 'nobody'),
} as const;
