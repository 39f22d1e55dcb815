// A backup has everything that was there, and comes back by the program that its output names.
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { backUp } from '../../../src/server/archive/export-database.ts';
import { administer, databaseUrl, dropAll } from '../../support/postgres.ts';
import {
  another,
  exportTo,
  folder,
  linesOf,
  made,
  makeArchive,
  on,
  removeArchive,
  source,
  take,
  type Where,
} from './made-archive.ts';

const holdfast = fileURLToPath(new URL('../../../bin/holdfast.mjs', import.meta.url));
const server = inject('postgresUrl');
const prefix = `holdfast_backup_${randomBytes(6).toString('hex')}`;
const postgresBin = globSync('/usr/lib/postgresql/*/bin').toSorted().at(-1) ?? '';
const path = [postgresBin, process.env['PATH']].filter(Boolean).join(delimiter);
const hasPgDump = path.split(delimiter).some((each) => existsSync(join(each, 'pg_dump')));

beforeAll(makeArchive);
afterAll(removeArchive);

/** Where the backup goes, and nothing else is. */
let place: string;
beforeEach(async () => {
  place = await mkdtemp(join(folder, 'place-'));
});

const to = (where: Where, file = join(place, 'backup'), PATH = path) =>
  backUp(where, file, { PATH }, made, () => {});
const run = promisify(execFile);
/** Everything that a database has, as text. */
const contentOf = async (where: Where) => linesOf(await exportTo(where, randomBytes(6).toString('hex')));

