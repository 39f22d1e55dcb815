import { expect, test } from 'vitest';
import { clockChangeAt } from '../../src/time/local-time.ts';

test.each([
  ['2026-03-29T01:59:59', 'Europe/Paris', null],
  ['2026-03-29T02:00:00', 'Europe/Paris', 'skipped'],
  ['2026-03-29T02:59:59', 'Europe/Paris', 'skipped'],
  ['2026-03-29T03:00:00', 'Europe/Paris', null],
  ['2026-10-25T02:00:00', 'Europe/Paris', 'doubled'],
  ['2026-10-25T03:00:00', 'Europe/Paris', null],
  ['2011-12-30T12:00:00', 'Pacific/Apia', 'skipped'],
  ['2026-10-25T02:00:00', 'UTC', null],
])('%s in %s: %s', (local, zone, change) => {
  expect(clockChangeAt(local, zone)).toBe(change);
});
