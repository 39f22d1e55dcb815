// An import goes on where it stopped, and only with the same archive.
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { carriedTables } from '../../../src/server/archive/contents.ts';
import { beginImport, insertNext } from '../../../src/server/archive/import-progress.ts';
import { readArchive } from '../../../src/server/archive/archive-file.ts';
import { migrate, readMigrations } from '../../../src/database/migrate.ts';
import {
  embedded,
  exportTo,
  file,
  folder,
  linesOf,
  made,
  makeArchive,
  on,
  removeArchive,
  take,
  type Where,
  withSums,
  written,
} from './made-archive.ts';

beforeAll(makeArchive);
afterAll(removeArchive);

describe('an import that was interrupted', () => {
  /** A database that has so many rows of the archive. */
  async function begun(count: number): Promise<Where> {
    const where = embedded();
    const { sha256 } = await readArchive(file, { take() {} });
    await on(where, async (connection) => {
      await migrate(connection);
      const migrations = new Set((await readMigrations()).map(({ name }) => name));
      let before = (await beginImport(connection, { file, sha256, migrations }))!;
      await readArchive(file, {
        async take(table, rows) {
          const some = rows.slice(0, count - before);
          if (some.length > 0) await insertNext(connection, table, some, before);
          before += some.length;
        },
      });
    });
    return where;
  }

  test('goes on after the last row that is there, also from a copy of the file', async () => {
    // One of the App, three of accounts, and one of three of installations.
    const where = await begun(5);
    const copy = join(folder, 'copy');
    await copyFile(file, copy);
    const rows = (carriedTables.length - 1) * 3 + 2;
    await expect(take(where, { file: copy })).resolves.toEqual({ rows, before: 5 });
    const [first, again] = [await linesOf(file), await linesOf(await exportTo(where, 'gone-on'))];
    const withoutSecrets = (lines: string[]) =>
      lines.slice(1).filter((line) => !/^\{"end"|"app_credentials"|"private_key"/.test(line));
    expect(withoutSecrets(again)).toEqual(withoutSecrets(first));
  });

  test('is refused for another file, and keeps what it has', async () => {
    const where = await begun(5);
    const other = await written('another', ([header, ...lines]) => {
      const changed = { ...(JSON.parse(header!) as object), madeAt: '2026-03-02T09:00:00.000Z' };
      return withSums([JSON.stringify(changed), ...lines]);
    });
    await expect(take(where, { file: other })).rejects.toThrow(
      `The database has a part of another export: the import of ${file} is not finished.`,
    );
    await expect(take(where)).resolves.toMatchObject({ before: 5 });
  });

  test('stops where another process has gone on', async () => {
    const where = await begun(5);
    await on(where, async (connection) => {
      const table = { name: 'used_sign_ins', columns: ['state_hash', 'expires_at'], rows: 1 };
      const row = JSON.stringify({ state_hash: 'x', expires_at: made.madeAt });
      await expect(insertNext(connection, table, [row], 4)).rejects.toThrow('Another import');
      const { rows } = await connection.query('SELECT FROM used_sign_ins');
      expect(rows).toHaveLength(0);
    });
  });
});
