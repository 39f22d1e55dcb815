// What an import refuses, and that it changes nothing then.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { connectDatabase } from '../../../src/database/connect.ts';
import { migrate } from '../../../src/database/migrate.ts';
import {
  another,
  embedded,
  exportTo,
  file,
  folder,
  makeArchive,
  newKey,
  oldKey,
  on,
  removeArchive,
  take,
  type Where,
  withSums,
  written,
} from './made-archive.ts';

beforeAll(makeArchive);
afterAll(removeArchive);

describe('refused, and nothing is changed', () => {
  let target: Where;
  beforeAll(() => {
    target = embedded();
  });
  const withHeader = (more: object) => (lines: string[]) => [
    JSON.stringify({ ...JSON.parse(lines[0]!), ...more }),
    ...lines.slice(1),
  ];
  const cases: [string, () => Promise<string>, string][] = [
    ['a file that is not there', async () => join(folder, 'nowhere'), 'There is no file'],
    [
      'a file that is cut',
      async () => {
        const path = join(folder, 'cut');
        await writeFile(path, (await readFile(file)).subarray(0, -200));
        return path;
      },
      'is damaged: unexpected end of file',
    ],
    [
      'lines that are missing at the end',
      () => written('short', (lines) => lines.slice(0, -1)),
      'it ends too early',
    ],
    [
      'a row that was changed',
      () => written('changed', (lines) => lines.map((line) => line.replace('"login":"2"', '"login":"3"'))),
      'the rows of accounts are not those that were written',
    ],
    [
      'a header that was changed',
      () => written('header', withHeader({ madeAt: '2027-01-01T00:00:00.000Z' })),
      'its content is not what was written',
    ],
    ['more behind its end', () => written('more', (lines) => [...lines, '{}']), 'something follows its end'],
    ['another file', () => written('other', () => ['{"name":"holdfast"}']), 'is not an export of Holdfast'],
    [
      'a file that is not compressed',
      async () => {
        const path = join(folder, 'plain');
        await writeFile(path, 'plain');
        return path;
      },
      'is damaged: incorrect header check',
    ],
    ['a newer format', () => written('format', withHeader({ format: 2 })), 'A newer Holdfast wrote'],
    [
      'a newer table',
      () =>
        written('table', ([header, ...lines]) => {
          const { tables, ...rest } = JSON.parse(header!) as { tables: object[] };
          const later = { name: 'later', columns: ['id'], rows: 0 };
          return [JSON.stringify({ ...rest, tables: [...tables, later] }), ...lines];
        }),
      'this version lacks later',
    ],
    [
      'a newer migration',
      () => written('migration', withHeader({ migrations: ['29990101000000_later'] })),
      'this version lacks 29990101000000_later',
    ],
  ];
  test.each(cases)('%s', async (_what, makeFile, message) => {
    await expect(take(target, { file: await makeFile() })).rejects.toThrow(message);
    expect(existsSync((target as { dataDir: string }).dataDir)).toBe(false);
  });

  test.each([
    ['no SECRET_KEY', { secretKey: null, secretKeyPrevious: oldKey }, 'SECRET_KEY is not set'],
    ['another SECRET_KEY', { secretKey: newKey, secretKeyPrevious: null }, 'Set SECRET_KEY to the key'],
  ])('%s', async (_what, keys, message) => {
    await expect(take(target, { keys })).rejects.toThrow(message);
    expect(existsSync((target as { dataDir: string }).dataDir)).toBe(false);
  });

  test('another file, into a database that is filled already', async () => {
    const there = await another();
    await take(there);
    const other = await written('another', ([header, ...lines]) =>
      withSums([JSON.stringify({ ...JSON.parse(header!), madeAt: '2026-03-02T09:00:00.000Z' }), ...lines]),
    );
    await expect(take(there, { file: other })).rejects.toThrow(
      'The database is not empty: there are rows in app_credentials',
    );
    const { rows } = await on(there, (connection) => connection.query('SELECT FROM freezes'));
    expect(rows).toHaveLength(3);
  });

  test('rows that the database does not keep as they are', async () => {
    const there = embedded();
    await on(there, async (connection) => {
      await migrate(connection);
      await connection.script(`
        CREATE FUNCTION bend() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.reason = 'bent'; RETURN NEW; END $$;
        CREATE TRIGGER bend BEFORE INSERT ON freezes FOR EACH ROW EXECUTE FUNCTION bend();
        ALTER TABLE freezes ENABLE ALWAYS TRIGGER bend`);
    });
    await expect(take(there)).rejects.toThrow('The rows of freezes are not the same');
    const { rows } = await on(there, (connection) => connection.query('SELECT FROM accounts'));
    expect(rows).toEqual([]);
    await on(there, (connection) => connection.script('DROP FUNCTION bend CASCADE'));
    await expect(take(there)).resolves.toBe(true);
  });
});

describe('a database that does not fit is told in the same words by a start, an import and an export', () => {
  const exportUnfit = (where: Where) => exportTo(where, 'unfit');
  const last = '(SELECT max(migration_name) FROM _prisma_migrations)';
  test.each([
    [
      'a migration that failed',
      `UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = ${last}`,
      /^The migration \w+ did not finish: if nothing of it is in the database, run prisma migrate resolve --rolled-back \w+, or else restore a copy from before it\.$/,
    ],
    [
      'another text of a migration',
      `UPDATE _prisma_migrations SET checksum = 'other' WHERE migration_name = ${last}`,
      /^The migration \w+ changed after it was applied: restore its file\.$/,
    ],
    [
      'a newer migration',
      `UPDATE _prisma_migrations SET migration_name = '29990101000000_later_breaking' WHERE migration_name = ${last}`,
      /^The database was migrated by a newer Holdfast \(29990101000000_later_breaking\): (run|export it with) that version\.$/,
    ],
    [
      'a part of an archive, by an older version',
      `INSERT INTO unfinished_imports (file, sha256) VALUES ('old.export', 'x')`,
      /^The import of old\.export into this database is not finished\. .* create the database again/,
    ],
  ])('%s', async (_what, change, sentence) => {
    const there = await another();
    await on(there, async (connection) => {
      await migrate(connection);
      await connection.script(change);
    });
    for (const work of [connectDatabase, take, exportUnfit])
      await expect(work(there)).rejects.toThrow(sentence);
  });

  test.skipIf(!inject('postgresUrl'))('a user without rights in it', async () => {
    const there = (await another()) as { connectionString: string };
    const reader = `holdfast_reader_${randomBytes(6).toString('hex')}`;
    await on(there, async (connection) => {
      await migrate(connection);
      await connection.script(`CREATE ROLE ${reader} LOGIN PASSWORD 'read'`);
    });
    const url = new URL(there.connectionString);
    [url.username, url.password] = [reader, 'read'];
    const asReader = { connectionString: url.href };
    for (const work of [connectDatabase, take, exportUnfit])
      await expect(work(asReader)).rejects.toThrow(
        `The user ${reader} of DATABASE_URL may not create or use tables: make it the owner of the database and of its tables.`,
      );
    await on(there, (connection) => connection.script(`DROP ROLE ${reader}`));
  });
});
