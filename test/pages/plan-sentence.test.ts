import { expect, test } from 'vitest';
import { sentenceOf } from '../../src/pages/freeze-now/plan-sentence.ts';
import { occurrencesFrom } from '../../src/plans/occurrences.ts';

const now = new Date('2026-11-26T12:00:00Z');
const plan = (more: object) => ({
  ...{
    start: '2026-11-27T09:00:00',
    end: '2026-11-27T18:00:00',
    timezone: 'UTC',
    recurrence: null,
    source: null,
  },
  ...{ holds: ['merges'] as ('merges' | 'deployments')[], environments: ['*'] },
  ...more,
});
const by = (rule: string, more: object = {}) => ({
  recurrence: { rule, except: [] as string[], until: null, ...more },
});

test.each([
  [
    'Blocks merges every second Friday 09:00 to 18:00 from 27 Nov, not on 25 Dec, in 6 repositories.',
    by('FREQ=WEEKLY;INTERVAL=2', { except: ['2026-12-25'] }),
  ],
  [
    'Blocks merges every Friday 09:00 to 18:00 from 27 Nov, until 31 Mar 2027, in 6 repositories.',
    by('FREQ=WEEKLY;BYDAY=FR', { until: '2027-03-31' }),
  ],
  [
    'Blocks merges every day 22:00 to 06:00 the next day from 26 Nov, in 6 repositories.',
    { start: '2026-11-26T22:00:00', end: '2026-11-27T06:00:00', ...by('FREQ=DAILY') },
  ],
  [
    'Blocks merges every month on the last Friday, 09:00 to 18:00 from 27 Nov, 3 times, in 6 repositories.',
    by('FREQ=MONTHLY;BYDAY=-1FR;COUNT=3'),
  ],
  [
    'Blocks merges on Monday to Friday, 09:00 to 18:00 from 27 Nov, in 6 repositories.',
    by('FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'),
  ],
  [
    'Blocks merges every 2 weeks on Monday and Friday, 09:00 to 18:00 from 27 Nov, in 6 repositories.',
    by('FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR'),
  ],
  ['Blocks merges every 3 days 09:00 to 18:00 from 27 Nov, in 6 repositories.', by('FREQ=DAILY;INTERVAL=3')],
  ['Blocks merges every month on day 27, 09:00 to 18:00 from 27 Nov, in 6 repositories.', by('FREQ=MONTHLY')],
  [
    'Blocks merges every month on day 30, 09:00 to 18:00 from 30 Nov, in months that have one, in 6 repositories.',
    { start: '2026-11-30T09:00:00', end: '2026-11-30T18:00:00', ...by('FREQ=MONTHLY') },
  ],
  [
    'Blocks merges every 2 months on day 31, 09:00 to 18:00 from 31 Jan 2027, in months that have one, until 30 Dec 2027, not on 31 Mar 2027, in 6 repositories.',
    {
      ...{ start: '2027-01-31T09:00:00', end: '2027-01-31T18:00:00' },
      ...by('FREQ=MONTHLY;INTERVAL=2', { until: '2027-12-30', except: ['2027-03-31'] }),
    },
  ],
  [
    'Blocks merges every month on the last Friday, 09:00 to 18:00 from 27 Nov, in 6 repositories.',
    by('FREQ=MONTHLY;BYDAY=-1FR'),
  ],
  [
    'Blocks merges every month on the fifth Monday, 09:00 to 18:00 from 30 Nov, in months that have one, in 6 repositories.',
    { start: '2026-11-30T09:00:00', end: '2026-11-30T18:00:00', ...by('FREQ=MONTHLY;BYDAY=5MO') },
  ],
  ['Blocks merges every year 09:00 to 18:00 from 27 Nov, in 6 repositories.', by('FREQ=YEARLY')],
  [
    'Blocks merges every year on 29 February, 09:00 to 18:00 from 29 Feb 2028, in leap years, in 6 repositories.',
    { start: '2028-02-29T09:00:00', end: '2028-02-29T18:00:00', ...by('FREQ=YEARLY') },
  ],
  ['Blocks merges from Fri 27 Nov, 09:00 to Fri 27 Nov, 18:00, in 6 repositories.', {}],
  ['Blocks merges from Fri 27 Nov, 09:00 until somebody ends it, in 6 repositories.', { end: null }],
  [
    'Blocks merges and deployments to prod-* from Fri 27 Nov, 09:00 to Fri 27 Nov, 18:00, in 6 repositories.',
    { holds: ['merges', 'deployments'], environments: ['prod-*'] },
  ],
  [
    'Blocks merges every Friday 09:00 to 18:00 from 27 Nov, not on 4 Dec, 11 Dec, 18 Dec, 25 Dec and 1 more day, in 6 repositories.',
    by('FREQ=WEEKLY', { except: ['2026-12-04', '2026-12-11', '2026-12-18', '2026-12-25', '2027-01-01'] }),
  ],
])('%s', (sentence, more) => {
  const said = plan(more);
  const first = occurrencesFrom(said, now).next().value ?? undefined;
  expect(sentenceOf(said, '6 repositories', first, '2026-11-26T12:00:00', false)).toBe(sentence);
});
