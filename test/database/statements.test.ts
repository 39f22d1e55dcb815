import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { openTestDatabase } from '../support/database.ts';
import { expectAtMost, statementsDuring, statementsIn } from '../support/statements.ts';

test.each([
  ['SELECT 1', ['SELECT 1']],
  ['BEGIN; SELECT 1;\n;COMMIT;', ['BEGIN', 'SELECT 1', 'COMMIT']],
  [`SELECT ';', "a;b" -- one; two\n, 'it''s;'; SELECT 2`, [`SELECT ';', "a;b" \n, 'it''s;'`, 'SELECT 2']],
  [
    'DO $body$ BEGIN x; END; $body$; SELECT $1 /* ; */ - 2 / 1',
    ['DO $body$ BEGIN x; END; $body$', 'SELECT $1  - 2 / 1'],
  ],
])('statements of one message: %j', (text, statements) => {
  expect(statementsIn(text)).toEqual(statements);
});

test('more statements than may be are printed', () => {
  expectAtMost(1, ['SELECT 1']);
  expect(() => expectAtMost(1, ['SELECT  1', 'COMMIT'])).toThrow(
    '2 statements, and at most 1 may be:\n1. SELECT 1\n2. COMMIT',
  );
});

describe.skipIf(!inject('postgresUrl'))('counting (PostgreSQL)', () => {
  let database: Database;
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());

  test('sees the door and Prisma, and each BEGIN and COMMIT', async () => {
    const { prisma, sql } = database;
    expect(await statementsDuring(() => sql.query('test-one', 'SELECT 1'))).toEqual(['SELECT 1']);
    const inTransaction = () => sql.transaction(async (tx) => void (await tx.query('test-two', 'SELECT 2')));
    expect(await statementsDuring(inTransaction)).toEqual(['BEGIN', 'SELECT 2', 'COMMIT']);
    const withPrisma = () => prisma.$transaction((tx) => tx.$queryRaw`SELECT 3`);
    expect(await statementsDuring(withPrisma)).toEqual(['BEGIN', 'SELECT 3', 'COMMIT']);
  });
});
