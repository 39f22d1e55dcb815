import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sql, SqlTx } from '../../src/database/sql.ts';
import { type Acme, startAcme } from '../support/acme.ts';

let acme: Acme;
beforeAll(async () => {
  acme = await startAcme();
});
afterAll(async () => {
  // No other file gets this database, because its statistics and plans are those of large tables.
  await acme.app.deps.db.$executeRaw`CREATE TABLE not_as_new ()`;
  await acme.close();
});

type Asked = { name: string; text: string; values: unknown[] };
type Plan = {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: Plan[];
};

const others = 3000;

/** What statements read through the door while `work` runs. */
async function askedDuring(sql: Sql, work: () => Promise<unknown>): Promise<Asked[]> {
  const asked: Asked[] = [];
  const real = { query: sql.query, transaction: sql.transaction };
  const noting = (query: SqlTx['query']): SqlTx['query'] =>
    function (name, text, values = []) {
      asked.push({ name, text, values });
      return query(name, text, values);
    };
  sql.query = noting(real.query);
  sql.transaction = (inside) => real.transaction((tx) => inside({ ...tx, query: noting(tx.query) }));
  try {
    await work();
    await acme.quiet();
  } finally {
    Object.assign(sql, real);
  }
  return asked;
}

const rowsRead = (plan: Plan): number =>
  (plan['Relation Name'] && / Scan$/.test(plan['Node Type'])
    ? (plan['Actual Rows'] +
        (plan['Rows Removed by Filter'] ?? 0) +
        (plan['Rows Removed by Index Recheck'] ?? 0)) *
      plan['Actual Loops']
    : 0) + (plan.Plans ?? []).reduce((sum, each) => sum + rowsRead(each), 0);

/** Of the pull requests that GitHub knows. */
const waitAgain = `UPDATE head_statuses SET is_waiting = true WHERE sha NOT LIKE 'head-%'`;

async function explain(sql: Sql, { name, text, values }: Asked): Promise<number> {
  let read = 0;
  const undo = new Error('nothing is kept');
  await sql
    .transaction(async (tx) => {
      await tx.query('wait', waitAgain);
      const [row] = await tx.query(`explain ${name}`, `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values);
      read = rowsRead((row!['QUERY PLAN'] as [{ Plan: Plan }])[0].Plan);
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
  return read;
}

/** A repository with a freeze and the heads of many pull requests that are not held. */
async function repositoryOfMany(name: string): Promise<string> {
  const { db } = acme.app.deps;
  const repository = await acme.repository(name, [{}]);
  await acme.freeze(repository);
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
      headSha: `head-${number}`,
      mergeSha: `merge-${number}`,
    })),
  });
  await db.headStatus.createMany({
    data: numbers.map((number) => ({
      ...seen,
      installationId: installationId!,
      sha: `head-${number}`,
      urgency: 0,
      state: 'success',
      description: 'No freeze holds it.',
      isWaiting: false,
      notBefore: new Date(0),
    })),
  });
  return repository;
}

/** What the statements of one event read that read many rows, by their names. */
async function readMuchOfEvent(repository: string): Promise<Record<string, number>> {
  const { sql } = acme.app.deps;
  const open = async () => acme.github.openPullRequest(repository, { author: 'ada' });
  const asked = await askedDuring(sql, open);
  const read = new Map<string, number>();
  for (const each of asked) read.set(each.name, await explain(sql, each));
  expect([...read.keys()]).toEqual(
    expect.arrayContaining(['before-some', 'write-desired', 'outbox-first-take', 'outbox-settle 1']),
  );
  return Object.fromEntries([...read].filter(([, rows]) => rows > 30));
}

// A new database has none, and the embedded one had none before the first round of upkeep.
test('an event of one pull request among thousands reads a few rows, without statistics', async () => {
  expect(await readMuchOfEvent(await repositoryOfMany('web'))).toEqual({});
});

test('and with statistics from the middle of a fan-out', async () => {
  const repository = await repositoryOfMany('busy');
  const { db } = acme.app.deps;
  await db.$transaction([
    db.$executeRaw`UPDATE head_statuses SET is_waiting = true WHERE sha LIKE 'head-1%'`,
    db.$executeRaw`ANALYZE head_statuses`,
    db.$executeRaw`UPDATE head_statuses SET is_waiting = false WHERE sha LIKE 'head-1%'`,
  ]);
  expect(await readMuchOfEvent(repository)).toEqual({});
});
