import { TestClock } from 'pg-boss';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { BoundaryAlarm } from '../../src/worker/boundary-alarm.ts';
import { openTestDatabase } from '../support/database.ts';

let database: Database;

beforeAll(async () => {
  database = await openTestDatabase();
  const seenAt = new Date();
  await database.prisma.account.create({
    data: { id: 1n, login: 'acme', loginKey: 'acme', type: 'Organization', seenAt },
  });
  await database.prisma.repository.create({
    data: { id: 1n, accountId: 1n, name: 'web', nameKey: 'web', private: false, archived: false, seenAt },
  });
});
afterAll(() => database.close());

async function addFreeze(
  startsAt: string,
  endsAt: string | null,
  deletedAt: Date | null = null,
): Promise<void> {
  const by = { type: 'user', id: 1, name: 'ada' };
  await database.prisma.freeze.create({
    data: {
      id: crypto.randomUUID(),
      repositoryId: 1n,
      reason: '',
      start: startsAt,
      timezone: 'UTC',
      startsAt: new Date(startsAt),
      endsAt: endsAt && new Date(endsAt),
      matchingConditions: [],
      excludeConditions: [],
      createdAt: new Date(startsAt),
      createdBy: by,
      updatedAt: new Date(startsAt),
      updatedBy: by,
      deletedAt,
    },
  });
}

test('the alarm wakes at the next start or end, and no later than 50 ms behind it', async () => {
  await addFreeze('2026-03-01T08:00:00Z', '2026-03-01T09:30:00Z');
  await addFreeze('2026-03-01T09:10:00Z', null);
  await addFreeze('2026-03-01T09:05:00Z', null, new Date());
  const clock = new TestClock('2026-03-01T09:00:00Z');
  const wake = vi.fn();
  const alarm = new BoundaryAlarm({ db: database.prisma, clock, log: pino({ level: 'silent' }) }, wake);

  await alarm.set();
  await clock.tick(10 * 60_000 - 1);
  expect(wake).not.toHaveBeenCalled();
  await clock.tick(50);
  expect(wake).toHaveBeenCalledTimes(1);

  await alarm.set();
  await clock.tick(20 * 60_000 - 100);
  expect(wake).toHaveBeenCalledTimes(1);
  await clock.tick(100);
  expect(wake).toHaveBeenCalledTimes(2);

  await alarm.set();
  alarm.stop();
  await clock.tick(365 * 24 * 3_600_000);
  expect(wake).toHaveBeenCalledTimes(2);
});
