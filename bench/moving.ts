// A database of years that moves: PostgreSQL to the embedded one and back, by the commands, with their memory.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { connectDatabase } from '../src/database/connect.ts';
import type { Bench } from './bench.ts';
import { memoryOf, track } from './child-process.ts';
import { alone, type Figure, upTo } from './figure.ts';
import type { Where } from './service.ts';
import { fill, type Size } from './store/fill.ts';

const bin = fileURLToPath(new URL('../bin/holdfast.mjs', import.meta.url));

/** Runs a command of `holdfast db` on a database. @returns seconds, and the MiB that it had at most. */
async function runOn(
  where: Where,
  folder: string,
  words: string[],
): Promise<{ seconds: number; peak: number }> {
  const began = performance.now();
  const child = track(
    spawn(process.execPath, [bin, 'db', ...words], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        ...('dataDir' in where ? { DATA_DIR: where.dataDir } : { DATABASE_URL: where.connectionString }),
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    }),
  );
  let peak = 0;
  const look = setInterval(() => {
    try {
      ({ peak } = memoryOf(child.pid!));
    } catch {
      // It has just ended.
    }
  }, 100);
  const [code] = await once(child, 'exit');
  clearInterval(look);
  if (code !== 0) throw new Error(`holdfast db ${words.join(' ')} ended with ${code}`);
  return { seconds: (performance.now() - began) / 1000, peak };
}

async function prepare(connectionString: string, size: Size): Promise<void> {
  await (await connectDatabase({ connectionString })).close();
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(`
    INSERT INTO accounts (id, login, login_key, type, seen_at) VALUES (1, 'acme', 'acme', 'Organization', now());
    INSERT INTO installations (id, account_id, permissions) VALUES (1, 1, '{}')`);
  await client.end();
  await fill(connectionString, size);
}

export const benchMoving: Bench = {
  name: 'moving',
  title: 'Moving a database of years',
  async run({ isQuick, postgres }) {
    if (!postgres) return { figures: [], notes: ['No PostgreSQL is installed: skipped.'] };
    const size: Size = {
      repositories: isQuick ? 100 : 10_000,
      freezesEach: 10,
      scopesEach: 100,
      headsEach: 10,
    };
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-moving-'));
    const source = { connectionString: await postgres.createDatabase('moving_from') };
    const target = { connectionString: await postgres.createDatabase('moving_to') };
    const embedded = { dataDir: join(folder, 'data') };
    const figures: Figure[] = [];
    try {
      await prepare(source.connectionString, size);
      const steps: [string, Where, string[]][] = [
        ['export PostgreSQL', source, ['export', 'first']],
        ['import into the embedded database', embedded, ['import', 'first']],
        ['export the embedded database', embedded, ['export', 'second']],
        ['import into PostgreSQL', target, ['import', 'second']],
      ];
      for (const [name, where, words] of steps) {
        const { seconds, peak } = await runOn(where, folder, words);
        figures.push(alone('moving', name, 's', seconds, upTo(600)));
        figures.push(alone('moving', `${name}: memory`, 'MiB', peak, upTo(400)));
      }
      figures.push(alone('moving', 'the file', 'MiB', statSync(join(folder, 'first')).size / 2 ** 20));
    } finally {
      rmSync(folder, { recursive: true });
    }
    const count = (each: number) => (size.repositories * each).toLocaleString('en-US');
    const notes = [
      `${count(1)} repositories, ${count(size.freezesEach)} freezes, ${count(size.scopesEach)} pull requests with scopes, ${count(size.headsEach)} open pull requests with their statuses. Each command is a process; memory is the most that was resident.`,
    ];
    return { figures, notes };
  },
};
