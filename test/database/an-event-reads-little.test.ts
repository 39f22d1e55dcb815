import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sql, SqlTx } from '../../src/database/sql.ts';
import { tasks } from '../../src/server/worker.ts';
import { type Acme, startAcme } from '../support/acme.ts';
import { closeIdleDatabases } from '../support/database.ts';
import { type Plan, rowsRead } from '../support/rows-read.ts';

let acme: Acme;
beforeAll(async () => {
  await closeIdleDatabases();
  acme = await startAcme();
  // Statistics come from the tests alone.
  for (const table of ['head_statuses', 'open_pull_requests'])
    await acme.app.deps.db.$executeRawUnsafe(`ALTER TABLE ${table} SET (autovacuum_enabled = false)`);
});
afterAll(() => closeIdleDatabases());
afterAll(() => acme.close());

type Asked = { name: string; text: string; values: unknown[] };
const others = 3000;

/** The statements that go through the door while `work` runs. */
async function askedDuring(sql: Sql, work: () => Promise<unknown>): Promise<Asked[]> {
  const asked: Asked[] = [];
  const real = { query: sql.query, read: sql.read, transaction: sql.transaction };
  const noting = (query: SqlTx['query']): SqlTx['query'] =>
    function (name, text, values = []) {
      asked.push({ name, text, values });
      return query(name, text, values);
    };
  sql.query = noting(real.query);
  sql.read = noting(real.read);
  sql.transaction = (inside) => real.transaction((tx) => inside({ ...tx, query: noting(tx.query) }));
  try {
    await work();
    await acme.quiet();
  } finally {
    Object.assign(sql, real);
  }
  return asked;
}

/** The rows that a statement reads while the head of the newest pull request waits. */
async function explain(sql: Sql, { name, text, values }: Asked): Promise<number> {
  let read = 0;
  const undo = new Error('nothing is kept');
  await sql
    .transaction(async (tx) => {
      await tx.query(
        'wait',
        `UPDATE head_statuses SET is_waiting = true
        WHERE repository_id = (SELECT max(id) FROM repositories) AND sha NOT LIKE 'head-%'`,
      );
      const [row] = await tx.query(`explain ${name}`, `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values);
      read = rowsRead((row!['QUERY PLAN'] as [{ Plan: Plan }])[0].Plan);
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
  return read;
}

/** In no order, as real ones: an index by a column in order costs the planner less. */
const shaOf = (kind: string, number: number) =>
  `${kind}-${createHash('sha1').update(String(number)).digest('hex')}`;

/** A repository with a freeze and the heads of many pull requests that are not held. */
async function repositoryOfMany(name: string): Promise<string> {
  const { db } = acme.app.deps;
  const repository = await acme.repository(name, [{}]);
  await acme.freeze(repository, { matching_conditions: ['check-success!=ci'] });
  const { id: repositoryId, installationId } = await db.repository.findFirstOrThrow({
    where: { nameKey: name },
  });
  const numbers = Array.from({ length: others }, (_, index) => 10_000 + index);
  const seen = { repositoryId, observation: 1n };
  await db.openPullRequest.createMany({
    data: numbers.map((number) => ({
      ...seen,
      number,
      nodeId: `PR_${number}`,
      headSha: shaOf('head', number),
      mergeSha: shaOf('merge', number),
    })),
  });
  await db.headStatus.createMany({
    data: numbers.map((number) => ({
      ...seen,
      installationId: installationId!,
      sha: shaOf('head', number),
      urgency: 0,
      state: 'success',
      description: 'No freeze holds it.',
      isWaiting: false,
      notBefore: new Date(0),
    })),
  });
  return repository;
}

/** The rows that the statements of two events read, by their names; only those that read many. */
async function readMuchOfEvents(repository: string): Promise<Record<string, number>> {
  const { sql } = acme.app.deps;
  const asked = await askedDuring(sql, async () => {
    const { number } = acme.github.openPullRequest(repository, { author: 'ada' });
    await acme.quiet();
    acme.github.reportCheck(repository, number, { name: 'ci', conclusion: 'success' });
  });
  const read = new Map<string, number>();
  for (const each of asked) {
    read.set(each.name, Math.max(read.get(each.name) ?? 0, await explain(sql, each)));
  }
  expect([...read.keys()]).toEqual(
    expect.arrayContaining([
      ...['number-at', 'before-some', 'write-desired'],
      ...['outbox-first-take', 'outbox-settle 1'],
    ]),
  );
  // It looks for each task, and the table has few jobs.
  const most = (name: string) => (name.startsWith('exchange jobs') ? 10 * tasks.length : 30);
  return Object.fromEntries([...read].filter(([name, rows]) => rows > most(name)));
}

// A new database has none, and the embedded one had none before the first round of upkeep.
test('events of one pull request among thousands read a few rows, without statistics', async () => {
  expect(await readMuchOfEvents(await repositoryOfMany('web'))).toEqual({});
});

// Between two rounds of upkeep, or until a tenth of the table has changed.
test('and with statistics that do not know its repository', async () => {
  for (const name of ['known', 'large']) await repositoryOfMany(name);
  await acme.app.deps.db.$executeRaw`ANALYZE`;
  expect(await readMuchOfEvents(await repositoryOfMany('unknown'))).toEqual({});
});

test('and with statistics from the middle of a fan-out', async () => {
  const repository = await repositoryOfMany('busy');
  const { db } = acme.app.deps;
  await db.$transaction([
    db.$executeRaw`UPDATE head_statuses SET is_waiting = true WHERE sha LIKE 'head-%'`,
    db.$executeRaw`ANALYZE head_statuses`,
    db.$executeRaw`UPDATE head_statuses SET is_waiting = false WHERE sha LIKE 'head-%'`,
  ]);
  expect(await readMuchOfEvents(repository)).toEqual({});
});
