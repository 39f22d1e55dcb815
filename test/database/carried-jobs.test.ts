// Jobs that wait in the tables of pg-boss, as 1.0.0 left them, and those that a process of 1.0.0 still sends.
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate, readMigrations } from '../../src/database/migrate.ts';
import { aboutRepositories, formerJobs, waitingJobs } from '../../src/database/queue/queue.ts';

/** What Holdfast used of it. */
const pgboss = `
  CREATE SCHEMA pgboss;
  CREATE TYPE pgboss.job_state AS ENUM ('created', 'retry', 'active', 'completed', 'cancelled', 'failed');
  CREATE TABLE pgboss.job (
    id uuid DEFAULT gen_random_uuid() NOT NULL, name text NOT NULL, data jsonb,
    state pgboss.job_state DEFAULT 'created' NOT NULL, singleton_key text, policy text,
    start_after timestamptz DEFAULT now() NOT NULL, created_on timestamptz DEFAULT now() NOT NULL,
    heartbeat_on timestamptz, PRIMARY KEY (name, id)
  ) PARTITION BY LIST (name);
  CREATE TABLE pgboss.job_common PARTITION OF pgboss.job DEFAULT;
  CREATE UNIQUE INDEX ON pgboss.job_common (name, COALESCE(singleton_key, ''))
    WHERE state = 'created' AND policy = 'short';`;

const due = new Date('2027-01-01T00:00:00Z');
const data = { about: '7', attempt: 2, data: { installationId: '7' } };

let folder: string;
let pglite: PGlite;
const send = (name: string, key: string, stored: object, state = 'created', at = due) =>
  pglite.query(
    `INSERT INTO pgboss.job_common AS waiting (name, singleton_key, data, start_after, policy, state)
     VALUES ($1, $2, $3, $4, 'short', $5)
     ON CONFLICT (name, COALESCE(singleton_key, '')) WHERE state = 'created' AND policy = 'short'
     DO UPDATE SET heartbeat_on = waiting.heartbeat_on`,
    [name, key, JSON.stringify(stored), at, state],
  );
const waiting = async () =>
  (await pglite.query(`SELECT task, key, about, data, attempt, due_at, is_taken FROM jobs ORDER BY id`)).rows;
const drain = { task: 'drain-outbox', key: '7', about: '7', data: data.data, attempt: 2, due_at: due };
const bypass = { about: '3#5', attempt: 0, data: { repositoryId: '3', number: 5 } };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-carried-'));
  pglite = await PGlite.create();
});
afterAll(async () => {
  await pglite.close();
  await rm(folder, { recursive: true });
});

test('what waits goes along, and what an older process sends later is there too', async () => {
  const connection = {
    script: (sql: string) => pglite.exec(sql),
    query: (sql: string, values?: unknown[]) => pglite.query<Record<string, unknown>>(sql, values),
  };
  const apply = () => migrate(connection, pathToFileURL(`${folder}/`));
  const all = (await readMigrations()).map(({ name }) => name);
  const carries = all.findIndex((name) => name.endsWith('_jobs'));
  const add = (name: string) => cp(`prisma/migrations/${name}`, join(folder, name), { recursive: true });
  for (const name of all.slice(0, carries)) await add(name);
  await apply();
  await pglite.exec(pgboss);
  await send('drain-outbox', '7', data, 'active');
  await send('drain-outbox', '7', data);
  await send('find-bypass', '3#5', bypass, 'created', new Date('2026-03-01T09:00:00Z'));
  await send('sweep', 'all', { about: 'all', attempt: 0, data: {} }, 'completed');
  const tasks = [['drain-outbox', 'find-bypass']];
  const former = (await pglite.query(waitingJobs(formerJobs), tasks)).rows;
  expect(former).toHaveLength(3);
  const asked = await pglite.query(aboutRepositories(formerJobs));
  expect(asked.rows).toEqual([{ id: '3' }]);

  await add(all[carries]!);
  expect(await apply()).toHaveLength(1);
  const carried = await waiting();
  // One that ran is to run again: its process may not end it.
  expect(carried).toEqual([
    { ...drain, is_taken: false },
    expect.objectContaining({ task: 'find-bypass', key: '3#5', about: '3#5', attempt: 0, data: bypass.data }),
  ]);
  expect((await pglite.query(waitingJobs(), tasks)).rows).toHaveLength(2);

  // The new version takes and finishes one, and the older process sends it again: there it still waits.
  await pglite.exec('DELETE FROM jobs');
  await send('drain-outbox', '7', data);
  await send('drain-outbox', '8', data);
  await send('drain-outbox', '8', data);
  await pglite.exec(`UPDATE pgboss.job SET state = 'active' WHERE name = 'find-bypass'`);
  expect(await waiting()).toEqual([
    { ...drain, is_taken: false },
    { ...drain, key: '8', is_taken: false },
  ]);
});