describe('of the embedded database', () => {
  const dataDir = () => ('dataDir' in source ? source.dataDir : '');

  test('has the folder with its secret key, and nothing that is beside them', async () => {
    await writeFile(join(dataDir(), 'secret-key'), 'a key that is kept in the folder\n');
    await mkdir(join(dataDir(), 'postgres-old'), { recursive: true });
    const before = await contentOf(source);
    const file = join(place, 'a: backup');
    expect(await to(source, file)).toMatchObject({ restoreWith: 'tar' });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(place)).toEqual(['a: backup']);

    const restored = join(place, 'data');
    await mkdir(restored);
    await run('tar', ['-xzf', './a: backup', '-C', restored, '--force-local'], { cwd: place });
    expect((await readdir(restored)).toSorted()).toEqual(['postgres', 'secret-key']);
    expect(await readFile(join(restored, 'secret-key'), 'utf8')).toBe('a key that is kept in the folder\n');
    expect(await contentOf({ dataDir: restored })).toEqual(before);
  });

  test('is refused while the database is open', async () => {
    await on(source, async () => {
      await expect(to(source)).rejects.toThrow(/is open in process \d+\. Stop that process/);
    });
    expect(await readdir(place)).toEqual([]);
  });

  test('replaces no file, and makes neither folder nor database', async () => {
    await writeFile(join(place, 'backup'), 'mine');
    await expect(to(source)).rejects.toThrow('exists. Name another file.');
    expect(await readFile(join(place, 'backup'), 'utf8')).toBe('mine');
    await expect(to(source, join(place, 'none', 'backup'))).rejects.toThrow('cannot be written (ENOENT)');
    await expect(to({ dataDir: join(place, 'empty') }, join(place, 'new'))).rejects.toThrow(
      'There is no embedded database',
    );
    expect(await readdir(place)).toEqual(['backup']);
  });

  test('leaves nothing behind if tar fails or is not there', async () => {
    await expect(to(source, undefined, place)).rejects.toThrow('There is no tar on the PATH.');
    expect(await readdir(place)).toEqual([]);
    const bin = await binWith('tar', 'echo half; echo "no space left" >&2; exit 2');
    await expect(to(source, undefined, bin)).rejects.toThrow(
      'tar failed, and nothing is backed up: no space left',
    );
    expect(await readdir(place)).toEqual([]);
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('leaves nothing behind after %s', async (signal) => {
    const bin = await binWith('tar', 'echo half; exec /bin/sleep 600');
    const child = spawn(process.execPath, [holdfast, 'db', 'backup', join(place, 'backup')], {
      cwd: place,
      env: { PATH: bin, HOME: folder, DATA_DIR: dataDir() },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [said, ended] = [text(child.stderr), once(child, 'exit')];
    await vi.waitFor(async () =>
      expect((await stat(join(place, 'backup.unfinished'))).size).toBeGreaterThan(0),
    );
    child.kill(signal);
    expect(await ended).toEqual([1, null]);
    expect(await said).toBe('tar failed, and nothing is backed up: it was interrupted\n');
    expect(await readdir(place)).toEqual([]);
  });
});

/** A folder with one program. */
async function binWith(name: string, script: string): Promise<string> {
  const bin = await mkdtemp(join(folder, 'bin-'));
  await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(bin, name), 0o755);
  return bin;
}

describe.skipIf(!server)('of PostgreSQL', () => {
  let filled: Where;
  beforeAll(async () => {
    filled = await another();
    await take(filled);
  });
  afterEach(() => dropAll(server, prefix));

  /** A password that the server does not ask for. */
  function withPassword(where: Where): Where {
    const url = new URL('connectionString' in where ? where.connectionString : '');
    url.password = 'p%40ss w';
    return { connectionString: url.href };
  }

  test.skipIf(!hasPgDump)('is one of pg_dump, and comes back with pg_restore', async () => {
    const file = join(place, 'backup');
    expect(await to(filled)).toMatchObject({ restoreWith: 'pg_restore' });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(place)).toEqual(['backup']);
    await administer(server, `CREATE DATABASE ${prefix}`);
    const connectionString = databaseUrl(server, prefix);
    const words = ['--exit-on-error', '--single-transaction', '--no-owner', `--dbname=${connectionString}`];
    await run('pg_restore', [...words, file], { env: { PATH: path } });
    expect(await contentOf({ connectionString })).toEqual(await contentOf(filled));
  });

  test('tells pg_dump the password where nobody else sees it', async () => {
    const script = `if [ "$1" = --version ]; then echo 'pg_dump (PostgreSQL) 99.1 (Debian 99.1-1)'; exit; fi
      echo "$@"; echo "$PGPASSWORD"; echo "$PGUSER@$PGHOST:$PGPORT/$PGDATABASE"`;
    const where = withPassword(filled);
    await to(where, undefined, await binWith('pg_dump', script));
    const { host, username, pathname } = new URL('connectionString' in where ? where.connectionString : '');
    expect(await readFile(join(place, 'backup'), 'utf8')).toBe(
      `--format=custom --no-password\np@ss w\n${username}@${host}${pathname}\n`,
    );
  });

  test.each([
    [
      'pg_dump is older',
      'pg_dump',
      `echo 'pg_dump (PostgreSQL) 9.6'`,
      /^pg_dump is of PostgreSQL 9, and the/,
    ],
    ['there is no pg_dump', 'other', 'exit 0', /^There is no pg_dump on the PATH, so PostgreSQL was/],
  ])('is an export if %s', async (_, name, script, how) => {
    const backup = await to(filled, undefined, await binWith(name, script));
    expect(backup).toEqual({ how: expect.stringMatching(how), restoreWith: 'holdfast db import' });
    expect(await linesOf(join(place, 'backup'))).toEqual(await contentOf(filled));
  });

  test('leaves nothing behind if pg_dump fails', async () => {
    const bin = await binWith('pg_dump', `[ "$1" = --version ] && echo ' 99' || { echo bad >&2; exit 1; }`);
    await expect(to(filled, undefined, bin)).rejects.toThrow('pg_dump failed, and nothing is backed up: bad');
    expect(await readdir(place)).toEqual([]);
  });

  test('is refused of a database that is not one of Holdfast', async () => {
    await administer(server, `CREATE DATABASE ${prefix}`);
    await expect(to({ connectionString: databaseUrl(server, prefix) })).rejects.toThrow(
      'The database is not one of Holdfast',
    );
    expect(await readdir(place)).toEqual([]);
  });
});
