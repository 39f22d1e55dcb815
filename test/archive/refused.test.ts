// What an import refuses, and that it changes nothing then.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectDatabase } from '../../src/database/connect.ts';
import { migrate } from '../../src/database/migrate.ts';
import {
  another,
  embedded,
  file,
  folder,
  makeArchive,
  newKey,
  oldKey,
  on,
  removeArchive,
  take,
  type Where,
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

  test('a database that is not empty, such as one that is filled already', async () => {
    const there = await another();
    await take(there);
    await expect(take(there)).rejects.toThrow('The database is not empty: there are rows in app_credentials');
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
    await expect(connectDatabase(there)).rejects.toThrow(
      `The import of ${file} into this database is not finished.`,
    );
    // Not even when it is asked again.
    await expect(take(there)).rejects.toThrow('The rows of freezes are not the same');
  });
});
