// PostgreSQL inside the process, on a disk that is full.
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { openEmbedded } from '../../src/database/embedded.ts';
import { KnownTrouble } from '../../src/database/known-trouble.ts';
import { makeDisk, type SmallDisk, whyNoDisk } from '../support/small-disk.ts';

const whyNot = whyNoDisk();

const large = `INSERT INTO filled SELECT repeat(md5(i::text), 100) FROM generate_series(1, 2000) AS i`;

let disk: SmallDisk;
let database: Database;
let told: unknown[];
beforeEach(async ({ skip }) => {
  if (whyNot) skip(whyNot);
  disk = makeDisk(140)!;
  told = [];
  database = await openEmbedded(
    join(disk.path, 'data'),
    new KnownTrouble((trouble) => told.push(trouble?.kind ?? null)),
  );
  await database.prisma.$executeRawUnsafe('CREATE TABLE filled (text text)');
});
afterEach(async () => {
  disk?.free();
  await database?.close();
  disk?.remove();
});

test('whatever is saved says that the disk is full, by each road, and works again when it is not', async () => {
  disk.fill();
  const { sql, prisma } = database;
  const roads = {
    statement: () => sql.query('large', large),
    transaction: () => sql.transaction(({ query }) => query('large', large)),
    prisma: () => prisma.$executeRawUnsafe(large),
    'transaction of Prisma': () => prisma.$transaction((tx) => tx.$executeRawUnsafe(large)),
  };
  for (const [road, ask] of Object.entries(roads))
    await expect(ask(), road).rejects.toMatchObject({ name: 'DatabaseTrouble', kind: 'full' });
  expect(database.trouble.now()).toMatchObject([{ kind: 'full' }]);
  expect(told).toEqual(['full']);
  expect(await sql.read('count', 'SELECT count(*) FROM filled')).toEqual([{ count: 0n }]);
  disk.free();
  await sql.query('large', large);
  expect(await sql.read('count', 'SELECT count(*) FROM filled')).toEqual([{ count: 2000n }]);
});

test('upkeep writes nothing without room, because PostgreSQL would end', async () => {
  const { sql } = database;
  // More log than is kept without a checkpoint.
  await sql.query('log', `SELECT pg_logical_emit_message(false, 'test', repeat('x', 35000000))`);
  disk.fill(8192);
  await database.keepUp();
  expect(await sql.read('alive', 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

test('after PostgreSQL ended, every statement fails at once', async () => {
  disk.fill();
  const { sql, prisma } = database;
  await expect(prisma.$executeRawUnsafe('CHECKPOINT')).rejects.toMatchObject({ kind: 'full' });
  expect(await database.ended).toMatchObject({ kind: 'full' });
  await expect(sql.read('alive', 'SELECT 1')).rejects.toMatchObject({ kind: 'full' });
  await expect(prisma.$queryRaw`SELECT 1`).rejects.toMatchObject({ kind: 'full' });
  await expect(sql.transaction(({ query }) => query('one', 'SELECT 1'))).rejects.toMatchObject({
    kind: 'full',
  });
});
