import { now, schedule } from './attribute.ts';

/** What the clock says. */
export const timeAttributes = {
  'current-datetime': now('clock', 'now; `=` and `!=` take an interval, the orderings a timestamp', 'nobody'),
  schedule: schedule('clock', 'whether now lies in the named days and hours', 'nobody'),
} as const;
