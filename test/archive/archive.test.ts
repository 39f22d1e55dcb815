// Everything of a database goes into a file, and out of it into another one of either kind.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { exportDatabase } from '../../src/archive/export-database.ts';
import { lastLine, sumOfLines } from '../../src/archive/header.ts';
import { type Import, importDatabase } from '../../src/archive/import-database.ts';
import { carriedTables, carriedTasks, leftTables } from '../../src/archive/contents.ts';
import type { Config } from '../../src/config.ts';
import { beginImport, insertNext } from '../../src/archive/import-progress.ts';
import { readArchive } from '../../src/archive/read-archive.ts';
import { systemClock } from '../../src/clock.ts';
import { connectDatabase, openConnection } from '../../src/database/connect.ts';
import type { Connection } from '../../src/database/database.ts';
import { migrate } from '../../src/database/migrate.ts';
import { waitingJobs } from '../../src/queue/job-table.ts';
import { jobs, taskNames } from '../../src/queue/jobs.ts';
import { type JobQueue, startJobQueue } from '../../src/queue/queue.ts';
import { openApp } from '../../src/setup/app-credentials-store.ts';
import { seal } from '../../src/setup/sealed-text.ts';
import { fillTables, readColumns } from '../support/fill-tables.ts';
import { administer, databaseUrl, dropAll } from '../support/postgres.ts';

type Where = Config['database'];

const server = inject('postgresUrl');
const prefix = `holdfast_archive_${randomBytes(6).toString('hex')}`;
const oldKey = 'the secret key of the database that is exported';
const newKey = 'the secret key of the database that is filled';
const secrets = {
  privateKey: 'a private key',
  webhookSecret: 'a webhook secret',
  clientSecret: 'a client secret',
};
const made = { madeAt: '2026-03-01T09:00:00.000Z', version: '0.1.0' };

let folder: string;
let source: Where;
let file: string;
let count = 0;

const embedded = (): Where => ({ dataDir: join(folder, `data-${++count}`) });
async function postgres(): Promise<Where> {
  const name = `${prefix}_${++count}`;
  await administer(server, `CREATE DATABASE ${name}`);
  return { connectionString: databaseUrl(server, name) };
}
/** The other kind, where there is a PostgreSQL. */
const another = async (): Promise<Where> => (server ? postgres() : embedded());

async function on<Result>(where: Where, work: (connection: Connection) => Promise<Result>): Promise<Result> {
  const connection = await openConnection(where);
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}

const take = (where: Where, more: Partial<Import> = {}) =>
  importDatabase(
    where,
    { file, keys: { secretKey: newKey, secretKeyPrevious: oldKey }, withoutApp: false, ...more },
    () => {},
  );
const exportTo = async (where: Where, name: string): Promise<string> => {
  const path = join(folder, name);
  await exportDatabase(where, path, made, () => {});
  return path;
};
const linesOf = async (path: string) =>
  gunzipSync(await readFile(path))
    .toString()
    .split('\n');

/** Texts and numbers that are easily bent. */
const odd = [
  `U+2028 \u2028, quotes " ' \\\\, a tab \t, a line\nend, \u0001, é, ﷽, 🧊`,
  '9223372036854776000',
];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-archive-'));
  source = embedded();
  await on(source, async (connection) => {
    await migrate(connection);
    const columns = await readColumns(connection);
    for (const number of [1, 2, 3]) await fillTables(connection, number, columns);
    await connection.query('UPDATE freezes SET reason = $1, deleted_by = NULL, holds = $2', [
      odd[0],
      [odd[0], ''],
    ]);
    await connection.query('UPDATE pull_request_scopes SET number = $1::numeric WHERE repository_id = 2', [
      odd[1],
    ]);
    await connection.query(`UPDATE sessions SET id_hash = 'a' WHERE id_hash = '1'`);
    await connection.query(`UPDATE sessions SET id_hash = 'B' WHERE id_hash = '2'`);
    await connection.query(
      `UPDATE installations SET pace_per_minute = 0.1::float8 + 0.2::float8, deleted_at = 'infinity' WHERE id = 3`,
    );
    await connection.script('DELETE FROM unfinished_imports; DELETE FROM app_credentials WHERE id > 1');
    const sealed = Object.entries(secrets).map(([field, text]) => seal(oldKey, `${field} of App 1`, text));
    await connection.query(
      'UPDATE app_credentials SET private_key = $1, webhook_secret = $2, client_secret = $3',
      sealed,
    );
    await connection.script('UPDATE repositories SET reconcile_requested_at = NULL');
    // Numbers that were given out and whose rows are gone.
    await connection.script(`SELECT setval('audit_events_id_seq', 41)`);
  });
  file = await exportTo(source, 'archive');
});
afterAll(async () => {
  if (server) await dropAll(server, prefix);
  await rm(folder, { recursive: true });
});

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
    for (const table of Object.keys(leftTables))
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
  const { rows } = await on(there, (connection) => connection.query('SELECT * FROM app_credentials'));
  const app = {
    appId: 1n,
    privateKey: rows[0]!['private_key'] as string,
    webhookSecret: rows[0]!['webhook_secret'] as string,
    clientSecret: rows[0]!['client_secret'] as string,
  };
  const keys = { secretKey: newKey, secretKeyPrevious: null };
  expect(openApp(app, keys)).toEqual({ secrets, resealed: null });
  expect(() => openApp(app, { ...keys, secretKey: oldKey })).toThrow('SECRET_KEY is not the one');
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

