// What a wrong clock stored in the future, in every column that orders, paces, leases or puts off work.
import { afterAll, beforeAll, expect, test } from 'vitest';
import pino from 'pino';
import type { SqlConnection, Database } from '../../src/database/database.ts';
import { correctInstantsAhead, limits } from '../../src/server/instants-ahead.ts';
import { openTestDatabase } from '../support/database.ts';
import { fillTables, readColumns } from '../support/fill-tables.ts';
import { TestClock } from '../support/test-clock.ts';

const clock = new TestClock('2026-03-01T12:00:00Z');
const now = clock.now();
const margin = 60_000;
const logged: string[] = [];
const log = pino({ level: 'warn', base: null }, { write: (line: string) => void logged.push(line) });

let database: Database;
beforeAll(async () => {
  database = await clock.drive(await openTestDatabase());
  await database.prisma.$transaction(async (tx) => {
    const connection: SqlConnection = {
      script: (sql) => tx.$executeRawUnsafe(sql),
      query: async (sql) => ({ rows: await tx.$queryRawUnsafe(sql) }),
    };
    await fillTables(connection, 1, await readColumns(connection));
    await tx.$executeRaw`UPDATE deployments SET state = 'waiting'`;
    await tx.$executeRaw`UPDATE outgoing_deliveries SET attempts = 0`;
  });
});
afterAll(() => database.close());

const rows = Object.entries(limits).flatMap(([table, its]) =>
  its.map(({ column, most }) => ({ table, column, most })),
);

/** Stores an instant, corrects, and reads it. */
async function corrected({ table, column }: (typeof rows)[number], ahead: number): Promise<number | null> {
  await database.prisma.$executeRawUnsafe(`UPDATE ${table} SET ${column} = $1`, new Date(now + ahead));
  await correctInstantsAhead({ ...database, clock, log });
  const [row] = await database.prisma.$queryRawUnsafe<[{ at: Date | null }]>(
    `SELECT ${column} AS at FROM ${table}`,
  );
  return row.at && row.at.getTime() - now;
}

test.each(rows)('$table: $column', async (row) => {
  logged.length = 0;
  // As far ahead as replicas may differ, it stays.
  const believed = row.most === 0 ? margin : row.most;
  expect([await corrected(row, believed), logged]).toEqual([believed, []]);
  const after = await corrected(row, row.most + 8 * 3_600_000);
  expect(after ?? 0).toBeLessThanOrEqual(0);
  expect(logged.join()).toContain(`"${row.table}":1`);
});
