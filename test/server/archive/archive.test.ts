// Everything of a database goes into a file, and out of it into another one of either kind.
import { existsSync } from 'node:fs';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { carriedTables, leftTables } from '../../../src/server/archive/contents.ts';
import { openApp } from '../../../src/github/app-credentials-store.ts';
import {
  another,
  embedded,
  exportTo,
  file,
  folder,
  linesOf,
  makeArchive,
  newKey,
  odd,
  oldKey,
  on,
  removeArchive,
  secrets,
  source,
  take,
} from './made-archive.ts';

beforeAll(makeArchive);
afterAll(removeArchive);

test('what comes back is what was there, in the other kind of database and back', async () => {
  const there = await another();
  await take(there);
  const again = await exportTo(there, 'again');
  const back = embedded();
  await take(back, { file: again, keys: { secretKey: newKey, secretKeyPrevious: null } });
  const last = await exportTo(back, 'last');

  const [first, second, third] = [await linesOf(file), await linesOf(again), await linesOf(last)];
  const rowsOf = (lines: string[]) =>
    lines.slice(1).filter((line) => line && !/^\{"(table|end)"|"private_key"/.test(line));
  expect(rowsOf(second)).toEqual(rowsOf(first));
  expect(third.slice(1)).toEqual(second.slice(1));
  expect(rowsOf(first)).toHaveLength((carriedTables.length - 1) * 3);
  expect(first.join()).toContain(odd[1]);
  expect(first.join()).toContain('0.30000000000000004');

  await on(back, async (connection) => {
    for (const table of Object.keys(leftTables).filter((name) => name !== 'finished_imports'))
      expect((await connection.query(`SELECT FROM ${table}`)).rows).toEqual([]);
    const insert = `INSERT INTO audit_events (received_at, account_id, type, outcome, trigger, metadata)
      VALUES (now(), 1, 'a', 'b', 'c', '{}') RETURNING id::int AS id`;
    expect((await connection.query(insert)).rows).toEqual([{ id: 42 }]);
  });
});

test('the App’s secrets are never in the clear, and open under the new key alone', async () => {
  const text = (await linesOf(file)).join();
  for (const secret of Object.values(secrets)) expect(text).not.toContain(secret);
  const there = embedded();
  await take(there);
  const { rows } = await on(there, (connection) =>
    connection.query('SELECT * FROM app_credentials ORDER BY id'),
  );
  expect(rows.map(({ id }) => id)).toEqual([1, 2]);
  for (const row of rows) {
    const app = {
      appId: BigInt(row['app_id'] as string),
      privateKey: row['private_key'] as string,
      webhookSecret: row['webhook_secret'] as string,
      clientSecret: row['client_secret'] as string,
    };
    const keys = { secretKey: newKey, secretKeyPrevious: null };
    expect(openApp(app, keys)).toEqual({ secrets, resealed: null });
    expect(() => openApp(app, { ...keys, secretKey: oldKey })).toThrow('SECRET_KEY is not the one');
  }
});

test('the App can be left behind', async () => {
  const there = embedded();
  await take(there, { withoutApp: true, keys: { secretKey: null, secretKeyPrevious: null } });
  await on(there, async (connection) => {
    expect((await connection.query('SELECT FROM app_credentials')).rows).toHaveLength(0);
    expect((await connection.query('SELECT FROM freezes')).rows).toHaveLength(3);
    expect((await connection.query('SELECT FROM unfinished_imports')).rows).toHaveLength(0);
  });
});

test('a finished import that is repeated changes nothing, also after Holdfast has changed rows', async () => {
  const there = await another();
  await take(there);
  await on(there, (connection) => connection.script(`UPDATE freezes SET reason = 'later'`));
  await expect(take(there)).resolves.toBe(false);
  const { rows } = await on(there, (connection) => connection.query('SELECT DISTINCT reason FROM freezes'));
  expect(rows).toEqual([{ reason: 'later' }]);
});

describe('an export', () => {
  test('is for its owner alone, and leaves nothing beside it', async () => {
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await readdir(folder)).filter((name) => name.includes('unfinished'))).toEqual([]);
  });

  test('begins again where one was interrupted, and replaces no file', async () => {
    await writeFile(join(folder, 'second.unfinished'), 'half', { mode: 0o644 });
    const path = await exportTo(source, 'second');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await expect(exportTo(source, 'second')).rejects.toThrow('exists. Name another file.');
  });

  test('is refused where there is no database, and makes none', async () => {
    const where = { dataDir: join(folder, 'empty') };
    await mkdir(where.dataDir);
    await expect(exportTo(where, 'none')).rejects.toThrow('There is no embedded database');
    expect(await readdir(where.dataDir)).toEqual([]);
  });

  test('is refused of a database that a newer version has changed', async () => {
    await on(source, (connection) =>
      connection.script(
        `INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name) VALUES ('x', 'x', now(), '29990101000000_later')`,
      ),
    );
    await expect(exportTo(source, 'newer')).rejects.toThrow(
      'The database was migrated by a newer Holdfast (29990101000000_later): export it with that version.',
    );
    expect(existsSync(join(folder, 'newer.unfinished'))).toBe(false);
    await on(source, (connection) => connection.script(`DELETE FROM _prisma_migrations WHERE id = 'x'`));
  });
});