describe('jobs that wait', () => {
  let there: Where;
  const keys = { secretKey: newKey, secretKeyPrevious: null };
  const inHours = (hours: number) => new Date(systemClock.now() + hours * 3_600_000);
  const command = jobs.answerComment(2n, {
    ...{ commentId: '7', number: 5, person: { id: 1, login: 'ada' }, at: made.madeAt },
    ...{ text: `/holdfast freeze ${odd[0]!.slice(0, 30)}`, installationId: null },
  });
  const later = jobs.reconcileClosedHeads(3n, inHours(2));

  async function withQueue<Result>(where: Where, work: (queue: JobQueue) => Promise<Result>) {
    const database = await connectDatabase(where);
    const queue = await startJobQueue(database, systemClock, pino({ level: 'silent' }));
    try {
      return await work(queue);
    } finally {
      await queue.stop();
      await database.close();
    }
  }
  const waitingIn = (where: Where) =>
    on(where, async (connection) => (await connection.query(waitingJobs, [taskNames])).rows);

  beforeAll(async () => {
    const where = embedded();
    await take(where);
    await withQueue(where, async (queue) => {
      await queue.send([command]);
      await queue.exchange([], [{ task: 'answer-comment', jobs: 1 }]);
      await queue.send([
        jobs.reconcileMergeQueue(2n, 'main'),
        jobs.reconcileRepository(3n, inHours(1)),
        jobs.sweep(),
        later,
        { ...jobs.readDelivery('9', 'guid'), attempt: 3, at: inHours(0) },
        jobs.findBypass(3n, 5),
        jobs.endSessions(1),
        jobs.correctStatus(2n, 'sha', { id: '1', state: 'success', description: '', by: 'eve', byId: 2 }),
      ]);
    });
    there = await another();
    await take(there, { file: await exportTo(where, 'with-jobs'), keys });
  });

  test('go along where nothing sends them again, also one that a process has taken', async () => {
    const waiting = await waitingIn(there);
    expect(waiting.map(({ name }) => name as string).toSorted()).toEqual(carriedTasks.toSorted());
    const due = new Map(waiting.map(({ name, due }) => [name, due as Date]));
    expect(due.get('reconcile-closed-heads')).toEqual(later.at);
    const rooms = carriedTasks.map((task) => ({ task, jobs: 9 }));
    const taken = await withQueue(there, (queue) => queue.exchange([], rooms));
    const found = new Map(taken.map(({ job }) => [job.task, job]));
    expect(found.get('answer-comment')).toEqual({ ...command, attempt: 0 });
    expect(found.get('read-delivery')).toEqual({ ...jobs.readDelivery('9', 'guid'), attempt: 3 });
    expect(found.size).toBe(carriedTasks.length - 1);
  });

  test('are replaced where they stay behind: their repositories are asked for again', async () => {
    const { rows } = await on(there, (connection) =>
      connection.query(
        `SELECT id::int AS id, reconcile_requested_at AS at FROM repositories
         WHERE reconcile_requested_at IS NOT NULL ORDER BY id`,
      ),
    );
    const at = new Date(made.madeAt);
    expect(rows).toEqual([
      { id: 2, at },
      { id: 3, at },
    ]);
  });

  test('are none in a file of the first version, which had none', async () => {
    const path = await written('without-jobs', ([header, ...lines]) => {
      const { jobs: _, ...rest } = JSON.parse(header!) as { jobs: unknown };
      return withSums([JSON.stringify(rest), ...lines]);
    });
    const target = embedded();
    await take(target, { file: path });
    expect(await waitingIn(target)).toEqual([]);
  });
});

/** Lines of a file with another end, so that they are whole. */
const withSums = (lines: string[]): string[] => {
  const sum = sumOfLines();
  sum.add(lines.slice(0, -1));
  return [...lines.slice(0, -1), lastLine(sum.sha256())];
};

describe('an import that was interrupted', () => {
  /** A database that has so many rows of the archive. */
  async function begun(count: number): Promise<Where> {
    const where = embedded();
    const { sha256 } = await readArchive(file, { take() {} });
    await on(where, async (connection) => {
      await migrate(connection);
      let before = await beginImport(connection, file, sha256);
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
    const rows = (carriedTables.length - 1) * 3 + 1;
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

/** A file with other lines than the export. */
async function written(name: string, change: (lines: string[]) => string[]): Promise<string> {
  const path = join(folder, name);
  const lines = change((await linesOf(file)).slice(0, -1));
  await writeFile(path, gzipSync(`${lines.join('\n')}\n`));
  return path;
}

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
    await expect(exportTo(source, 'newer')).rejects.toThrow('A newer Holdfast has changed the database');
    expect(existsSync(join(folder, 'newer.unfinished'))).toBe(false);
    await on(source, (connection) => connection.script(`DELETE FROM _prisma_migrations WHERE id = 'x'`));
  });
});
